/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See ctf_walk.h. */
#include <string.h>
#include "analysis/format/ctf/ctf_walk.h"

#define UNROLL_MAX 64u
#define ARRAY_MAX  65535u

/* ---- packing ---- */

static void put_bytes(struct ctf_walk *w, const void *from, size_t bytes)
{
    if (bytes > CTF_DATA_MAX - w->used) {
        bytes = CTF_DATA_MAX - w->used;
        w->over = true;
    }
    if (bytes)
        memcpy(w->data + w->used, from, bytes);
    w->used += bytes;
}

/* In the byte order of this machine, like the description. */
static void put_integer(struct ctf_walk *w, uint64_t value, unsigned bits)
{
    uint8_t to[8];

    for (unsigned i = 0; i < bits / 8; i++)
        to[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? bits / 8 - 1 - i : i] = (uint8_t)(value >>
                                                                                      8 * i);
    put_bytes(w, to, bits / 8);
}

static void pack(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field)
{
    if (ctf_is(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
        put_integer(w, (uint64_t)bt_field_integer_signed_get_value(field), ctf_bits(fc));
    } else if (ctf_is(fc, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
        put_integer(w, bt_field_integer_unsigned_get_value(field), ctf_bits(fc));
    } else if (ctf_is(fc, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) {
        float value = bt_field_real_single_precision_get_value(field);

        put_bytes(w, &value, sizeof value);
    } else if (ctf_is(fc, BT_FIELD_CLASS_TYPE_REAL)) {
        double value = bt_field_real_double_precision_get_value(field);

        put_bytes(w, &value, sizeof value);
    } else if (ctf_is(fc, BT_FIELD_CLASS_TYPE_BOOL)) {
        put_integer(w, bt_field_bool_get_value(field) ? 1 : 0, 8);
    } else {
        put_integer(w, bt_field_bit_array_get_value_as_integer(field), 64);
    }
}

void pt_ctf_pack_elements(struct ctf_walk *w, const bt_field_class *element, const bt_field *array)
{
    uint64_t count = bt_field_array_get_length(array);

    for (uint64_t i = 0; i < count && !w->over; i++)
        pack(w, element, bt_field_array_borrow_element_field_by_index_const(array, i));
}

/* ---- the walk ---- */

static void leaf_string(struct ctf_walk *w, const bt_field *field, const char *name)
{
    const char *text = field ? ctf_string(field) : "";
    char extent[16] = "";

    if (!field) {
        if (w->count_bits)
            snprintf(extent, sizeof extent, ":u%u", w->count_bits);
        pt_ctf_put_field(w, "str", extent, name, NULL);
        return;
    }
    put_integer(w, strlen(text), w->count_bits);
    put_bytes(w, text, strlen(text) + (w->count_bits == 0));
}

static void leaf_text(struct ctf_walk *w, const bt_field *field, const char *name)
{
    size_t room = CTF_DATA_MAX - w->used, length;

    if (!field) {
        pt_ctf_put_field(w, "str", "", name, NULL);
    } else if (!room) {
        w->over = true;
    } else {
        length = pt_ctf_text(field, (char *)w->data + w->used, room);
        w->over = w->over || length >= room;
        w->used += length < room ? length + 1 : room;
    }
}

/* Arrays of scalars.  A length that a description cannot have is stored as data, as for
 * sequences. */
static void leaf_array(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                       const char *name)
{
    const bt_field_class *element = bt_field_class_array_borrow_element_field_class_const(fc);
    uint64_t count = ctf_is(fc, BT_FIELD_CLASS_TYPE_STATIC_ARRAY)
                         ? bt_field_class_array_static_get_length(fc)
                         : 0;

    count = count > ARRAY_MAX ? 0 : count;
    w->count_bits = w->count_bits ? w->count_bits : 32;
    if (!field) {
        pt_ctf_describe(w, element, true, count, name);
        return;
    }
    if (!count)
        put_integer(w, bt_field_array_get_length(field), w->count_bits);
    pt_ctf_pack_elements(w, element, field);
}

/* LTTng's way to name the length of NAME, and ours, is _NAME_length: the count is in
 * the data already. */
bool pt_ctf_is_length_of_next(const bt_field_class *fc, uint64_t i)
{
    const bt_field_class_structure_member
        *m = bt_field_class_structure_borrow_member_by_index_const(fc, i),
        *next;
    const char *name = bt_field_class_structure_member_get_name(m), *of;
    const bt_field_class *is_of;
    size_t length;

    if (*name != '_' || i + 1 >= bt_field_class_structure_get_member_count(fc) ||
        !ctf_is(bt_field_class_structure_member_borrow_field_class_const(m),
                BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        return false;
    next = bt_field_class_structure_borrow_member_by_index_const(fc, i + 1);
    is_of = bt_field_class_structure_member_borrow_field_class_const(next);
    of = bt_field_class_structure_member_get_name(next);
    length = strlen(of);
    if ((!ctf_is(is_of, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
         !ctf_is(is_of, BT_FIELD_CLASS_TYPE_STRING)) ||
        strncmp(name + 1, of, length) != 0 || strncmp(name + 1 + length, "_length", 7) != 0)
        return false;
    name += length + 8;
    return name[strspn(name, "_")] == '\0';
}

bool pt_ctf_is_identity(const struct ctf_map *map, uint64_t i)
{
    for (unsigned k = 0; k < CTF_IDENTITIES; k++)
        if (map->place[k].known && !map->place[k].in_packet && map->place[k].index == i)
            return true;
    return false;
}

static void walk_members(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                         const char *prefix, bool context)
{
    uint64_t count = bt_field_class_structure_get_member_count(fc);
    char name[CTF_NAME_MAX + 1] = "";

    for (uint64_t i = 0; i < count && !w->full && !w->over; i++) {
        const bt_field_class_structure_member
            *m = bt_field_class_structure_borrow_member_by_index_const(fc, i);
        const bt_field_class *class = bt_field_class_structure_member_borrow_field_class_const(m);

        if (context && pt_ctf_is_identity(w->map, i))
            continue;
        if (pt_ctf_is_length_of_next(fc, i)) {
            w->count_bits = ctf_bits(class) < 32 ? ctf_bits(class) : 32;
            continue;
        }
        if (!field)
            pt_ctf_join(name, prefix, bt_field_class_structure_member_get_name(m));
        pt_ctf_walk(w, class,
                    field ? bt_field_structure_borrow_member_field_by_index_const(field, i) : NULL,
                    name);
        w->count_bits = 0;
    }
}

static void walk_elements(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                          const char *prefix)
{
    const bt_field_class *element = bt_field_class_array_borrow_element_field_class_const(fc);
    uint64_t count = bt_field_class_array_static_get_length(fc);
    char name[CTF_NAME_MAX + 1] = "", number[24];

    for (uint64_t i = 0; i < count && !w->full && !w->over; i++) {
        if (!field) {
            snprintf(number, sizeof number, "%llu", (unsigned long long)i);
            pt_ctf_join(name, prefix, number);
        }
        pt_ctf_walk(w, element,
                    field ? bt_field_array_borrow_element_field_by_index_const(field, i) : NULL,
                    name);
    }
}

void pt_ctf_walk(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                 const char *name)
{
    bool array = ctf_is(fc, BT_FIELD_CLASS_TYPE_ARRAY);
    bool fixed = ctf_is(fc, BT_FIELD_CLASS_TYPE_STATIC_ARRAY);

    if (ctf_is_scalar(fc) && field)
        pack(w, fc, field);
    else if (ctf_is_scalar(fc))
        pt_ctf_describe(w, fc, false, 0, name);
    else if (ctf_is(fc, BT_FIELD_CLASS_TYPE_STRING))
        leaf_string(w, field, name);
    else if (array && ctf_is_scalar(bt_field_class_array_borrow_element_field_class_const(fc)))
        leaf_array(w, fc, field, name);
    else if (w->detail < CTF_FLAT && ctf_is(fc, BT_FIELD_CLASS_TYPE_STRUCTURE))
        walk_members(w, fc, field, name, false);
    else if (w->detail < CTF_FLAT && fixed &&
             bt_field_class_array_static_get_length(fc) <= UNROLL_MAX)
        walk_elements(w, fc, field, name);
    else
        leaf_text(w, field, name);
}

void pt_ctf_walk_scope(struct ctf_walk *w, const bt_field_class *fc, const bt_field *field,
                       const char *name, bool context)
{
    if (!fc || w->full || w->over || !bt_field_class_structure_get_member_count(fc))
        return;
    if (w->detail == CTF_TEXT)
        leaf_text(w, field, name);
    else
        walk_members(w, fc, field, "", context);
}
