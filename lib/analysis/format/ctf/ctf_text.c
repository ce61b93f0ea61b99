/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF: a field of any class as text, {a=1, b=[2, 3], c="x"}, for fields that a
 * description cannot have.
 */
#include <stdarg.h>
#include <string.h>
#include "analysis/format/ctf/ctf_import.h"

struct text {
    char *to;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list arguments;
    int n;

    if (t->used >= t->size)
        return;
    va_start(arguments, format);
    n = vsnprintf(t->to + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
    t->used += n > 0 ? (size_t)n : 0;
}

static void put_field(struct text *t, const bt_field *field);

static void put_structure(struct text *t, const bt_field *field)
{
    const bt_field_class *fc = bt_field_borrow_class_const(field);
    uint64_t count = bt_field_class_structure_get_member_count(fc);

    put(t, "{");
    for (uint64_t i = 0; i < count && t->used < t->size; i++) {
        put(t, "%s%s=", i ? ", " : "",
            bt_field_class_structure_member_get_name(
                bt_field_class_structure_borrow_member_by_index_const(fc, i)));
        put_field(t, bt_field_structure_borrow_member_field_by_index_const(field, i));
    }
    put(t, "}");
}

static void put_array(struct text *t, const bt_field *field)
{
    uint64_t count = bt_field_array_get_length(field);

    put(t, "[");
    for (uint64_t i = 0; i < count && t->used < t->size; i++) {
        put(t, "%s", i ? ", " : "");
        put_field(t, bt_field_array_borrow_element_field_by_index_const(field, i));
    }
    put(t, "]");
}

static void put_field(struct text *t, const bt_field *field)
{
    bt_field_class_type type = bt_field_get_class_type(field);

    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        put(t, "%lld", (long long)bt_field_integer_signed_get_value(field));
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        put(t, "%llu", (unsigned long long)bt_field_integer_unsigned_get_value(field));
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
        put(t, "%.9g", (double)bt_field_real_single_precision_get_value(field));
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL))
        put(t, "%.17g", bt_field_real_double_precision_get_value(field));
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BOOL))
        put(t, "%s", bt_field_bool_get_value(field) ? "true" : "false");
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
        put(t, "0x%llx", (unsigned long long)bt_field_bit_array_get_value_as_integer(field));
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING))
        put(t, "\"%s\"", ctf_string(field));
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRUCTURE))
        put_structure(t, field);
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
        put_array(t, field);
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
        put_field(t, bt_field_variant_borrow_selected_option_field_const(field));
    else if (bt_field_option_borrow_field_const(field))
        put_field(t, bt_field_option_borrow_field_const(field));
    else
        put(t, "none");
}

size_t pt_ctf_text(const bt_field *field, char *to, size_t size)
{
    struct text t = { .to = to, .size = size };

    to[0] = '\0';
    while (bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_VARIANT))
        field = bt_field_variant_borrow_selected_option_field_const(field);
    if (bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_STRING))
        put(&t, "%s", ctf_string(field));
    else
        put_field(&t, field);
    return t.used;
}
