/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event data as text and as JSON: each kind of field, what has to be escaped, numbers at
 * their limits and in their shortest form, in any locale, and where the room ends.
 */
#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/format.h>
#include "analysis/format/common/fields_text.h"
#include "text/number.h"
#include "support/run_suite.h"

static posixtrace_layout_t *parse(const char *text)
{
    posixtrace_layout_t *layout;

    ck_assert_int_eq(posixtrace_layout_parse(text, &layout, NULL), 0);
    return layout;
}

static const struct form {
    const char *layout;
    size_t len;
    const char *data, *text, *json;
} forms[] = {
    { "u32 order; f64 price; str symbol", 16,
      "\5\0\0\0\0\0\0\0\0\0\xf8\x3f"
      "ABC",
      "order=5 price=1.5 symbol=\"ABC\"", "{\"order\":5,\"price\":1.5,\"symbol\":\"ABC\"}" },
    { "u64 a; i64 b", 16, "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\x80",
      "a=18446744073709551615 b=-9223372036854775808",
      "{\"a\":18446744073709551615,\"b\":-9223372036854775808}" },
    { "x64 a; x8 b", 9, "\xff\xff\xff\xff\xff\xff\xff\xff\0", "a=0xffffffffffffffff b=0x0",
      "{\"a\":18446744073709551615,\"b\":0}" },
    { "be; u16 a", 2, "\1\xbb", "a=443", "{\"a\":443}" },
    { "u8[3] a; u8:u8 b", 4, "\1\2\3\0", "a=[1,2,3] b=[]", "{\"a\":[1,2,3],\"b\":[]}" },
    { "u8:u8 s {idle, busy}", 4, "\3\0\1\2", "s=[idle,busy,2]", "{\"s\":[\"idle\",\"busy\",2]}" },
    { "i8 e {no=-1, yes}", 1, "\xff", "e=no", "{\"e\":\"no\"}" },
    { "bool a; bool b", 2, "\0\7", "a=false b=true", "{\"a\":false,\"b\":true}" },
    { "char a; char[3] b", 4, "'a\0\"", "a=\"'\" b=\"a\\x00\\\"\"",
      "{\"a\":\"'\",\"b\":\"a\\u0000\\\"\"}" },
    { "bytes[2] a; bytes b", 4, "\0\xff\x12\xab", "a=00ff b=12ab",
      "{\"a\":\"00ff\",\"b\":\"12ab\"}" },
    { "bytes a", 0, "", "a=", "{\"a\":\"\"}" },
    { "str a", 9, "\n\t\r\b\f\x1b\x7f\\", "a=\"\\n\\t\\r\\x08\\x0c\\x1b\\x7f\\\\\"",
      "{\"a\":\"\\n\\t\\r\\b\\f\\u001b\\u007f\\\\\"}" },
    /* UTF-8 passes; a bad byte, a control of two bytes, and what turns text round do not */
    { "str a", 3, "\xc3\xa4", "a=\"\xc3\xa4\"", "{\"a\":\"\xc3\xa4\"}" },
    { "str a", 5, "\xff\xc3\xc0\xaf", "a=\"\\xff\\xc3\\xc0\\xaf\"",
      "{\"a\":\"\\udcff\\udcc3\\udcc0\\udcaf\"}" },
    { "str a", 3, "\xc2\x9b", "a=\"\\u{009b}\"", "{\"a\":\"\\u009b\"}" },
    { "str a", 4, "\xe2\x80\xae", "a=\"\\u{202e}\"", "{\"a\":\"\xe2\x80\xae\"}" },
    { "str a", 4, "\xed\xa0\x80", "a=\"\\xed\\xa0\\x80\"", "{\"a\":\"\\udced\\udca0\\udc80\"}" },
    { "f32 a; f32 b; f32 c", 12, "\0\0\xc0\x7f\0\0\x80\x7f\0\0\x80\xff", "a=nan b=inf c=-inf",
      "{\"a\":null,\"b\":null,\"c\":null}" },
};

START_TEST(each_form)
{
    const struct form *f = &forms[_i];
    posixtrace_layout_t *l = parse(f->layout);
    char text[200];

    ck_assert_uint_eq(posixtrace_layout_text(l, f->data, f->len, text, sizeof text),
                      strlen(f->text));
    ck_assert_str_eq(text, f->text);
    ck_assert_uint_eq(posixtrace_layout_json(l, f->data, f->len, text, sizeof text),
                      strlen(f->json));
    ck_assert_str_eq(text, f->json);
    ck_assert_uint_eq(posixtrace_layout_text(l, f->data, f->len, NULL, 0), strlen(f->text));
    posixtrace_layout_free(l);
}
END_TEST

START_TEST(not_of_the_layout)
{
    posixtrace_layout_t *l = parse("u32 a");
    char text[8] = "as it is";

    ck_assert_uint_eq(posixtrace_layout_text(l, "abc", 3, text, sizeof text), 0);
    ck_assert_uint_eq(posixtrace_layout_json(l, "abcde", 5, text, sizeof text), 0);
    ck_assert_int_eq(memcmp(text, "as it is", 8), 0);
    posixtrace_layout_free(l);
}
END_TEST

START_TEST(ascii)
{
    posixtrace_layout_t *l = parse("str a");
    static const char data[] = "\xc3\xa4\xf0\x9f\x98\x80";
    char text[64];

    pt_fields_write(l, data, sizeof data, false, true, text, sizeof text);
    ck_assert_str_eq(text, "a=\"\\u{00e4}\\u{01f600}\"");
    pt_fields_write(l, data, sizeof data, true, true, text, sizeof text);
    ck_assert_str_eq(text, "{\"a\":\"\\u00e4\\ud83d\\ude00\"}");
    posixtrace_layout_free(l);
}
END_TEST

/* Nothing is cut within a character or an escape, and nothing follows what was cut. */
START_TEST(room)
{
    static const char data[] = "\xc3\xa4\n\x01"
                               "b";
    static const char whole[] = "name=\"\xc3\xa4\\n\\x01b\"";
    posixtrace_layout_t *l = parse("str name");
    char text[32];

    for (size_t size = 1; size < sizeof whole; size++) {
        size_t length;

        memset(text, 'x', sizeof text);
        ck_assert_uint_eq(posixtrace_layout_text(l, data, sizeof data, text, size),
                          sizeof whole - 1);
        length = strlen(text);
        ck_assert_uint_lt(length, size);
        ck_assert_int_eq(strncmp(text, whole, length), 0);
        ck_assert(length == 0 || (text[length - 1] != '\\' && text[length - 1] != '\xc3'));
        ck_assert_int_eq(text[size], 'x');
    }
    posixtrace_layout_free(l);
}
END_TEST

static const struct number {
    double value;
    unsigned bits;
    const char *text;
} numbers[] = {
    { 0, 64, "0" },
    { -0.0, 64, "-0" },
    { 1, 64, "1" },
    { -2.5, 64, "-2.5" },
    { 0.1, 64, "0.1" },
    { 0.1, 32, "0.1" },
    { 1.0 / 3, 64, "0.3333333333333333" },
    { 1.0f / 3, 32, "0.33333334" },
    { 0.1 + 0.2, 64, "0.30000000000000004" },
    { 1e15, 64, "1e+15" },
    { 999999999999999, 64, "999999999999999" },
    { 123456.789, 64, "123456.789" },
    { (double)9007199254740993, 64, "9007199254740992" },
    { 0.00001, 64, "0.00001" },
    { 0.0000125, 64, "0.0000125" },
    { 1e-7, 64, "1e-07" },
    { 5e-324, 64, "5e-324" },
    { 1.7976931348623157e308, 64, "1.7976931348623157e+308" },
    { 2.2250738585072014e-308, 64, "2.2250738585072014e-308" },
    { 3.4028234663852886e38, 32, "3.4028235e+38" },
    { 1.401298464324817e-45, 32, "1e-45" },
    { 16777216, 32, "16777216" },
    { 1e300, 64, "1e+300" },
};

static void check_numbers(void)
{
    char text[PT_NUMBER_MAX + 1];

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *pt_number_float(text, numbers[i].value, numbers[i].bits) = '\0';
        ck_assert_str_eq(text, numbers[i].text);
    }
}

START_TEST(floats)
{
    check_numbers();
}
END_TEST

/* Where numbers have a comma, if there is such a locale here. */
START_TEST(floats_have_a_point)
{
    static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fa_IR.UTF-8" };
    size_t i = 0;

    while (i < sizeof locales / sizeof *locales && !setlocale(LC_NUMERIC, locales[i]))
        i++;
    check_numbers();
    setlocale(LC_NUMERIC, "C");
}
END_TEST

static bool reads_back(const char *text, double d, unsigned bits)
{
    double back = strtod(text, NULL);

    if (bits == 32)
        back = (double)(float)back;
    return memcmp(&back, &d, sizeof d) == 0;
}

/* Digits between the zeros. */
static size_t digits_in(const char *text)
{
    size_t n = 0, last = 0;

    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0')) {
            n++;
            if (*text != '0')
                last = n;
        }
    return last;
}

/* Any bits: the text reads back as the same number, and is an integer with all its digits, or has
 * as few digits as printf needs. */
START_TEST(floats_read_back)
{
    char text[PT_NUMBER_MAX + 1], other[40];
    uint64_t state = 88172645463325252u;

    for (unsigned i = 0; i < 20000; i++) {
        unsigned bits = i % 4 == 3 ? 32 : 64;
        int precision = 0;
        double d;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(&d, &state, sizeof d);
        if (i % 2)
            d = (double)(int64_t)(state >> (i % 40)) / (i % 3 ? 1e6 : 64);
        if (bits == 32)
            d = (double)(float)d;
        if (!isfinite(d))
            continue;
        *pt_number_float(text, d, bits) = '\0';
        ck_assert_msg(reads_back(text, d, bits), "%a became %s", d, text);
        do
            snprintf(other, sizeof other, "%.*e", precision++, d);
        while (!reads_back(other, d, bits));
        ck_assert_msg(text[strspn(text, "-0123456789")] == '\0' ||
                          digits_in(text) == digits_in(other),
                      "%s became %s", other, text);
        ck_assert_uint_le(strcspn(text, "e"), 17 + 6 + 1);
    }
}
END_TEST

START_TEST(integers)
{
    static const struct {
        uint64_t value;
        const char *text, *hex;
    } n[] = {
        { 0, "0", "0x0" },
        { 9, "9", "0x9" },
        { 10, "10", "0xa" },
        { 99, "99", "0x63" },
        { 100, "100", "0x64" },
        { 101, "101", "0x65" },
        { 1005, "1005", "0x3ed" },
        { 1000000, "1000000", "0xf4240" },
        { UINT64_MAX, "18446744073709551615", "0xffffffffffffffff" },
        { 1ull << 63, "9223372036854775808", "0x8000000000000000" },
    };
    char text[PT_NUMBER_MAX + 1];

    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        *pt_number_u64(text, n[i].value) = '\0';
        ck_assert_str_eq(text, n[i].text);
        *pt_number_hex(text, n[i].value) = '\0';
        ck_assert_str_eq(text, n[i].hex);
    }
    *pt_number_i64(text, INT64_MIN) = '\0';
    ck_assert_str_eq(text, "-9223372036854775808");
}
END_TEST

START_TEST(times)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } n[] = {
        { 0, "0ns" },
        { 999, "999ns" },
        { 1000, "1.000us" },
        { 12349, "12.34us" },
        { 999999, "999.9us" },
        { 1000000, "1.000ms" },
        { 400000000, "400.0ms" },
        { 1234567890, "1.234s" },
        { 9999999999999, "9999s" },
        { 9999999999999999, "9999999s" },
        { 10000000000000000, "115.7d" },
        { INT64_MAX, "106751d" },
        { UINT64_MAX, "213503d" },
    };
    char text[PT_NUMBER_MAX + 1];

    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        *pt_number_time(text, n[i].ns) = '\0';
        ck_assert_str_eq(text, n[i].text);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, each_form, 0, sizeof forms / sizeof *forms);
    tcase_add_test(t, not_of_the_layout);
    tcase_add_test(t, ascii);
    tcase_add_test(t, room);
    tcase_add_test(t, floats);
    tcase_add_test(t, floats_have_a_point);
    tcase_add_test(t, floats_read_back);
    tcase_add_test(t, integers);
    tcase_add_test(t, times);
}

int main(void)
{
    return run_suite("format", "fields", NULL, add);
}
