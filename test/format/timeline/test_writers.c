/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The writers of protocol buffers and JSON by themselves: lengths, numbers, no memory. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/format/common/json.h"
#include "analysis/format/perfetto/protobuf.h"
#include "support/run_suite.h"

static struct pt_pb new_pb(void)
{
    struct pt_pb p;

    ck_assert(pt_pb_init(&p, PT_PB_LEAST));
    return p;
}

static void expect(struct pt_pb *p, const void *bytes, size_t length)
{
    ck_assert(!p->failed);
    ck_assert_uint_eq(pt_pb_used(p), length);
    ck_assert_mem_eq(p->from, bytes, length);
    pt_pb_deinit(p);
}

START_TEST(numbers)
{
    struct pt_pb p = new_pb();

    pt_pb_uint(&p, 1, 0);
    pt_pb_uint(&p, 2, 127);
    pt_pb_uint(&p, 15, 128);
    pt_pb_uint(&p, 16, 300);
    pt_pb_uint(&p, 4, UINT64_MAX);
    pt_pb_fixed64(&p, 5, 0x0123456789abcdef);
    pt_pb_double(&p, 6, -2.0);
    expect(&p,
           "\x08\x00"
           "\x10\x7f"
           "\x78\x80\x01"
           "\x80\x01\xac\x02"
           "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
           "\x29\xef\xcd\xab\x89\x67\x45\x23\x01"
           "\x31\0\0\0\0\0\0\0\xc0",
           40);
}
END_TEST

/* A message of each length around those where its length takes one byte more, within
 * another: what comes out is made again by hand. */
START_TEST(lengths)
{
    static const size_t around[] = { 0,     1,     126,   127,   128,     129,
                                     16381, 16382, 16383, 16384, 2097151, 2097152 };

    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        size_t n = around[i], outer, inner;
        size_t head = n < 128 ? 1 : n < 16384 ? 2 : n < 2097152 ? 3 : 4;
        struct pt_pb p = new_pb(), hand = new_pb();
        uint8_t *bytes = calloc(1, n + 1);

        memset(bytes, 0x5a, n);
        outer = pt_pb_open(&p, 3);
        inner = pt_pb_open(&p, 7);
        for (size_t done = 0; done < n; done += 1000)
            pt_pb_put(&p, bytes, n - done < 1000 ? n - done : 1000);
        pt_pb_close(&p, inner);
        pt_pb_close(&p, outer);
        pt_pb_uint(&hand, 3, 1 + head + n);
        hand.from[0] = 3 << 3 | 2;
        pt_pb_uint(&hand, 7, n);
        hand.from[pt_pb_used(&hand) - head - 1] = 7 << 3 | 2;
        pt_pb_put(&hand, bytes, n);
        expect(&p, hand.from, pt_pb_used(&hand));
        pt_pb_deinit(&hand);
        free(bytes);
    }
}
END_TEST

START_TEST(strings)
{
    struct pt_pb p = new_pb();

    pt_pb_string(&p, 1, "gr\xc3\xbc\xff\xe2\x82", 7);
    pt_pb_string(&p, 1, NULL, 0);
    pt_pb_bytes(&p, 2, "\xff\0", 2);
    pt_pb_hex(&p, 3, "\x00\xfa", 2);
    expect(&p,
           "\x0a\x0agr\xc3\xbc\xc3\xbf\xc3\xa2\xc2\x82"
           "\x0a\x00"
           "\x12\x02\xff\x00"
           "\x1a\x04"
           "00fa",
           24);
}
END_TEST

/* Without memory, writes are discarded and change nothing. */
START_TEST(no_memory)
{
    struct pt_pb p = new_pb();
    size_t mark = pt_pb_open(&p, 1);

    pt_pb_need(&p, SIZE_MAX / 2);
    ck_assert(p.failed);
    for (unsigned i = 0; i < 10000; i++) {
        size_t inner = pt_pb_open(&p, i + 1);

        pt_pb_uint(&p, 1, UINT64_MAX);
        pt_pb_string(&p, 2, "text", 4);
        pt_pb_hex(&p, 3, "text", 4);
        pt_pb_close(&p, inner);
        ck_assert_uint_le(pt_pb_used(&p), PT_PB_LEAST);
    }
    pt_pb_close(&p, mark);
    ck_assert(p.failed);
    pt_pb_deinit(&p);
}
END_TEST

static struct pt_json json;

static void expect_json(const char *text)
{
    ck_assert_uint_eq(json.used, strlen(text));
    ck_assert_mem_eq(json.text, text, json.used);
    json.used = 0;
}

START_TEST(json_numbers)
{
    static const int64_t times[] = { 0, 1, -1, 999, 1000, -1000, 1001, INT64_MAX, INT64_MIN };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        pt_json_microseconds(&json, times[i]);
    expect_json("0.0000.001-0.0010.9991.000-1.0001.0019223372036854775.807"
                "-9223372036854775.808");
    pt_json_unsigned(&json, UINT64_MAX);
    pt_json_char(&json, ' ');
    pt_json_signed(&json, INT64_MIN);
    pt_json_hex(&json, 0);
    pt_json_hex(&json, UINT64_MAX);
    expect_json("18446744073709551615 -9223372036854775808\"0x0\"\"0xffffffffffffffff\"");
    for (uint64_t v = 1, n = 1; n < 20; n++, v *= 10) {
        char text[64];

        pt_json_unsigned(&json, v - 1);
        pt_json_unsigned(&json, v);
        snprintf(text, sizeof text, "%llu%llu", (unsigned long long)v - 1, (unsigned long long)v);
        expect_json(text);
    }
}
END_TEST

/* As the reader of JSON has it: bits are those of d, or of the float nearest to it. */
static void expect_same(double d, unsigned bits)
{
    char text[64], *end;
    double back;
    float a, b = (float)d;

    if (json.used >= sizeof text)
        ck_abort_msg("%u bytes for %.17g", (unsigned)json.used, d);
    memcpy(text, json.text, json.used);
    text[json.used] = '\0';
    json.used = 0;
    back = strtod(text, &end);
    a = (float)back;
    if (*end != '\0' || strspn(text, "0123456789+-.e") != strlen(text) ||
        (bits == 32 ? memcmp(&a, &b, sizeof a) : memcmp(&back, &d, sizeof d)) != 0)
        ck_abort_msg("%s for %.17g", text, d);
}

/* Steps through the bits of all doubles, and decimal fractions. */
START_TEST(json_floats)
{
    uint64_t bits = 1;
    double d;

    for (unsigned i = 0; i < 50000; i++, bits = bits * 6364136223846793005u + 1) {
        memcpy(&d, &bits, sizeof d);
        if (!isfinite(d))
            continue;
        pt_json_float(&json, d, 64);
        expect_same(d, 64);
        d = (double)(int64_t)(bits >> 30) / (double[]){ 1, 10, 1e3, 1e6, 1e7 }[i % 5];
        pt_json_float(&json, d, 64);
        expect_same(d, 64);
        pt_json_float(&json, (double)(float)d, 32);
        expect_same(d, 32);
    }
    pt_json_float(&json, 0.1, 64);
    pt_json_char(&json, ' ');
    pt_json_float(&json, (double)0.1f, 32);
    pt_json_char(&json, ' ');
    pt_json_float(&json, -1234.000500, 64);
    expect_json("0.1 0.1 -1234.0005");
}
END_TEST

/* A locale with a decimal comma changes nothing; where there is none, nothing is said. */
START_TEST(json_locale)
{
    static const char *const with_comma[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE" };

    for (size_t i = 0; i < sizeof with_comma / sizeof *with_comma; i++)
        if (setlocale(LC_NUMERIC, with_comma[i]))
            break;
    pt_json_float(&json, 1.25e-9, 64);
    expect_json("1.25e-09");
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(json_strings)
{
    pt_json_string(&json, "a\"\\\n\x7f\xff gr\xc3\xbc", 11);
    expect_json("\"a\\\"\\\\\\u000a\\u007f\\u00ff gr\xc3\xbc\"");
    pt_json_string(&json, "", 0);
    pt_json_bytes(&json, "\x00\xfe", 2);
    expect_json("\"\"\"00fe\"");
}
END_TEST

/* Pieces over the end of the buffer, and a file that takes nothing. */
START_TEST(json_file)
{
    char *text;
    size_t length, wrong = 0;

    json.file = open_memstream(&text, &length);
    for (unsigned i = 0; i < 100000; i++)
        pt_json_text(&json, "0123456789", 10);
    pt_json_flush(&json);
    ck_assert(!json.failed && fclose(json.file) == 0);
    ck_assert_uint_eq(length, 1000000);
    for (size_t i = 0; i < length; i++)
        wrong += text[i] != '0' + (int)(i % 10);
    ck_assert_uint_eq(wrong, 0);
    free(text);
    json.file = fopen("/dev/null", "r");
    pt_json_char(&json, 'x');
    pt_json_flush(&json);
    ck_assert(json.failed);
    fclose(json.file);
    json.failed = false;
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, numbers);
    tcase_add_test(t, lengths);
    tcase_add_test(t, strings);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, json_numbers);
    tcase_add_test(t, json_floats);
    tcase_add_test(t, json_locale);
    tcase_add_test(t, json_strings);
    tcase_add_test(t, json_file);
}

int main(void)
{
    return run_suite("format", "writers", NULL, add);
}
