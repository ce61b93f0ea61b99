/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/emit.h: what a line traces, how it describes it, and what it leaves alone.
 * The same file is built as C and, through emit_cxx.cpp, as C++.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#define POSIXTRACE_EMIT_STRINGS 10
#include <posixtrace/emit.h>
#include "support/run_suite.h"

static trace_id_t trid;

static void begin(void)
{
    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
}

static void end(void)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

/* The next event of the program's own. */
static struct posixtrace_event next(void)
{
    struct posixtrace_event e;
    int none;

    do {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        ck_assert_msg(!none, "no event left");
    } while (e.id < POSIX_TRACE_UNNAMED_USEREVENT);
    return e;
}

static void expect_none(void)
{
    struct posixtrace_event e;
    int none;

    do
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
    while (!none && e.id < POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert(none);
}

/* The next event has this name and description, and its data reads so. */
static void expect(const char *name, const char *description, const char *text)
{
    struct posixtrace_event e = next();
    char is[POSIXTRACE_DESCRIPTION_MAX + 1];
    posixtrace_layout_t *layout;

    ck_assert_str_eq(e.name, name);
    ck_assert_int_eq(posixtrace_event_description(trid, e.id, is, sizeof is), 0);
    ck_assert_str_eq(strncmp(is, "be; ", 4) ? is : is + 4, description);
    ck_assert_int_eq(posixtrace_layout_parse(is, &layout, NULL), 0);
    ck_assert_uint_gt(posixtrace_layout_text(layout, e.data, e.data_len, is, sizeof is), 0);
    ck_assert_str_eq(is, text);
    posixtrace_layout_free(layout);
}

#if __SIZEOF_LONG__ == 8
#define LONG "64"
#else
#define LONG "32"
#endif

START_TEST(types)
{
    bool yes = true;
    char letter = 'x';
    signed char i8 = -8;
    unsigned char u8 = 200;
    short i16 = -16;
    unsigned short u16 = 60000;
    int i32 = -32;
    unsigned u32 = 4000000000u;
    long il = -1;
    unsigned long ul = 1;
    long long i64 = -64;
    unsigned long long u64 = 18446744073709551615ull;
    float f32 = 0.1f;
    double f64 = 0.1;

    POSIXTRACE_EVENT("types", yes, letter, i8, u8, i16, u16, i32, u32, il, ul, i64, u64, f32, f64);
    expect("types",
           "bool yes; char letter; i8 i8; u8 u8; i16 i16; u16 u16; i32 i32; u32 u32; "
           "i" LONG " il; u" LONG " ul; i64 i64; u64 u64; f32 f32; f64 f64",
           "yes=true letter=\"x\" i8=-8 u8=200 i16=-16 u16=60000 i32=-32 u32=4000000000 il=-1 "
           "ul=1 i64=-64 u64=18446744073709551615 f32=0.1 f64=0.1");
}
END_TEST

enum { EACH = 6 }; /* the first ones of a thread take other paths */

/* At most 16 bytes pass in registers: fields at all places in the two words. */
START_TEST(in_words)
{
    signed char i8 = -8;
    unsigned short u16 = 60000;
    int i32 = -32;
    unsigned u32 = 4000000000u;
    long long i64 = -64;
    unsigned long long u64 = 0x123456789abcdef0u;
    float f32 = 0.1f;
    double f64 = 0.1;

    for (int i = 0; i < EACH; i++) {
        POSIXTRACE_EVENT("byte", i8);
        POSIXTRACE_EVENT("three", i8, u16);
        POSIXTRACE_EVENT("one word", f32, i32);
        POSIXTRACE_EVENT("nine", i8, u64);
        POSIXTRACE_EVENT("astride", i32, i64);
        POSIXTRACE_EVENT("thirteen", i8, f64, u32);
        POSIXTRACE_EVENT("fifteen", u16, i8, u64, f32);
        POSIXTRACE_EVENT("two words", i64, u64);
        POSIXTRACE_EVENT("more", i64, u64, i8);
    }
    for (int i = 0; i < EACH; i++) {
        expect("byte", "i8 i8", "i8=-8");
        expect("three", "i8 i8; u16 u16", "i8=-8 u16=60000");
        expect("one word", "f32 f32; i32 i32", "f32=0.1 i32=-32");
        expect("nine", "i8 i8; u64 u64", "i8=-8 u64=1311768467463790320");
        expect("astride", "i32 i32; i64 i64", "i32=-32 i64=-64");
        expect("thirteen", "i8 i8; f64 f64; u32 u32", "i8=-8 f64=0.1 u32=4000000000");
        expect("fifteen", "u16 u16; i8 i8; u64 u64; f32 f32",
               "u16=60000 i8=-8 u64=1311768467463790320 f32=0.1");
        expect("two words", "i64 i64; u64 u64", "i64=-64 u64=1311768467463790320");
        expect("more", "i64 i64; u64 u64; i8 i8", "i64=-64 u64=1311768467463790320 i8=-8");
    }
}
END_TEST

/* The functions of the macros: a size is no more than that of the words. */
START_TEST(functions_of_words)
{
    const uint64_t data[2] = { 0x1122334455667788u, 0x99aabbccddeeff00u };
    const size_t sizes[] = { 0, 1, 8, 9, 15, 16, 17, SIZE_MAX };

    for (unsigned i = 0; i < EACH; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            posixtrace_event_word(POSIX_TRACE_UNNAMED_USEREVENT, sizes[k], data[0]);
            posixtrace_event_words(POSIX_TRACE_UNNAMED_USEREVENT, sizes[k], data[0], data[1]);
        }
    }
    posixtrace_event_words(TRACE_USER_EVENT_MAX + 1000, 16, 1, 2);
    posixtrace_event_word(POSIX_TRACE_START, 8, 1);
    for (unsigned i = 0; i < EACH; i++) {
        for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
            size_t most = k % 2 ? 16 : 8, size = sizes[k / 2] < most ? sizes[k / 2] : most;
            struct posixtrace_event e = next();

            ck_assert_uint_eq(e.id, POSIX_TRACE_UNNAMED_USEREVENT);
            ck_assert_uint_eq(e.data_len, size);
            ck_assert_int_eq(memcmp(e.data, data, size), 0);
        }
    }
    expect_none();
}
END_TEST

static __attribute__((noinline)) void trace_last(int a, long b)
{
    POSIXTRACE_EVENT("last", a, b);
}

/* The event of a line that is a function's last has an address in that function. */
START_TEST(address_of_last)
{
    struct posixtrace_event e;
    uintptr_t start = (uintptr_t)trace_last;

    trace_last(1, 2);
    e = next();
    ck_assert_uint_gt(e.prog_address, start);
    ck_assert_uint_lt(e.prog_address, start + 4096);
}
END_TEST

START_TEST(addresses)
{
    void *where = (void *)(uintptr_t)0x1230;
    const void *there = where;
    char description[40], *at = description;

    at += snprintf(at, 20, "x%d where; ", (int)sizeof where * 8);
    snprintf(at, 20, "x%d there", (int)sizeof where * 8);
    POSIXTRACE_EVENT("addresses", where, there);
    expect("addresses", description, "where=0x1230 there=0x1230");
}
END_TEST

START_TEST(strings)
{
    char own[8] = "own";
    const char *none = NULL, *longer = "0123456789";
    int last = 7;

    POSIXTRACE_EVENT("strings", own, none, last);
    expect("strings", "str own; str none; i32 last", "own=\"own\" none=\"\" last=7");
    /* ten bytes in all: what goes before takes them */
    POSIXTRACE_EVENT("cut", own, longer, none, own, last);
    expect("cut", "str own; str longer; str none; str arg4; i32 last",
           "own=\"own\" longer=\"0123456\" none=\"\" arg4=\"\" last=7");
}
END_TEST

START_TEST(spans)
{
    char request[] = "get key42 0", *key = request + 4;
    const char *none = NULL;
    int last = 7;

    POSIXTRACE_EVENT("spans", posixtrace_text(key, 5), posixtrace_text(none, 3), last);
    expect("spans", "str key; str none; i32 last", "key=\"key42\" none=\"\" last=7");
    /* up to a NUL, and ten bytes in all */
    POSIXTRACE_EVENT("short", posixtrace_text("a\0b", 3), posixtrace_text(request, 11),
                     posixtrace_text(key, 0), last);
    expect("short", "str arg1; str request; str key; i32 last",
           "arg1=\"a\" request=\"get key42\" key=\"\" last=7");
}
END_TEST

struct box {
    struct {
        int depth;
    } inner;
    int counts[2];
};

static int size_of(int n)
{
    return 2 * n;
}

START_TEST(names)
{
    struct box box = { { 4 }, { 5, 6 } }, *p = &box;

    POSIXTRACE_EVENT("names", p->inner.depth, box.counts[1], size_of(3), (int)7u, 8, "nine",
                     -p->counts[0]);
    expect("names", "i32 depth; i32 counts; i32 size_of; i32 arg4; i32 arg5; str arg6; i32 arg7",
           "depth=4 counts=6 size_of=6 arg4=7 arg5=8 arg6=\"nine\" arg7=-5");
}
END_TEST

START_TEST(bare)
{
    struct posixtrace_event e;
    char is[POSIXTRACE_DESCRIPTION_MAX + 1];

    POSIXTRACE_EVENT("bare");
    e = next();
    ck_assert_str_eq(e.name, "bare");
    ck_assert_uint_eq(e.data_len, 0);
    ck_assert_int_eq(posixtrace_event_description(trid, e.id, is, sizeof is), ENOENT);
}
END_TEST

POSIXTRACE_EVENT_TYPE(order, "order.made", (uint32_t, number), (double, price),
                      (const char *, symbol))
POSIXTRACE_EVENT_TYPE(tick, "tick", (uint8_t, n))

START_TEST(functions)
{
    trace_order(5, 1.5, "ABC");
    expect("order.made", "u32 number; f64 price; str symbol", "number=5 price=1.5 symbol=\"ABC\"");
    trace_tick(300 - 45);
    expect("tick", "u8 n", "n=255");
}
END_TEST

static void once(int i, const char *word)
{
    POSIXTRACE_EVENT("once", i, word);
}

START_TEST(unwanted)
{
    trace_event_set_t set;
    trace_event_id_t id;
    const char *word = "c";
    int i = 0;

    once(1, "a");
    next();
    ck_assert_int_eq(posix_trace_eventid_open("once", &id), 0);
    ck_assert_int_ne(posixtrace_event_wanted(id), 0);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(id, &set);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posixtrace_event_wanted(id), 0);
    once(2, "b");
    POSIXTRACE_EVENT("once", i++, word);
    ck_assert_int_eq(i, 1);
    expect_none();
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    once(3, "d");
    expect("once", "i32 i; str word", "i=3 word=\"d\"");
    ck_assert_int_eq(posixtrace_event_wanted(TRACE_USER_EVENT_MAX + 1000), 0);
}
END_TEST

START_TEST(described_before)
{
    int side = 1;

    ck_assert_int_eq(posixtrace_event_describe("trade", "i32 side {buy, sell}", NULL), 0);
    POSIXTRACE_EVENT("trade", side);
    expect("trade", "i32 side {buy, sell}", "side=sell");
}
END_TEST

/* Lines that give one name to other types, names or orders of fields, all of one size. */
START_TEST(described_again)
{
    int a = 7, id = 1, price = 100;
    float f = 1.5f;
    unsigned u = 4000000000u;

    for (int i = 0; i < 2; i++) {
        POSIXTRACE_EVENT("level", a);
        expect("level", "i32 a", "a=7");
        POSIXTRACE_EVENT("level", f);
        expect("level#2", "f32 f", "f=1.5");
        POSIXTRACE_EVENT("level", u);
        expect("level#3", "u32 u", "u=4000000000");
        POSIXTRACE_EVENT("level", f);
        expect("level#2", "f32 f", "f=1.5");
        POSIXTRACE_EVENT("buy", id, price);
        expect("buy", "i32 id; i32 price", "id=1 price=100");
        POSIXTRACE_EVENT("buy", price, id);
        expect("buy#2", "i32 price; i32 id", "price=100 id=1");
    }
}
END_TEST

START_TEST(long_double)
{
    long double quarter = 1.0L / 4;

    POSIXTRACE_EVENT("long", quarter, 1.5L);
    expect("long", "f64 quarter; f64 arg2", "quarter=0.25 arg2=1.5");
}
END_TEST

#ifdef __cplusplus
enum class colour : unsigned char { red, green = 200 };
enum plain_enum { nothing = -1 };
struct constants {
    static const int most = 7;
}; /* no definition: its address is not taken */
struct bits {
    unsigned five : 5;
    volatile int rest;
};

static std::string made(const char *text)
{
    return std::string(text) + "!";
}

START_TEST(classes)
{
    std::string word = "word", with_nul("a\0b", 3);
    const std::string empty;
    std::string_view part = std::string_view("abcdef").substr(1, 2);
    struct bits b = { 21, -5 };

    POSIXTRACE_EVENT("word", word, part);
    expect("word", "str word; str part", "word=\"word\" part=\"bc\"");
    POSIXTRACE_EVENT("made", made("temp"), empty, with_nul);
    expect("made", "str made; str empty; str with_nul", "made=\"temp!\" empty=\"\" with_nul=\"a\"");
    POSIXTRACE_EVENT("cut class", made("0123456789ab"), word);
    expect("cut class", "str made; str word", "made=\"0123456789\" word=\"\"");
    POSIXTRACE_EVENT("enum", colour::green, nothing, constants::most, b.five, b.rest);
    expect("enum", "u8 green; i32 nothing; i32 most; u32 five; i32 rest",
           "green=200 nothing=-1 most=7 five=21 rest=-5");
}
END_TEST

extern "C++" {
template <typename T> static void emit_any(T v)
{
    POSIXTRACE_EVENT("any", v);
}
}

START_TEST(templates)
{
    emit_any(1.5);
    expect("any", "f64 v", "v=1.5");
    emit_any(7ll);
    expect("any#2", "i64 v", "v=7");
    emit_any(2.5);
    expect("any", "f64 v", "v=2.5");
}
END_TEST
#endif

/* A description of the same values that says more of them is kept; any other is not theirs. */
START_TEST(described_otherwise)
{
    uint32_t mask = 255, flags = 1;
    int side = 1;

    ck_assert_int_eq(posixtrace_event_describe("mask", "x32 mask {none, one}", NULL), 0);
    POSIXTRACE_EVENT("mask", mask);
    expect("mask", "x32 mask {none, one}", "mask=0xff");
    ck_assert_int_eq(posixtrace_event_describe("flags", "i32 flags", NULL), 0);
    POSIXTRACE_EVENT("flags", flags);
    expect("flags#2", "u32 flags", "flags=1");
    ck_assert_int_eq(posixtrace_event_describe("sides", "u16 low; u16 high", NULL), 0);
    POSIXTRACE_EVENT("sides", side);
    expect("sides#2", "i32 side", "side=1");
    ck_assert_int_eq(posixtrace_event_describe("later", "i32 other", NULL), 0);
    ck_assert_int_eq(posixtrace_event_describe("later#2", "u8 a; u8 b; u16 c", NULL), 0);
    POSIXTRACE_EVENT("later", side);
    expect("later#3", "i32 side", "side=1");
}
END_TEST

/* The mark has room in the longest name; a character of several bytes is not cut in two. */
START_TEST(longest_name)
{
    char name[TRACE_EVENT_NAME_MAX + 1], marked[sizeof name];
    float other = 0.5f;
    int a = 1;

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name + sizeof name - 1 - 4, "\xf0\x9f\x98\x80", 4);
    memcpy(marked, name, sizeof name);
    strcpy(marked + sizeof name - 1 - 4, "#2");
    POSIXTRACE_EVENT(name, a);
    expect(name, "i32 a", "a=1");
    POSIXTRACE_EVENT(name, other);
    expect(marked, "f32 other", "other=0.5");
}
END_TEST

/* Arguments that are called as the names that the library makes up. */
START_TEST(made_up_names)
{
    int arg2 = 1;

    POSIXTRACE_EVENT("made up", arg2, 5, 6);
    expect("made up", "i32 arg2; i32 arg3; i32 arg4", "arg2=1 arg3=5 arg4=6");
}
END_TEST

/* What stays undescribed for want of a type or of words is not read as described by others. */
START_TEST(not_describable)
{
    const char *words[] = { "f99" }, *fields[] = { "a" };
    trace_event_id_t site = 0;

    ck_assert_uint_eq(posixtrace_site_open(&site, "no words", words, fields, 1), 0);
    ck_assert_uint_eq(site, 0);
}
END_TEST

enum { RACERS = 4, RACES = 50 };

static pthread_barrier_t start;

struct racer {
    int number;
    trace_event_id_t id[RACES];
};

/* Two threads each have the same description of a type, and each pair another. */
static void *race(void *argument)
{
    struct racer *me = (struct racer *)argument;
    const char *words[] = { me->number & 1 ? "f32" : "i32" }, *fields[] = { "value" };

    for (int i = 0; i < RACES; i++) {
        trace_event_id_t site = 0;
        char name[16];

        snprintf(name, sizeof name, "race %d", i);
        pthread_barrier_wait(&start);
        me->id[i] = posixtrace_site_open(&site, name, words, fields, 1);
    }
    return NULL;
}

START_TEST(described_at_once)
{
    struct racer racer[RACERS];
    pthread_t thread[RACERS];
    char is[POSIXTRACE_DESCRIPTION_MAX + 1];

    ck_assert_int_eq(pthread_barrier_init(&start, NULL, RACERS), 0);
    for (int i = 0; i < RACERS; i++) {
        racer[i].number = i;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, race, &racer[i]), 0);
    }
    for (int i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < RACES; i++) {
        ck_assert_uint_eq(racer[0].id[i], racer[2].id[i]);
        ck_assert_uint_eq(racer[1].id[i], racer[3].id[i]);
        ck_assert_uint_ne(racer[0].id[i], racer[1].id[i]);
        for (int k = 0; k < 2; k++) {
            ck_assert_int_eq(posixtrace_event_description(trid, racer[k].id[i], is, sizeof is), 0);
            ck_assert_ptr_nonnull(strstr(is, k ? "f32 value" : "i32 value"));
        }
    }
}
END_TEST

static void *emit_many(void *argument)
{
    int *lane = (int *)argument;

    for (int i = 0; i < 100; i++)
        POSIXTRACE_EVENT("many", *lane, i);
    return NULL;
}

/* Several threads run the line first. */
START_TEST(threads)
{
    pthread_t thread[4];
    int lane[4], seen[4] = { 0 };

    for (int i = 0; i < 4; i++) {
        lane[i] = i;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, emit_many, &lane[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 400; i++) {
        struct posixtrace_event e = next();
        int data[2];

        ck_assert_str_eq(e.name, "many");
        ck_assert_uint_eq(e.data_len, sizeof data);
        memcpy(data, e.data, sizeof data);
        ck_assert_int_eq(data[1], seen[data[0]]++);
    }
    expect_none();
}
END_TEST

/* No type is left for a further description: the data is not read by another one. */
START_TEST(no_more_types)
{
    char name[16], is[POSIXTRACE_DESCRIPTION_MAX + 1];
    struct posixtrace_event e;
    trace_event_id_t id = 0;
    float other = 0.5f;
    int a = 1;

    POSIXTRACE_EVENT("full", a);
    expect("full", "i32 a", "a=1");
    for (int i = 0; id != POSIX_TRACE_UNNAMED_USEREVENT; i++) {
        snprintf(name, sizeof name, "type %d", i);
        ck_assert_int_eq(posix_trace_eventid_open(name, &id), 0);
    }
    POSIXTRACE_EVENT("full", other);
    e = next();
    ck_assert_uint_eq(e.id, POSIX_TRACE_UNNAMED_USEREVENT);
    ck_assert_uint_eq(e.data_len, sizeof other);
    ck_assert_int_eq(posixtrace_event_description(trid, e.id, is, sizeof is), ENOENT);
    POSIXTRACE_EVENT("full", a);
    expect("full", "i32 a", "a=1");
}
END_TEST

/* A string is stored, not passed in words, however few bytes strings have. */
#undef POSIXTRACE_EMIT_STRINGS
#define POSIXTRACE_EMIT_STRINGS 4
START_TEST(few_bytes_for_strings)
{
    const char *text = "shortened";

    POSIXTRACE_EVENT("few", text);
    expect("few", "str text", "text=\"shor\"");
}
END_TEST

static void prepare(TCase *c)
{
    tcase_add_checked_fixture(c, begin, end);
}

static void add(TCase *c)
{
    tcase_add_test(c, types);
    tcase_add_test(c, long_double);
    tcase_add_test(c, in_words);
    tcase_add_test(c, functions_of_words);
    tcase_add_test(c, address_of_last);
    tcase_add_test(c, addresses);
    tcase_add_test(c, strings);
    tcase_add_test(c, spans);
    tcase_add_test(c, few_bytes_for_strings);
    tcase_add_test(c, names);
    tcase_add_test(c, bare);
    tcase_add_test(c, functions);
    tcase_add_test(c, unwanted);
    tcase_add_test(c, described_before);
    tcase_add_test(c, described_again);
#ifdef __cplusplus
    tcase_add_test(c, templates);
    tcase_add_test(c, classes);
#endif
    tcase_add_test(c, described_otherwise);
    tcase_add_test(c, longest_name);
    tcase_add_test(c, made_up_names);
    tcase_add_test(c, not_describable);
    tcase_add_test(c, described_at_once);
    tcase_add_test(c, threads);
    tcase_add_test(c, no_more_types);
}

int main(void)
{
    return run_suite("emit", "emit", prepare, add);
}
