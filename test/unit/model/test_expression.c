/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Expressions over events: their values, their values for a type alone, and the places of errors.
 */
#include <check.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/own_order.h"
#include "support/run_suite.h"
#include <posixtrace/filter.h>

static posixtrace_layout_t *layout;

/* side, price, symbol, counts, flag, temperature, letter, id */
static const unsigned char data[] = { 1,    0,    0,    0,    0,    0,    0,   0xf8,
                                      0x3f, 'A',  'B',  'C',  0,    7,    0,   9,
                                      0,    1,    0xfe, 0xff, 0xff, 0xff, 'x', 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const struct posixtrace_event order = { .ns = 5,
                                               .data = data,
                                               .thread_name = "worker 1",
                                               .name = "shop:order.made",
                                               .data_len = sizeof data,
                                               .id = 200,
                                               .pid = 10,
                                               .tid = 11 };

static void begin(void)
{
    ck_assert_int_eq(posixtrace_layout_parse("le; u8 side {buy, sell, sold = 1}; f64 price; "
                                             "str symbol; u16[2] counts; bool flag; "
                                             "i32 temperature; char letter; "
                                             "u64 id {all = 18446744073709551615}",
                                             &layout, NULL),
                     0);
}

static void end(void)
{
    posixtrace_layout_free(layout);
}

static posixtrace_expression_t *parse(const char *text)
{
    struct posixtrace_expression_fault fault;
    posixtrace_expression_t *e = NULL;
    int r = posixtrace_expression_parse(text, &e, &fault);

    ck_assert_msg(r == 0, "%s: %d, column %zu: %s", text, r, fault.column, fault.text);
    return e;
}

static void expect(const char *text, bool match)
{
    posixtrace_expression_t *e = parse(text);

    ck_assert_msg(posixtrace_expression_match(e, &order, layout) == match, "%s: not %d", text,
                  match);
    posixtrace_expression_free(e);
}

static void expect_decided(const char *text, const posixtrace_layout_t *of, int known)
{
    posixtrace_expression_t *e = parse(text);

    ck_assert_msg(posixtrace_expression_decide(e, order.name, of) == known, "%s: not %d", text,
                  known);
    posixtrace_expression_free(e);
}

static void expect_fault(const char *text, size_t column, const char *words)
{
    struct posixtrace_expression_fault fault;
    posixtrace_expression_t *e;

    ck_assert_int_eq(posixtrace_expression_parse(text, &e, &fault), EINVAL);
    ck_assert_msg(fault.column == column && strstr(fault.text, words), "%s: column %zu: %s", text,
                  fault.column, fault.text);
}

START_TEST(names)
{
    expect("event \"shop:*\"", true);
    expect("event \"*order*\"", true);
    expect("event \"shop:order.mad?\"", true);
    expect("event \"order*\"", false);
    expect("event == \"shop:order.made\"", true);
    expect("event == \"shop:*\"", false);
    expect("event != \"shop:*\"", true);
    expect("event ~ \"shop\\\\:order.made\"", true);
    expect("event \"*\\\\?*\"", false);
    expect("class \"shop\"", true);
    expect("class \"sho\"", false);
    expect("class \"s*\"", true);
    expect("group \"shop\"", true);
    expect("group \"shop:order\"", true);
    expect("group \"shop:order.made\"", true);
    expect("group \"shop:ord\"", false);
    expect("group \"*order\"", true);
    expect("group != \"shop\"", false);
    expect("group != \"sho\"", true);
    expect("thread \"worker*\"", true);
    expect("thread == \"worker\"", false);
}
END_TEST

static bool holds_of(const char *text, const char *name)
{
    posixtrace_expression_t *e = parse(text);
    int value = posixtrace_expression_decide(e, name, layout);

    posixtrace_expression_free(e);
    ck_assert_msg(value == 0 || value == 1, "%s of %s: %d", text, name, value);
    return value;
}

/* The name means further descriptions of it, too, with their mark only them. */
START_TEST(further_descriptions)
{
    static const char *const all[] = { "shop:buy", "shop:buy#2", "shop:buy#17" };
    static const char *const others[] = { "shop:buy#1", "shop:buy#02", "shop:buy#", "shop:buy#2a",
                                          "#2",         "shop:buy#2#", "2",         "" };
    char same[32];

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ck_assert(holds_of("event \"shop:buy\"", all[i]));
        ck_assert(holds_of("event == \"shop:buy\"", all[i]));
        ck_assert(!holds_of("event != \"shop:buy\"", all[i]));
        ck_assert(holds_of("event \"*:b?y\"", all[i]));
        ck_assert(holds_of("class \"shop\"", all[i]));
        ck_assert(holds_of("group \"shop:buy\"", all[i]));
        ck_assert(!holds_of("not group \"shop:buy\"", all[i]));
        ck_assert(!holds_of("group != \"shop:buy\"", all[i]));
        ck_assert(holds_of("event \"shop:buy#2\"", all[i]) == (i == 1));
        ck_assert(holds_of("event \"shop:buy#*\"", all[i]) == (i > 0));
        ck_assert(!holds_of("event \"shop:bu\"", all[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert(!holds_of("event \"shop:buy\"", others[i]));
        ck_assert(holds_of("event != \"shop:buy\"", others[i]));
        snprintf(same, sizeof same, "event == \"%s\"", others[i]);
        ck_assert(holds_of(same, others[i]));
    }
}
END_TEST

START_TEST(names_in_it)
{
    static const char text[] = "event \"a*\" or class == \"b\" and not (group != \"c\" or f > 1) "
                               "or pid 7 and g and thread \"t\"";
    struct posixtrace_expression_test t;
    posixtrace_expression_t *e = parse(text);
    char all[200] = "";
    size_t i;

    for (i = 0; posixtrace_expression_get_test(e, i, &t, sizeof t) == 0; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s %s%s; ", t.subject, t.name,
                 t.pattern ? " (pattern)" : "");
    ck_assert_uint_eq(i, 5);
    ck_assert_str_eq(all, "event a* (pattern); class b; group c; field f; field g; ");
    ck_assert_int_eq(posixtrace_expression_get_test(e, i, &t, sizeof t), ENOENT);
    ck_assert_int_eq(posixtrace_expression_get_test(e, SIZE_MAX, &t, sizeof t), ENOENT);
    ck_assert_int_eq(posixtrace_expression_get_test(NULL, 0, &t, sizeof t), EINVAL);
    ck_assert_int_eq(
        posixtrace_expression_get_test(e, 0, NULL, sizeof(struct posixtrace_expression_test)),
        EINVAL);
    ck_assert(posixtrace_expression_test_suits(e, 0, "abc", NULL));
    ck_assert(!posixtrace_expression_test_suits(e, 0, "bc", NULL));
    ck_assert(posixtrace_expression_test_suits(e, 2, "c:d", NULL));
    ck_assert(!posixtrace_expression_test_suits(e, 3, "abc", NULL));
    ck_assert(!posixtrace_expression_test_suits(e, 5, "abc", NULL));
    posixtrace_expression_free(e);
    e = parse("flag or flg");
    ck_assert(posixtrace_expression_test_suits(e, 0, "any", layout));
    ck_assert(!posixtrace_expression_test_suits(e, 1, "any", layout));
    posixtrace_expression_free(e);
}
END_TEST

/* A field suits where it is of the kind that it is compared with. */
START_TEST(kinds)
{
    static const char *const suit[] = { "side == buy",     "side != sell",  "side < 3",
                                        "side == 1.5",     "price > 1",     "price > 1.5",
                                        "symbol ~ \"A*\"", "symbol",        "counts == 7",
                                        "flag == true",    "flag == 1",     "temperature < 0",
                                        "letter == \"x\"", "letter == 120", "id == all" };
    static const char *const not [] = { "side == \"buy\"",  "side == bui", "price == \"1\"",
                                        "price == one",     "symbol == 7", "symbol == ABC",
                                        "counts == \"7\"",  "flag == yes", "flag == \"true\"",
                                        "temperature == t", "letter == x", "id != none" };
    posixtrace_expression_t *e;

    for (size_t i = 0; i < sizeof suit / sizeof *suit; i++) {
        e = parse(suit[i]);
        ck_assert_msg(posixtrace_expression_test_suits(e, 0, "any", layout), "%s", suit[i]);
        posixtrace_expression_free(e);
    }
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        e = parse(not [i]);
        ck_assert_msg(!posixtrace_expression_test_suits(e, 0, "any", layout), "%s", not [i]);
        posixtrace_expression_free(e);
    }
}
END_TEST

START_TEST(numbers)
{
    expect("pid 10 and tid 11", true);
    expect("pid == 10 and tid != 11", false);
    expect("tid > 10", true);
    expect("tid >= 12", false);
    expect("pid < 0x10", true);
    expect("pid <= 9", false);
    expect("pid > -1", true);
    expect("pid < 10.5", true);
    expect("length == 31", true);
    expect("length > 18446744073709551615", false);
}
END_TEST

START_TEST(fields)
{
    expect("side == sell", true);
    expect("side != sell", false);
    /* a second name of the value */
    expect("side == sold", true);
    expect("side != sold", false);
    expect("id == all", true);
    expect("id != all", false);
    expect("side == buy", false);
    expect("side == lend", false);
    expect("side == 1", true);
    expect("price == 1.5", true);
    expect("price > 1", true);
    expect("price < 1.4", false);
    expect("price > -3", true);
    expect("symbol == \"ABC\"", true);
    expect("symbol ~ \"A?C\"", true);
    expect("symbol != \"ABC\"", false);
    expect("symbol == 5", false);
    expect("counts == 9", true);
    expect("counts == 8", false);
    expect("counts > 8", true);
    expect("flag", true);
    expect("flag == true", true);
    expect("flag == false", false);
    expect("temperature == -2", true);
    expect("temperature < -1", true);
    expect("temperature < 0", true);
    expect("temperature > 18446744073709551615", false);
    expect("temperature <= -1.5", true);
    expect("letter == \"x\"", true);
    expect("letter ~ \"?\"", true);
    expect("id == 18446744073709551615", true);
    expect("id == 0xffffffffffffffff", true);
    expect("id == -1", false);
    expect("id > -1", true);
    expect(".side == sell", true);
    expect("nothing == 1", false);
    expect("nothing != 1", false);
    expect("not nothing", true);
    expect(".event == 1", false);
}
END_TEST

/* Integers and floats are compared by their values, not as doubles. */
START_TEST(exact)
{
    static const struct {
        const char *field, *relation;
        uint64_t v;
    } cases[] = {
        { "a", "== 9007199254740993", 9007199254740993 },
        { "a", "> 9007199254740992.0", 9007199254740993 },
        { "a", "!= 9007199254740992.0", 9007199254740993 },
        { "a", "== 9007199254740992.0", 9007199254740992 },
        { "a", "< 18446744073709551616.0", UINT64_MAX },
        { "a", "> 18446744073709549568.0", UINT64_MAX },
        { "a", "> -0.5", 0 },
        { "a", "== -0.0", 0 },
        { "a", "< 0.5", 0 },
        { "a", ">= 1e-300", 1 },
        { "a", "< 1e300", UINT64_MAX },
        { "b", "< -9007199254740992.0", (uint64_t)-9007199254740993 },
        { "b", "== -9223372036854775808.0", (uint64_t)INT64_MIN },
        { "b", "> -9223372036854777856.0", (uint64_t)INT64_MIN },
        { "b", "> -1.5", (uint64_t)-1 },
        { "b", "< -0.5", (uint64_t)-1 },
        { "b", "< 0.0", (uint64_t)-1 },
        { "b", "< 9223372036854775808.0", INT64_MAX },
        { "c", "< 9007199254740993", 0x4340000000000000 }, /* 2^53 */
        { "c", "== 9007199254740992", 0x4340000000000000 },
        { "c", "> 9223372036854775807", 0x43e0000000000000 },  /* 2^63 */
        { "c", "> -1", 0xbfe0000000000000 },                   /* -0.5 */
        { "c", "> 18446744073709551615", 0x43f0000000000000 }, /* 2^64 */
        { "c", "!= 0", 0x7ff8000000000000 },                   /* NaN */
        { "c", "!= 1.1", 0x3ff19999a0000000 },                 /* 1.1 as an f32 */
        { "a", "== -0", 0 },
        { "a", "<= -0", 0 },
        { "a", ">= -0x0", 0 },
        { "a", "> -0", 1 },
        { "b", "== -0", 0 },
        { "b", "< -0", (uint64_t)-1 },
        { "c", "== -0", 0 },
        { "c", "== -0", 0x8000000000000000 },
        { "c", "< 99999999999999999999.5", 0 },
        { "a", "< 99999999999999999999e0", UINT64_MAX },
        { "c", "> -99999999999999999999.5", 0 },
        { "c", "< 09.5", 0x4022000000000000 }, /* 9 */
        { "a", "== 010.0", 10 },
        { "a", "== 08e0", 8 },
        { "b", "< -08.5", (uint64_t)-9 },
        { "a", "== +09.0", 9 },
        { "a", "== 0x10", 16 },
        { "a", "== 010", 8 },
        { "c", "> 1e-320", 0x0010000000000000 },
        { "d", "== 1.1", 0x3f8ccccd },
        { "d", "<= 1.1", 0x3f8ccccd },
        { "d", "!= 1.2", 0x3f8ccccd },
        { "d", "> 1", 0x3f8ccccd },
        { "d", "< 1e300", 0x7f800000 - 1 },
        { "d", "> 1e300", 0x7f800000 }, /* infinity */
    };
    posixtrace_layout_t *all;

    ck_assert_int_eq(posixtrace_layout_parse(OWN_ORDER "u64 a; i64 b; f64 c; f32 d", &all, NULL),
                     0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t single = (uint32_t)cases[i].v;
        uint8_t bytes[28];
        struct posixtrace_event e = { .name = "n", .data = bytes, .data_len = sizeof bytes };
        char text[80];
        posixtrace_expression_t *x;

        for (int k = 0; k < 3; k++)
            memcpy(bytes + 8 * k, &cases[i].v, 8);
        memcpy(bytes + 24, &single, 4);
        for (int negate = 0; negate < 2; negate++) {
            snprintf(text, sizeof text, "%s%s %s", negate ? "not " : "", cases[i].field,
                     cases[i].relation);
            x = parse(text);
            ck_assert_msg(posixtrace_expression_match(x, &e, all) == !negate, "%s", text);
            posixtrace_expression_free(x);
        }
    }
    posixtrace_layout_free(all);
}
END_TEST

/* Skipped where no locale with a comma is installed. */
START_TEST(comma)
{
    static const char *const some[] = { "de_DE.UTF-8", "de_DE",       "fr_FR.UTF-8",
                                        "fr_FR",       "ru_RU.UTF-8", "pl_PL.UTF-8" };
    size_t i = 0;

    while (i < sizeof some / sizeof *some && !setlocale(LC_NUMERIC, some[i]))
        i++;
    if (strcmp(localeconv()->decimal_point, ",") != 0) {
        puts("no locale with a decimal comma is installed: not tested");
        return;
    }
    expect("price == 1.5", true);
    expect("price == 1.5e0 and pid < 10.5", true);
    expect("price == 15e-1", true);
    expect("price > 1.49999999999999 and price < 1.50000000000001", true);
    expect("temperature <= -1.5 and temperature > -2.5", true);
    expect("price == 1.", false);
    ck_assert_int_eq(
        posixtrace_expression_parse("price == 1,5", &(posixtrace_expression_t *){ 0 }, NULL),
        EINVAL);
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(connected)
{
    expect("flag and side == buy", false);
    expect("flag or side == buy", true);
    expect("not flag or price == 1.5", true);
    expect("not (flag or price == 1.5)", false);
    expect("!flag || !(pid 3) && tid 11", true);
    /* and before or */
    expect("pid 10 or pid 11 and pid 12", true);
    expect("(pid 10 or pid 11) and pid 12", false);
    expect("not not pid 10", true);
    expect("\n ( pid\t10 ) ", true);
}
END_TEST

/* What a type alone settles. */
START_TEST(decided)
{
    expect_decided("event \"shop:*\"", layout, 1);
    expect_decided("event \"x\"", layout, 0);
    expect_decided("pid 10", layout, -1);
    expect_decided("pid 10 and event \"x\"", layout, 0);
    expect_decided("event \"x\" and pid 10", layout, 0);
    expect_decided("pid 10 or event \"shop:*\"", layout, 1);
    expect_decided("pid 10 or event \"x\"", layout, -1);
    expect_decided("pid 10 and event \"shop:*\"", layout, -1);
    expect_decided("not pid 10", layout, -1);
    expect_decided("side == buy", layout, -1);
    expect_decided("side == buy", NULL, 0);
    expect_decided("nothing == 1", layout, 0);
    expect_decided("not nothing == 1", layout, 1);
    expect_decided("group \"shop\" and flag", layout, -1);
}
END_TEST

/* Data that is not of the description: the fields that are whole count. */
START_TEST(cut)
{
    posixtrace_expression_t *side = parse("side == sell"), *symbol = parse("symbol ~ \"*\"");
    struct posixtrace_event e = order;

    for (size_t len = 0; len <= sizeof data; len++) {
        e.data_len = len;
        ck_assert_int_eq(posixtrace_expression_match(side, &e, layout), len >= 1);
        ck_assert_int_eq(posixtrace_expression_match(symbol, &e, layout), len >= 13);
        ck_assert(!posixtrace_expression_match(side, &e, NULL));
    }
    posixtrace_expression_free(side);
    posixtrace_expression_free(symbol);
}
END_TEST

START_TEST(faults)
{
    char deep[200], *at = deep, *text;
    posixtrace_expression_t *e;

    expect_fault("pi\033[1md > 1", 3, "found '?[1md'");
    expect_fault("", 1, "the name of a field");
    expect_fault("pid", 4, "a number is expected");
    expect_fault("pid 10 and", 11, "the name of a field");
    expect_fault("pid \"a\"", 5, "a number is expected");
    expect_fault("event 5", 7, "a string is expected");
    expect_fault("a ~ 5", 5, "a pattern as a string");
    expect_fault("a < \"b\"", 5, "compared by ==, != and ~");
    expect_fault("a < b", 5, "by == and != only");
    expect_fault("a == \"b", 6, "no end");
    expect_fault("(a", 3, "not closed");
    expect_fault("a)", 2, "and, or or the end");
    expect_fault("a b", 3, "and, or or the end");
    expect_fault("a == 5x", 6, "a number is expected");
    expect_fault("a == 99999999999999999999", 6, "a number is expected");
    expect_fault("5 == a", 1, "the name of a field");
    for (int i = 0; i < 17; i++)
        at = stpcpy(at, "(");
    stpcpy(at, "a");
    expect_fault(deep, 17, "more than 16");
    text = malloc(POSIXTRACE_EXPRESSION_MAX + 2);
    memset(text, 'a', POSIXTRACE_EXPRESSION_MAX + 1);
    text[POSIXTRACE_EXPRESSION_MAX + 1] = '\0';
    ck_assert_int_eq(posixtrace_expression_parse(text, &e, NULL), ENAMETOOLONG);
    text[POSIXTRACE_EXPRESSION_MAX] = '\0';
    ck_assert_int_eq(posixtrace_expression_parse(text, &e, NULL), 0);
    posixtrace_expression_free(e);
    ck_assert_int_eq(posixtrace_expression_parse(NULL, &e, NULL), EINVAL);
    free(text);
}
END_TEST

/* As many tests as fit. */
START_TEST(many)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 1], *at = stpcpy(text, "a");
    posixtrace_expression_t *e;

    while (at + 5 < text + sizeof text)
        at = stpcpy(at, "||!a");
    e = parse(text);
    ck_assert(posixtrace_expression_match(e, &order, layout));
    ck_assert(posixtrace_expression_needs_fields(e));
    posixtrace_expression_free(e);
}
END_TEST

static void prepare(TCase *c)
{
    tcase_add_checked_fixture(c, begin, end);
}

static void add(TCase *c)
{
    tcase_add_test(c, names);
    tcase_add_test(c, further_descriptions);
    tcase_add_test(c, names_in_it);
    tcase_add_test(c, kinds);
    tcase_add_test(c, numbers);
    tcase_add_test(c, fields);
    tcase_add_test(c, exact);
    tcase_add_test(c, comma);
    tcase_add_test(c, connected);
    tcase_add_test(c, decided);
    tcase_add_test(c, cut);
    tcase_add_test(c, faults);
    tcase_add_test(c, many);
}

int main(void)
{
    return run_suite("expression", "expression", prepare, add);
}
