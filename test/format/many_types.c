/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * many_types LOG SEED EVENTS THREADS: a log with types of all descriptions that there
 * are, data that fits them and data that does not, and names of all kinds of bytes.
 * The same arguments give the same events.  Types: the descriptions are on standard
 * output, one a line, "NAME<tab>DESCRIPTION", with NAME in hex.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/log.h>
#include <posixtrace/typed.h>

#define NEED(condition)                                                             \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static uint64_t state;

static uint64_t any(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 29;
}

static const struct type {
    const char *name, *description;
} types[] = {
    { "order", "u32 order; f64 price; str symbol; u8 side {buy, sell}" },
    { "integers", "u8 a; u16 b; u32 c; u64 d; i8 e; i16 f; i32 g; i64 h" },
    { "hex", "x8 a; x16 b; x32 c; x64 d" },
    { "big", "be; u8 a; u16 b; u32 c; u64 d; i16 e; i32 f; i64 g; x16 h; x32 i; f32 j; f64 k" },
    { "floats", "f32 a; f64 b; f32[3] c; f64:u8 d" },
    { "flags", "bool a; bool[3] b; bool:u8 c; u8 d" },
    { "characters", "char a; char[5] b; char:u16 c" },
    { "strings", "str a; str[8] b; str:u8 c; str:u32 d" },
    { "octets", "bytes[4] a; bytes:u16 b; bytes c" },
    { "arrays", "u16[3] a; i32:u8 b; x64:u16 c; u8[2] d" },
    { "big arrays", "be; u16[3] a; i32:u8 b; x64:u16 c; f32:u32 d; bytes e" },
    { "enums", "i8 a {minus=-3, zero=0, same=0, far=300}; u64 b {top=-1, one=1}; "
               "x16[2] c {k=7, k=8}; be_ d" },
    { "enums:ok", "i8 a {minus=-3, zero=0, same=0, far=300}; u64 b {top=-1, one=1}; "
                  "x16[2] c {k=7, k=8}; i32:u8 d {yes=1}" },
    { "keywords", "u8 event; u8 struct; u8 string; u8 _id; u8 __x; u8 enum; u8 integer; u8 int" },
    { "lengths", "u8:u8 a; u8 _a_length; u8:u8 b; u8 _b_length_" },
    { "rest", "bytes all" },
    { "quote\"s and \\ back\nslash", "str text" },
    { "caf\xc3\xa9:\x01", "u8 x" },
    { "*/ // x;}; event { %s%n ?\?/", "u8 x" },
    { "undescribed", NULL },
    { "nothing", NULL },
};
#define TYPES (sizeof types / sizeof *types)

static uint8_t data[4096];

static uint8_t *put_string(uint8_t *to, size_t most)
{
    static const char letters[] = "abcXYZ 0129_=,{}\"\\\xc3\xa9";
    size_t n = any() % (most + 1);

    for (size_t i = 0; i < n; i++)
        *to++ = (uint8_t)letters[any() % (sizeof letters - 3)];
    return to;
}

static uint8_t *put_count(uint8_t *to, unsigned bits, bool big, uint64_t n)
{
    for (unsigned i = 0; i < bits / 8; i++)
        *to++ = (uint8_t)(n >> 8 * (big ? bits / 8 - 1 - i : i));
    return to;
}

static uint8_t *put_field(uint8_t *to, const struct posixtrace_field *f, bool big)
{
    bool text = f->kind == POSIXTRACE_FIELD_STRING;
    size_t n = f->count_bits ? any() % 5 : f->count;
    uint8_t *at;

    if (text && !f->count_bits && !f->count) {
        to = put_string(to, 9);
        *to++ = '\0';
        return to;
    }
    if (f->kind == POSIXTRACE_FIELD_BYTES && !f->count_bits && !f->count)
        n = any() % 20;
    to = put_count(to, f->count_bits, big, n);
    at = to;
    for (size_t i = 0; i < n * f->bits / 8; i++)
        *to++ = (uint8_t)any();
    if (f->kind == POSIXTRACE_FIELD_BOOL)
        for (size_t i = 0; i < n; i++)
            at[i] &= 1;
    if (f->enumerator_count && any() % 4)
        put_count(at, f->bits, big, (uint64_t)f->enumerators[any() % f->enumerator_count].value);
    if (text || f->kind == POSIXTRACE_FIELD_CHAR) {
        memset(at, 'p', n);
        if (n && text && !f->count_bits)
            at[any() % n] = '\0';
    }
    return to;
}

static size_t make_data(const posixtrace_layout_t *layout)
{
    uint8_t *to = data;

    if (!layout) {
        size_t n = any() % 12;

        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)any();
        return n;
    }
    for (size_t i = 0; i < posixtrace_layout_count(layout); i++)
        to = put_field(to, posixtrace_layout_field(layout, i),
                       posixtrace_layout_is_big_endian(layout));
    if (any() % 16 == 0 && to > data)
        to -= 1 + any() % (size_t)(to - data);
    else if (any() % 32 == 0)
        to += 1;
    return (size_t)(to - data);
}

static void add(posixtrace_log_builder_t *b, posixtrace_layout_t *const *layouts, int64_t ns,
                unsigned threads)
{
    static const char *const names[] = { "main", "worker \"1\"", "", "fifteen-letters",
                                         "caf\xc3\xa9" };
    unsigned thread = (unsigned)(any() % threads);
    size_t type = any() % TYPES;
    struct posixtrace_event e = {
        .ns = ns,
        .pid = (pid_t)(100 + thread % 7),
        .tid = (pid_t)(1000 + thread),
        .thread_id = 0x7f0000000000u + thread * 0x1000u,
        .prog_address = any(),
        .thread_name = names[(thread + (any() % 50 == 0)) % 5],
        .name = types[type].name,
        .data = data,
    };

    e.data_len = strcmp(e.name, "nothing") ? make_data(layouts[type]) : 0;
    e.truncation = any() % 40 ? POSIX_TRACE_NOT_TRUNCATED : POSIX_TRACE_TRUNCATED_RECORD;
    if (any() % 200 == 0) {
        e.tid = 0;
        e.name = "posix_trace_start";
    }
    NEED(posixtrace_log_builder_add(b, &e, sizeof e) == 0);
}

static void describe(posixtrace_log_builder_t *b, posixtrace_layout_t **layouts)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (!types[i].description ||
            posixtrace_layout_parse(types[i].description, &layouts[i], NULL) != 0)
            continue;
        NEED(posixtrace_log_builder_describe(b, types[i].name, types[i].description) == 0);
        for (const char *p = types[i].name; *p; p++)
            printf("%02x", (unsigned char)*p);
        printf("\t%s\n", types[i].description);
    }
}

int main(int argc, char **argv)
{
    posixtrace_layout_t *layouts[TYPES] = { NULL };
    posixtrace_log_builder_t *b;
    int64_t ns;
    int fd;

    NEED(argc == 6);
    fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666);
    NEED(fd >= 0);
    NEED(posixtrace_log_builder_create(fd, NULL, &b) == 0);
    state = strtoull(argv[2], NULL, 0);
    ns = strtoll(argv[5], NULL, 0);
    describe(b, layouts);
    for (long n = atol(argv[3]); n > 0; n--) {
        add(b, layouts, ns, (unsigned)atoi(argv[4]));
        ns += 1 + (int64_t)(any() % 1000000);
    }
    NEED(posixtrace_log_builder_finish(b) == 0);
    close(fd);
    for (size_t i = 0; i < TYPES; i++)
        posixtrace_layout_free(layouts[i]);
    return 0;
}
