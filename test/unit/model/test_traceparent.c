/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The header traceparent: the forms that W3C Trace Context allows and forbids, and no read beyond
 * its NUL. */
#include <stdlib.h>
#include <string.h>
#include "model/traceparent.h"
#include "support/run_suite.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"
#define IDS   TRACE "-" SPAN

/* In memory of its own, so that memcheck and ASan see a read after its end. */
static bool parse(const char *text, struct pt_traceparent *to)
{
    char *copy = strdup(text);
    bool good = pt_traceparent_parse(copy, to);

    free(copy);
    return good;
}

START_TEST(good_forms)
{
    static const struct {
        const char *text;
        uint8_t flags;
    } good[] = {
        { "00-" IDS "-01", 1 },       { "00-" IDS "-00", 0 }, { "00-" IDS "-ff", 0xff },
        { "00-" IDS "-3a", 0x3a },    { "01-" IDS "-01", 1 }, { "cc-" IDS "-01-what", 1 },
        { "fe-" IDS "-ff", 1 },       { "01-" IDS "-02", 0 }, { "cc-" IDS "-01-", 1 },
        { "7f-" IDS "-00-01-02", 0 },
    };
    struct pt_traceparent is;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        memset(&is, 0x55, sizeof is);
        ck_assert_msg(parse(good[i].text, &is), "%s", good[i].text);
        ck_assert_mem_eq(is.trace_id, TRACE, sizeof is.trace_id);
        ck_assert_mem_eq(is.span_id, SPAN, sizeof is.span_id);
        ck_assert_uint_eq(is.flags, good[i].flags);
    }
    ck_assert(parse("00-00000000000000000000000000000001-8000000000000000-01", &is));
}
END_TEST

START_TEST(bad_forms)
{
    static const char *const bad[] = {
        "",
        "0",
        "00",
        "00-",
        "ff-" IDS "-01",
        "00-" IDS,
        "00-" IDS "-",
        "00-" IDS "-0",
        "00-" IDS "-0g",
        "00-" IDS "-0A",
        "00-" IDS "-01-more",
        "00-" IDS "-01-",
        "00-" IDS "-01 ",
        "cc-" IDS "-01.more",
        "cc-" IDS "-011",
        " 00-" IDS "-01",
        "0-" IDS "-01",
        "000-" IDS "-01",
        "0G-" IDS "-01",
        "0A-" IDS "-01",
        "00_" IDS "-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-" TRACE "_" SPAN "-01",
        "00-" IDS "_01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-" SPAN "-01",
        "00-" TRACE "0-" SPAN "-01",
        "00-" TRACE "-00f067aa0ba902b-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473.-" SPAN "-01",
        "00-\xff\xff",
    };
    static const struct pt_traceparent zero;
    struct pt_traceparent is;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&is, 0x55, sizeof is);
        ck_assert_msg(!parse(bad[i], &is), "%s", bad[i]);
        ck_assert_mem_eq(&is, &zero, sizeof is);
    }
}
END_TEST

/* Each prefix of a good one, and each byte of it replaced by each other one. */
START_TEST(each_byte)
{
    static const char good[] = "00-" IDS "-01";
    char text[sizeof good];
    struct pt_traceparent is;
    size_t goods = 0;

    for (size_t n = 0; n < sizeof good - 1; n++) {
        memcpy(text, good, n);
        text[n] = '\0';
        ck_assert(!parse(text, &is));
    }
    for (size_t i = 0; i < sizeof good - 1; i++)
        for (unsigned c = 1; c < 256; c++) {
            bool digit = c && strchr("0123456789abcdef", (int)c), dash = good[i] == '-';

            memcpy(text, good, sizeof good);
            text[i] = (char)c;
            ck_assert(parse(text, &is) == (dash ? c == '-' : digit));
            goods += !dash && digit;
        }
    ck_assert_uint_eq(goods, 16 * 52);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, good_forms);
    tcase_add_test(t, bad_forms);
    tcase_add_test(t, each_byte);
}

int main(void)
{
    return run_suite("model", "traceparent", NULL, add);
}
