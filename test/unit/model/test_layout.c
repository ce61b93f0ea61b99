/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Descriptions of event data: what the parser understands, where it says that something
 * is wrong, and how data is split, whole, cut at each byte, and with counts that lie.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/typed.h>
#include "support/run_suite.h"

static posixtrace_layout_t *parse(const char *text)
{
    struct posixtrace_layout_fault fault;
    posixtrace_layout_t *layout = NULL;
    int error = posixtrace_layout_parse(text, &layout, &fault);

    ck_assert_msg(error == 0, "%s: %d, column %zu: %s", text, error, fault.column, fault.text);
    ck_assert_uint_eq(fault.column, 0);
    return layout;
}

static const struct wrong {
    const char *text;
    size_t column;
    const char *says;
} wrong[] = {
    { "", 1, "a field is missing" },
    { "  ", 3, "a field is missing" },
    { "le;", 4, "a field is missing" },
    { "be", 3, "after the byte order stands ;" },
    { "be u8 a", 4, "after the byte order stands ;" },
    { "u33 a", 1, "not a type: 'u33'" },
    { "u32 a; u33 b", 8, "not a type: 'u33'" },
    { "; u8 a", 1, "not a type: ';'" },
    { "u8 a;; u8 b", 6, "not a type: ';'" },
    { "U8 a", 1, "not a type: 'U8'" },
    { "u8", 3, "not the name of a field:" },
    { "u8 9a", 4, "not the name of a field: '9a'" },
    { "u8 \xc3\xa4", 4, "not the name of a field: '\xc3\xa4'" },
    { "u8 a b", 6, "after a field stands ; not 'b'" },
    { "u8 a-b", 5, "after a field stands ; not '-b'" },
    { "u8 a; i8 b; u8 a", 16, "two fields are called 'a'" },
    { "u8[0] a", 4, "between [ and ] stands 1 to 65535" },
    { "u8[-1] a", 4, "between [ and ] stands 1 to 65535" },
    { "u8[65536] a", 4, "between [ and ] stands 1 to 65535" },
    { "u8[99999999999999999999] a", 4, "not an integer of 64 bits: '999999999999'" },
    { "u8[] a", 4, "not an integer of 64 bits: ']'" },
    { "u8[2 a", 6, "] is missing" },
    { "u8:u64 a", 4, "a count is u8, u16 or u32, not 'u64'" },
    { "u8: 3 a", 4, "a count is u8, u16 or u32, not" },
    { "bytes a; u8 b", 10, "bytes without a count take all the rest, but here follows 'u8'" },
    { "bytes a u8", 9, "bytes without a count take all the rest, but here follows 'u8'" },
    { "f32 a {x}", 8, "only integers have names of values" },
    { "str a {x}", 8, "only integers have names of values" },
    { "bool a {x}", 9, "only integers have names of values" },
    { "u8 a {}", 7, "not the name of a value: '}'" },
    { "u8 a {x,}", 9, "not the name of a value: '}'" },
    { "u8 a {x=}", 9, "not an integer of 64 bits: '}'" },
    { "u8 a {x = y}", 11, "not an integer of 64 bits: 'y}'" },
    { "u8 a {x = 9223372036854775808}", 11, "not an integer of 64 bits: '922337203685'" },
    { "x64 a {x = 18446744073709551616}", 12, "not an integer of 64 bits: '184467440737'" },
    { "u64 a {x = -9223372036854775809}", 12, "not an integer of 64 bits: '-92233720368'" },
    { "u32 a {x = 18446744073709551615}", 12, "not an integer of 64 bits: '184467440737'" },
    { "u8 a {x, x}", 10, "two values without a number are called 'x'" },
    { "u8 a {x=3, y, x}", 15, "two values without a number are called 'x'" },
    { "u8 a {x=300}", 9, "the field's values are 0 to 255, not '300'" },
    { "u8 a {x = -1}", 11, "the field's values are 0 to 255, not '-1'" },
    { "x16 a {x=0x10000}", 10, "the field's values are 0 to 65535, not '0x10000'" },
    { "u32 a {x=4294967296}", 10, "the field's values are 0 to 4294967295, not '4294967296'" },
    { "u64 a {x=-1}", 10, "the field's values are 0 to 18446744073709551615, not '-1'" },
    { "i8 a {x=128}", 9, "the field's values are -128 to 127, not '128'" },
    { "i8 a {x=-129}", 9, "the field's values are -128 to 127, not '-129'" },
    { "i16 a {x=32768}", 10, "the field's values are -32768 to 32767, not '32768'" },
    { "i32:u8 a {x=-2147483649}", 13,
      "the field's values are -2147483648 to 2147483647, not '-2147483649'" },
    { "u8 a {x=255, y}", 14, "the name before has the greatest value; write one for 'y'" },
    { "i8 a {x=127, y}", 14, "the name before has the greatest value; write one for 'y'" },
    { "u64 a {x=18446744073709551615, y}", 32,
      "the name before has the greatest value; write one for 'y'" },
    { "i64 a {x=9223372036854775807, y}", 31,
      "the name before has the greatest value; write one for 'y'" },
    { "u8 a {x=1, x=1}", 12, "a name has the same value twice; leave one out: 'x'" },
    { "u8 a {w, x, y=3, x=1}", 18, "a name has the same value twice; leave one out: 'x'" },
    { "u8 a {x", 8, "} is missing" },
    { "u8 a {x; u8 b}", 8, "} is missing" },
};

START_TEST(wrong_ones)
{
    const struct wrong *w = &wrong[_i];
    struct posixtrace_layout_fault fault;
    posixtrace_layout_t *layout = (posixtrace_layout_t *)&fault;

    ck_assert_int_eq(posixtrace_layout_parse(w->text, &layout, &fault), EINVAL);
    ck_assert_ptr_eq(layout, &fault);
    ck_assert_str_eq(fault.text, w->says);
    ck_assert_msg(fault.column == w->column, "%s: column %zu", w->text, fault.column);
    ck_assert_int_eq(posixtrace_layout_parse(w->text, &layout, NULL), EINVAL);
}
END_TEST

START_TEST(arguments)
{
    struct posixtrace_layout_fault fault = { .column = 7 };
    posixtrace_layout_t *layout;

    ck_assert_int_eq(posixtrace_layout_parse(NULL, &layout, &fault), EINVAL);
    ck_assert_uint_eq(fault.column, 0);
    ck_assert_int_eq(posixtrace_layout_parse("u8 a", NULL, &fault), EINVAL);
    posixtrace_layout_free(NULL);
}
END_TEST

START_TEST(names_have_63_bytes)
{
    char text[256] = "u8 ", name[65];
    struct posixtrace_layout_fault fault;
    posixtrace_layout_t *layout;

    memset(name, 'n', 63);
    name[63] = '\0';
    layout = parse(strcat(text, name));
    ck_assert_str_eq(posixtrace_layout_field(layout, 0)->name, name);
    posixtrace_layout_free(layout);
    ck_assert_int_eq(posixtrace_layout_parse(strcat(text, "n"), &layout, &fault), EINVAL);
    ck_assert_uint_eq(fault.column, 4);
    strcpy(text, "u8 a { ");
    ck_assert_int_eq(
        posixtrace_layout_parse(strcat(strcat(strcat(text, name), "n"), "}"), &layout, &fault),
        EINVAL);
    ck_assert_uint_eq(fault.column, 8);
}
END_TEST

START_TEST(at_most_64_fields)
{
    char text[2048] = "", *at = text;
    struct posixtrace_layout_fault fault;
    posixtrace_layout_t *layout;
    size_t last;

    for (unsigned i = 0; i < POSIXTRACE_FIELDS_MAX; i++)
        at += sprintf(at, "u64 f%u;", i);
    layout = parse(text);
    ck_assert_uint_eq(posixtrace_layout_count(layout), 64);
    ck_assert_uint_eq(posixtrace_layout_size(layout), 512);
    ck_assert_uint_eq(posixtrace_layout_find(layout, "f63"), 63);
    ck_assert_uint_eq(posixtrace_layout_find(layout, "f64"), 64);
    ck_assert_ptr_null(posixtrace_layout_field(layout, 64));
    posixtrace_layout_free(layout);
    last = (size_t)(at - text) + 1;
    strcpy(at, "u64 more");
    ck_assert_int_eq(posixtrace_layout_parse(text, &layout, &fault), EINVAL);
    ck_assert_str_eq(fault.text, "more than 64 fields");
    ck_assert_uint_eq(fault.column, last);
}
END_TEST

START_TEST(at_most_2047_bytes)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 2];
    posixtrace_layout_t *layout;

    memset(text, ' ', sizeof text);
    memcpy(text, "u8 a", 4);
    text[POSIXTRACE_DESCRIPTION_MAX] = '\0';
    posixtrace_layout_free(parse(text));
    text[POSIXTRACE_DESCRIPTION_MAX] = ' ';
    text[POSIXTRACE_DESCRIPTION_MAX + 1] = '\0';
    ck_assert_int_eq(posixtrace_layout_parse(text, &layout, NULL), ENAMETOOLONG);
}
END_TEST

START_TEST(fields)
{
    posixtrace_layout_t *l = parse("be;i8 a{x,y=-3,z};i16[3]b;str c ;char[4]d;bytes:u16 e;str[9]f;"
                                   "f32:u8 g;\n\tbool h; x64 i{top=0x7fffffffffffffff,wrapped};");
    const struct posixtrace_field *f = posixtrace_layout_field(l, 0);

    ck_assert_uint_eq(posixtrace_layout_count(l), 9);
    ck_assert(posixtrace_layout_is_big_endian(l));
    ck_assert_uint_eq(posixtrace_layout_size(l), 0);
    ck_assert(f->kind == POSIXTRACE_FIELD_SIGNED && f->bits == 8 && !f->array && f->count == 1);
    ck_assert_uint_eq(f->enumerator_count, 3);
    ck_assert_int_eq(f->enumerators[0].value, -3);
    ck_assert_str_eq(f->enumerators[0].name, "y");
    ck_assert_str_eq(posixtrace_field_enumerator(f, -2), "z");
    ck_assert_str_eq(posixtrace_field_enumerator(f, 0), "x");
    ck_assert_ptr_null(posixtrace_field_enumerator(f, 1));
    f = posixtrace_layout_field(l, 1);
    ck_assert(f->kind == POSIXTRACE_FIELD_SIGNED && f->bits == 16 && f->array && f->count == 3);
    f = posixtrace_layout_field(l, 2);
    ck_assert(f->kind == POSIXTRACE_FIELD_STRING && !f->array && f->count == 0 &&
              f->count_bits == 0);
    f = posixtrace_layout_field(l, 3);
    ck_assert(f->kind == POSIXTRACE_FIELD_CHAR && f->array && f->count == 4);
    f = posixtrace_layout_field(l, 4);
    ck_assert(f->kind == POSIXTRACE_FIELD_BYTES && !f->array && f->count_bits == 16);
    f = posixtrace_layout_field(l, 5);
    ck_assert(f->kind == POSIXTRACE_FIELD_STRING && !f->array && f->count == 9);
    f = posixtrace_layout_field(l, 6);
    ck_assert(f->kind == POSIXTRACE_FIELD_FLOAT && f->array && f->count == 0 && f->count_bits == 8);
    ck_assert_int_eq(posixtrace_layout_field(l, 7)->kind, POSIXTRACE_FIELD_BOOL);
    f = posixtrace_layout_field(l, 8);
    ck_assert_int_eq(f->kind, POSIXTRACE_FIELD_HEX);
    ck_assert_str_eq(posixtrace_field_enumerator(f, INT64_MIN), "wrapped");
    posixtrace_layout_free(l);
    l = parse("u64 a {low, high = 0x8000000000000000, top = 18446744073709551615}; "
              "u8 b {x = 1, x = 5, y = 5}; i8 c {least = -128, m, top = 127}; "
              "i64 d {least = -9223372036854775808, m1 = -1, z, most = 9223372036854775807}; "
              "u8 e {top = 255, z = 0}; x8 f {m = -0}; u8 g {x = 254, y}");
    f = posixtrace_layout_field(l, 0);
    ck_assert_str_eq(posixtrace_field_enumerator(f, INT64_MIN), "high");
    ck_assert_str_eq(posixtrace_field_enumerator(f, -1), "top");
    ck_assert_str_eq(posixtrace_field_enumerator(f, 0), "low");
    f = posixtrace_layout_field(l, 1);
    ck_assert_str_eq(posixtrace_field_enumerator(f, 1), "x");
    ck_assert_str_eq(posixtrace_field_enumerator(f, 5), "x");
    posixtrace_layout_free(l);
    l = parse("u8[65535] a; i64 b");
    ck_assert_uint_eq(posixtrace_layout_size(l), 65543);
    ck_assert(!posixtrace_layout_is_big_endian(l));
    posixtrace_layout_free(l);
}
END_TEST

/* One field of each form, and data that is of the description. */
static const struct form {
    const char *text;
    size_t len, count;
    const char *data;
    uint64_t first; /* of integers and floats, the bits of a double */
} forms[] = {
    { "u8 a", 1, 1, "\xfe", 0xfe },
    { "u16 a", 2, 1, "\x01\x02", 0x201 },
    { "be;u16 a", 2, 1, "\x01\x02", 0x102 },
    { "u32 a", 4, 1, "\1\2\3\4", 0x4030201 },
    { "u64 a", 8, 1, "\1\2\3\4\5\6\7\x88", 0x8807060504030201 },
    { "be; x64 a", 8, 1, "\1\2\3\4\5\6\7\x88", 0x0102030405060788 },
    { "i8 a", 1, 1, "\xfe", (uint64_t)-2 },
    { "i16 a", 2, 1, "\xfe\xff", (uint64_t)-2 },
    { "be; i32 a", 4, 1, "\xff\xff\xff\xfe", (uint64_t)-2 },
    { "i64 a", 8, 1, "\xfe\xff\xff\xff\xff\xff\xff\xff", (uint64_t)-2 },
    { "bool a", 1, 1, "\2", 2 },
    { "char a", 1, 1, "\xe4", 0xe4 },
    { "f32 a", 4, 1, "\0\0\xc0\x3f", 0x3ff8000000000000 },
    { "be; f64 a", 8, 1, "\x3f\xf8\0\0\0\0\0\0", 0x3ff8000000000000 },
    { "u16[2] a", 4, 2, "\1\0\2\0", 1 },
    { "be; u16:u16 a", 6, 2, "\0\2\0\1\0\2", 1 },
    { "u8:u32 a", 4, 0, "\0\0\0\0", 0 },
    { "str a", 3, 2, "ab\0", 0 },
    { "str a", 1, 0, "\0", 0 },
    { "str[4] a", 4, 2, "ab\0x", 0 },
    { "str[2] a", 2, 2, "ab", 0 },
    { "str:u8 a", 4, 3, "\3a\0b", 0 },
    { "bytes[3] a", 3, 3, "a\0b", 0 },
    { "bytes:u16 a", 3, 1, "\1\0\xff", 0 },
    { "char:u8 a", 3, 2, "\2ab", 'a' },
};

static uint64_t first_of(const posixtrace_layout_t *l, const struct posixtrace_value *v)
{
    int kind = posixtrace_layout_field(l, 0)->kind;
    uint64_t bits;
    double d;

    if (kind == POSIXTRACE_FIELD_STRING || kind == POSIXTRACE_FIELD_BYTES || v->count == 0)
        return 0;
    if (kind != POSIXTRACE_FIELD_FLOAT)
        return posixtrace_value_integer(l, 0, v, 0);
    d = posixtrace_value_float(l, 0, v, 0);
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* Uses a copy of exactly len bytes, so that tools detect a load beyond it. */
static int split_copy(const posixtrace_layout_t *l, const char *data, size_t len,
                      struct posixtrace_value *values, size_t *count)
{
    char *copy = malloc(len + 1);
    int error;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy + 1, data, len);
    error = posixtrace_layout_split(l, copy + 1, len, values, count);
    free(copy);
    return error;
}

START_TEST(each_form)
{
    const struct form *f = &forms[_i];
    posixtrace_layout_t *l = parse(f->text);
    struct posixtrace_value v[1];
    char longer[32];
    size_t count = 9;

    ck_assert_int_eq(posixtrace_layout_split(l, f->data, f->len, v, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(v->count, f->count);
    ck_assert_uint_eq(first_of(l, v), f->first);
    for (size_t cut = 0; cut < f->len; cut++) {
        ck_assert_int_eq(split_copy(l, f->data, cut, v, &count), EMSGSIZE);
        ck_assert_uint_eq(count, 0);
    }
    memcpy(longer, f->data, f->len);
    longer[f->len] = 0;
    ck_assert_int_eq(split_copy(l, longer, f->len + 1, v, &count), EMSGSIZE);
    ck_assert_uint_eq(count, 1);
    posixtrace_layout_free(l);
}
END_TEST

START_TEST(the_rest)
{
    posixtrace_layout_t *l = parse("u8 a; bytes rest");
    struct posixtrace_value v[2];
    size_t count;

    ck_assert_int_eq(posixtrace_layout_split(l, "\1", 1, v, &count), 0);
    ck_assert(count == 2 && v[1].count == 0);
    ck_assert_int_eq(posixtrace_layout_split(l, "\1abc", 4, v, &count), 0);
    ck_assert(count == 2 && v[1].count == 3 && memcmp(v[1].at, "abc", 3) == 0);
    ck_assert_int_eq(posixtrace_layout_split(l, NULL, 0, v, &count), EMSGSIZE);
    ck_assert_uint_eq(count, 0);
    posixtrace_layout_free(l);
    l = parse("bytes rest");
    ck_assert_int_eq(posixtrace_layout_split(l, NULL, 0, v, &count), 0);
    ck_assert(count == 1 && v[0].count == 0);
    posixtrace_layout_free(l);
}
END_TEST

START_TEST(counts_that_lie)
{
    static const char *const texts[] = { "u64:u32 a", "str:u32 a", "bytes:u32 a", "be;i16:u32 a" };
    static const char *const counts[] = { "\xff\xff\xff\xff", "\0\0\0\x80", "\x80\0\0\0",
                                          "\1\0\0\x20", "\x20\0\0\1" };
    struct posixtrace_value v[1];
    char data[20] = { 0 };
    size_t count;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        posixtrace_layout_t *l = parse(texts[i]);

        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            memcpy(data, counts[k], 4);
            ck_assert_int_eq(split_copy(l, data, sizeof data, v, &count), EMSGSIZE);
            ck_assert_uint_eq(count, 0);
        }
        posixtrace_layout_free(l);
    }
}
END_TEST

START_TEST(fields_before_the_cut_are_there)
{
    static const char data[] = "\5\0\0\0"
                               "\0\0\0\0\0\0\xf8\x3f"
                               "ABC";
    posixtrace_layout_t *l = parse("u32 order; f64 price; str symbol");
    struct posixtrace_value v[3];
    size_t count;

    for (size_t len = 0; len < sizeof data; len++) {
        ck_assert_int_eq(split_copy(l, data, len, v, &count), EMSGSIZE);
        ck_assert_uint_eq(count, len < 4 ? 0 : len < 12 ? 1 : 2);
    }
    ck_assert_int_eq(posixtrace_layout_split(l, data, sizeof data, v, &count), 0);
    ck_assert_uint_eq(posixtrace_value_integer(l, 0, &v[0], 0), 5);
    ck_assert(posixtrace_value_float(l, 1, &v[1], 0) >= 1.5 &&
              posixtrace_value_float(l, 1, &v[1], 0) <= 1.5);
    ck_assert(v[2].count == 3 && v[2].at == data + 12);
    posixtrace_layout_free(l);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, wrong_ones, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, arguments);
    tcase_add_test(t, names_have_63_bytes);
    tcase_add_test(t, at_most_64_fields);
    tcase_add_test(t, at_most_2047_bytes);
    tcase_add_test(t, fields);
    tcase_add_loop_test(t, each_form, 0, sizeof forms / sizeof *forms);
    tcase_add_test(t, the_rest);
    tcase_add_test(t, counts_that_lie);
    tcase_add_test(t, fields_before_the_cut_are_there);
}

int main(void)
{
    return run_suite("model", "layout", NULL, add);
}
