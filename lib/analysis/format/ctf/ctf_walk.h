/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: the walk over the fields of an event.
 *
 * One walk over the field classes, in one order: with a field it packs the data, without
 * one it writes the description of that data; so the two cannot disagree.  Structures
 * are flattened, arrays of them too if their length is fixed; fields that a description cannot have
 * (variants, sequences of structures) become text.
 */
#ifndef PT_FORMAT_CTF_WALK_H
#define PT_FORMAT_CTF_WALK_H

#include "analysis/format/ctf/ctf_import.h"

#define CTF_NAME_MAX 63u /* of a field in a description */

struct ctf_walk {
    const struct ctf_map *map;
    enum ctf_detail detail;
    /* describing */
    char *text;
    size_t text_used;
    unsigned fields;
    bool full;           /* does not fit */
    unsigned count_bits; /* of the length that the next field has */
    char names[POSIXTRACE_FIELDS_MAX][CTF_NAME_MAX + 1];
    /* packing */
    uint8_t *data;
    size_t used;
    bool over;
};

/* The name of a member or element of the field prefix; to has CTF_NAME_MAX + 1 bytes. */
void pt_ctf_join(char *to, const char *prefix, const char *name);
/* Writes one field of the description; element: the class that may have names of values, or
 * NULL. */
void pt_ctf_put_field(struct ctf_walk *w, const char *type, const char *extent, const char *name,
                      const bt_field_class *element);
/* The same of a scalar, or an array of such; count 0: it is before the elements. */
void pt_ctf_describe(struct ctf_walk *w, const bt_field_class *element, bool array, uint64_t count,
                     const char *name);

void pt_ctf_pack_elements(struct ctf_walk *w, const bt_field_class *element, const bt_field *array);
/* field is NULL where the walk describes. */
void pt_ctf_walk(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                 const char *name);
/* Walks a whole scope of an event, a structure, or NULL; context: without process, thread and
 * processor. */
void pt_ctf_walk_scope(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                       const char *name, bool context);

/* Is member i of a structure only the length of the next one?  Is member i of the common context
 * process, thread or processor? */
bool pt_ctf_is_length_of_next(const bt_field_class *fc, uint64_t i);
bool pt_ctf_is_identity(const struct ctf_map *map, uint64_t i);

static inline bool ctf_is(const bt_field_class *fc, bt_field_class_type type)
{
    return bt_field_class_type_is(bt_field_class_get_type(fc), type);
}

static inline bool ctf_is_scalar(const bt_field_class *fc)
{
    return ctf_is(fc, BT_FIELD_CLASS_TYPE_INTEGER) || ctf_is(fc, BT_FIELD_CLASS_TYPE_REAL) ||
           ctf_is(fc, BT_FIELD_CLASS_TYPE_BOOL) || ctf_is(fc, BT_FIELD_CLASS_TYPE_BIT_ARRAY);
}

/* The bits of an element in a description: 8, 16, 32 or 64. */
static inline unsigned ctf_bits(const bt_field_class *fc)
{
    uint64_t range = 64;

    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_BOOL))
        return 8;
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
        return 32;
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_INTEGER))
        range = bt_field_class_integer_get_field_value_range(fc);
    return range <= 8 ? 8 : range <= 16 ? 16 : range <= 32 ? 32 : 64;
}

static inline bool ctf_is_hex(const bt_field_class *fc)
{
    return ctf_is(fc, BT_FIELD_CLASS_TYPE_BIT_ARRAY) ||
           (ctf_is(fc, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) &&
            bt_field_class_integer_get_preferred_display_base(fc) ==
                BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
}

#endif
