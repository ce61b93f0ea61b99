/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Import of CTF, in the reading process: descriptions out of field classes. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include "analysis/format/ctf/ctf_walk.h"

#define OWN_ORDER (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "be; " : "")

static void put_text(struct ctf_walk *w, const char *text)
{
    size_t length = strlen(text);

    if (w->text_used + length > POSIXTRACE_DESCRIPTION_MAX) {
        w->full = true;
        return;
    }
    memcpy(w->text + w->text_used, text, length + 1);
    w->text_used += length;
}

/* A word of the language of descriptions out of any text. */
static void put_word(char *to, const char *from)
{
    size_t used = 0;

    if (!*from || isdigit((unsigned char)*from))
        to[used++] = '_';
    for (; *from && used < CTF_NAME_MAX; from++)
        to[used++] = isalnum((unsigned char)*from) && !(*from & 0x80) ? *from : '_';
    to[used] = '\0';
}

void pt_ctf_join(char *to, const char *prefix, const char *name)
{
    char both[256];

    snprintf(both, sizeof both, "%.120s%s%.120s", prefix, *prefix ? "_" : "", name);
    put_word(to, both);
}

/* The name unchanged, or with a number after it if it is already used. */
static const char *own_name(struct ctf_walk *w, const char *name)
{
    char *to = w->names[w->fields], word[CTF_NAME_MAX + 1];
    unsigned number = 1, i;

    put_word(word, name);
    strcpy(to, word);
    do {
        for (i = 0; i < w->fields && strcmp(w->names[i], to) != 0; i++)
            ;
        if (i < w->fields)
            snprintf(to, CTF_NAME_MAX + 1, "%.50s_%u", word, ++number);
    } while (i < w->fields);
    return to;
}

/* Is the name there with its value, in the enumeration that is being written?  CTF may write a
 * value twice, a description may not. */
static bool is_there(const struct ctf_walk *w, const char *name_and_value)
{
    size_t length = strlen(name_and_value);

    for (const char *at = strrchr(w->text, '{'); at; at = strchr(at, ' ')) {
        at++;
        if (strncmp(at, name_and_value, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

static void put_enumerator(struct ctf_walk *w, bool *any, const char *label, bool is_signed,
                           uint64_t value)
{
    char word[CTF_NAME_MAX + 1], text[128];

    put_word(word, label);
    snprintf(text, sizeof text, is_signed ? "%s%s=%" PRIi64 : "%s%s=%" PRIu64, *any ? ", " : " {",
             word, value);
    if (*any && is_there(w, text + 2))
        return;
    put_text(w, text);
    *any = true;
}

static bool put_signed_mapping(struct ctf_walk *w, const bt_field_class *fc, uint64_t i, bool *any)
{
    const bt_field_class_enumeration_signed_mapping
        *m = bt_field_class_enumeration_signed_borrow_mapping_by_index_const(fc, i);
    const bt_integer_range_set_signed
        *set = bt_field_class_enumeration_signed_mapping_borrow_ranges_const(m);
    const char *label = bt_field_class_enumeration_mapping_get_label(
        bt_field_class_enumeration_signed_mapping_as_mapping_const(m));
    uint64_t count = bt_integer_range_set_get_range_count(
        bt_integer_range_set_signed_as_range_set_const(set));

    for (uint64_t k = 0; k < count && !w->full; k++) {
        const bt_integer_range_signed *r = bt_integer_range_set_signed_borrow_range_by_index_const(
            set, k);

        if (bt_integer_range_signed_get_lower(r) == bt_integer_range_signed_get_upper(r))
            put_enumerator(w, any, label, true, (uint64_t)bt_integer_range_signed_get_lower(r));
    }
    return !w->full;
}

static bool put_unsigned_mapping(struct ctf_walk *w, const bt_field_class *fc, uint64_t i,
                                 bool *any)
{
    const bt_field_class_enumeration_unsigned_mapping
        *m = bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(fc, i);
    const bt_integer_range_set_unsigned
        *set = bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(m);
    const char *label = bt_field_class_enumeration_mapping_get_label(
        bt_field_class_enumeration_unsigned_mapping_as_mapping_const(m));
    uint64_t count = bt_integer_range_set_get_range_count(
        bt_integer_range_set_unsigned_as_range_set_const(set));

    for (uint64_t k = 0; k < count && !w->full; k++) {
        const bt_integer_range_unsigned
            *r = bt_integer_range_set_unsigned_borrow_range_by_index_const(set, k);

        if (bt_integer_range_unsigned_get_lower(r) == bt_integer_range_unsigned_get_upper(r))
            put_enumerator(w, any, label, false, bt_integer_range_unsigned_get_lower(r));
    }
    return !w->full;
}

/* Names of values; those of ranges of values have no word. */
static void put_enumeration(struct ctf_walk *w, const bt_field_class *fc)
{
    uint64_t count = bt_field_class_enumeration_get_mapping_count(fc);
    bool is_signed = ctf_is(fc, BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION), any = false, fine = true;

    for (uint64_t i = 0; i < count && fine; i++)
        fine = is_signed ? put_signed_mapping(w, fc, i, &any)
                         : put_unsigned_mapping(w, fc, i, &any);
    if (any)
        put_text(w, "}");
}

void pt_ctf_put_field(struct ctf_walk *w, const char *type, const char *extent, const char *name,
                      const bt_field_class *element)
{
    char text[128];

    if (w->fields == POSIXTRACE_FIELDS_MAX) {
        w->full = true;
        return;
    }
    snprintf(text, sizeof text, "%s%s%s %s", w->fields ? "; " : OWN_ORDER, type, extent,
             own_name(w, name));
    put_text(w, text);
    w->fields++;
    if (element && ctf_is(element, BT_FIELD_CLASS_TYPE_ENUMERATION) && w->detail == CTF_ALL)
        put_enumeration(w, element);
}

void pt_ctf_describe(struct ctf_walk *w, const bt_field_class *element, bool array, uint64_t count,
                     const char *name)
{
    char type[8] = "bool", extent[24] = "";

    if (ctf_is(element, BT_FIELD_CLASS_TYPE_REAL))
        snprintf(type, sizeof type, "f%u", ctf_bits(element));
    else if (array && ctf_is_hex(element) && ctf_bits(element) == 8)
        strcpy(type, "bytes");
    else if (!ctf_is(element, BT_FIELD_CLASS_TYPE_BOOL))
        snprintf(type, sizeof type, "%c%u",
                 ctf_is_hex(element)                                   ? 'x'
                 : ctf_is(element, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) ? 'i'
                                                                       : 'u',
                 ctf_bits(element));
    if (array && count)
        snprintf(extent, sizeof extent, "[%llu]", (unsigned long long)count);
    else if (array)
        snprintf(extent, sizeof extent, ":u%u", w->count_bits);
    pt_ctf_put_field(w, type, extent, name, element);
}
