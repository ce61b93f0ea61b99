/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * QNX's parser: the callbacks that can be set, refused values, any data, pipes, and .kev files if
 * this build imports them.
 */
#include <endian.h>
#include "compat/qnx/qnx.h"
#include "qnx_log.h"

/* ---- callbacks ---- */

START_TEST(ranges)
{
    struct traceparser_state *p = new_parser();
    char name[40];

    begin_log();
    for (unsigned i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "qnx:USER:%u", i);
        describe(name, HEAD "x32 d0; x32 d1");
        put(name, 1, "\0\0\1\0\0\0\2\0\0\0", 10);
    }
    describe("qnx:THREAD:DEAD", HEAD "u32 pid; u32 tid");
    describe("qnx:THREAD:READY", HEAD "u32 pid; u32 tid");
    put("qnx:THREAD:DEAD", 1, "\0\0\1\0\0\0\2\0\0\0", 10);
    put("qnx:THREAD:READY", 1, "\0\0\1\0\0\0\2\0\0\0", 10);
    end_log();
    WORKS(traceparser_cs_range(p, "a ", tell, _NTO_TRACE_USER, 1, 4));
    WORKS(traceparser_cs(p, "b ", tell, _NTO_TRACE_USER, 3));
    WORKS(traceparser_cs(p, NULL, NULL, _NTO_TRACE_USER, 2));
    WORKS(traceparser_cs_range(p, NULL, tell, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING,
                               _NTO_TRACE_THDESTROY));
    WORKS(traceparser(p, "c ", path));
    ck_assert_str_eq(told, "a 12/1 00001801 @1001: 1 2\n"
                           "b 12/3 00001803 @1003: 1 2\n"
                           "a 12/4 00001804 @1004: 1 2\n"
                           "c 10/4 00001002 @1007: 1 2\n");
    /* As new. */
    *told = '\0';
    ck_assert_ptr_eq(traceparser_init(p), p);
    WORKS(traceparser(p, "c ", path));
    ck_assert_str_eq(told, "");
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

static const struct {
    unsigned event_class, first, last, error;
} wrong[] = {
    { 21, 0, 0, _TRACEPARSER_UNKNOWN_CLASS },
    { 0xffffffff, 0, 1, _TRACEPARSER_UNKNOWN_CLASS },
    { _NTO_TRACE_THREAD, 0, 0, _TRACEPARSER_UNKNOWN_PR_TH_EVENT },
    { _NTO_TRACE_THREAD, 3, 3, _TRACEPARSER_UNKNOWN_PR_TH_EVENT },
    { _NTO_TRACE_PROCESS, 32, 0xffffffff, _TRACEPARSER_UNKNOWN_PR_TH_EVENT },
    { _NTO_TRACE_CONTROL, 1024, 1024, _TRACEPARSER_UNKNOWN_CONTROL_EVENT },
    { _NTO_TRACE_KERCALL, 2, 1, _TRACEPARSER_UNKNOWN_KER_CALL_EVENT },
    { _NTO_TRACE_KERCALLEXIT, 0, 1024, _TRACEPARSER_UNKNOWN_KER_CALL_EVENT },
    { _NTO_TRACE_INT, 0, 1, _TRACEPARSER_UNKNOWN_INT_EVENT },
    { _NTO_TRACE_INTEXIT, 5, 5, _TRACEPARSER_UNKNOWN_INT_EVENT },
    { _NTO_TRACE_SYSTEM, 0, 0xffffffff, _TRACEPARSER_UNKNOWN_CONTAINER_EVENT },
    { _NTO_TRACE_USER, 1, 0, _TRACEPARSER_UNKNOWN_USR_EVENT },
    { _NTO_TRACE_COMM, 1, 4096, _TRACEPARSER_UNKNOWN_COMM_EVENT },
    { _NTO_TRACE_QUIP, 1, 4096, _TRACEPARSER_UNKNOWN_ERROR },
};

START_TEST(wrong_ranges)
{
    struct traceparser_state *p = new_parser();

    FAILS(
        traceparser_cs_range(p, NULL, tell, wrong[_i].event_class, wrong[_i].first, wrong[_i].last),
        EINVAL);
    ck_assert_uint_eq(error_of(p), wrong[_i].error);
    ck_assert_str_ne(traceparser_get_info(p, _TRACEPARSER_INFO_ERROR_STR, NULL), "");
    traceparser_destroy(&p);
}
END_TEST

START_TEST(many_callbacks)
{
    struct traceparser_state *p = new_parser();
    static char data[100000];
    unsigned i = 0;

    errno = 0;
    while (i < sizeof data && traceparser_cs(p, &data[i], tell, _NTO_TRACE_USER, i % 1024) == 0)
        i++;
    ck_assert_uint_ge(i, 60000);
    ck_assert_int_eq(errno, ENOMEM);
    ck_assert_uint_eq(error_of(p), _TRACEPARSER_NO_MORE_MEMORY);
    traceparser_destroy(&p);
}
END_TEST

/* ---- refusals ---- */

START_TEST(arguments)
{
    struct traceparser_state *p = new_parser(), *none = NULL;

    traceparser_destroy(NULL);
    traceparser_destroy(&none);
    traceparser_sort(NULL, _TRACEPARSER_SORT);
    FAILS(traceparser_debug(NULL, stderr, 0), EINVAL);
    FAILS(traceparser_debug(p, NULL, _TRACEPARSER_DEBUG_ALL), EINVAL);
    WORKS(traceparser_debug(p, NULL, _TRACEPARSER_DEBUG_NONE));
    FAILS(traceparser_cs(NULL, NULL, tell, _NTO_TRACE_USER, 1), EINVAL);
    FAILS(traceparser(NULL, NULL, "x"), EINVAL);
    FAILS(traceparser(p, NULL, NULL), EINVAL);
    for (int what = -30; what < 40; what++) {
        unsigned length = 77;
        const void *at = traceparser_get_info(p, (info_modes_t)what, &length);

        ck_assert(at ? length > 0 && length != 77 : length == 0);
        ck_assert(at == NULL || (what < 0 && what >= _TRACEPARSER_INFO_ERROR_STR));
        ck_assert_ptr_null(traceparser_get_info(NULL, (info_modes_t)what, NULL));
    }
    ck_assert_ptr_null(posixtrace_qnx_parser_event(NULL));
    traceparser_destroy(&p);
}
END_TEST

static const struct {
    const char *path;
    int number;
    unsigned error;
} unreadable[] = {
    { "/nonexistent", ENOENT, _TRACEPARSER_CANNOT_READ_IN_FILE },
    { "", ENOENT, _TRACEPARSER_CANNOT_READ_IN_FILE },
    { "/", EISDIR, _TRACEPARSER_CANNOT_READ_IN_FILE },
    { "/dev/null", EINVAL, _TRACEPARSER_MISSING_FIELD },
    { "/proc/self/exe", EINVAL, _TRACEPARSER_MISSING_FIELD },
};

START_TEST(cannot_read)
{
    struct traceparser_state *p = new_parser();
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    WORKS(traceparser_debug(p, to, _TRACEPARSER_DEBUG_ERRORS));
    FAILS(traceparser(p, NULL, unreadable[_i].path), unreadable[_i].number);
    ck_assert_uint_eq(error_of(p), unreadable[_i].error);
    fclose(to);
    ck_assert_int_eq(strncmp(text, "traceparser: cannot read ", 25), 0);
    free(text);
    traceparser_destroy(&p);
}
END_TEST

static int nest(struct traceparser_state *parser, void *user_data, unsigned header, uint64_t time,
                unsigned *words, unsigned count)
{
    struct traceparser_state *copy = parser;

    (void)header, (void)time, (void)words, (void)count;
    FAILS(traceparser(parser, NULL, path), EBUSY);
    ck_assert_ptr_null(traceparser_init(parser));
    traceparser_destroy(&copy);
    ck_assert_ptr_eq(copy, parser);
    ck_assert_str_eq(posixtrace_qnx_parser_event(parser)->name, "plain");
    /* Others may be set meanwhile. */
    for (unsigned i = 0; i < 100; i++)
        WORKS(traceparser_cs(parser, path + i % 64, tell, _NTO_TRACE_USER, i));
    ++*(unsigned *)user_data;
    return 0;
}

START_TEST(within_a_callback)
{
    struct traceparser_state *p = new_parser();
    unsigned calls = 0;

    begin_log();
    put("plain", 1, NULL, 0);
    put("plain", 1, NULL, 0);
    end_log();
    WORKS(traceparser_cs(p, NULL, nest, _NTO_TRACE_USER, _NTO_TRACE_USERLAST));
    WORKS(traceparser(p, &calls, path));
    ck_assert_uint_eq(calls, 2);
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

/* Cut at any length: no crash, and all reported events were recorded. */
START_TEST(cut_logs)
{
    char bytes[8192];
    ssize_t length;
    int fd;

    begin_log();
    for (unsigned i = 0; i < 20; i++)
        put("plain", 1, "aaaa", 4);
    end_log();
    fd = open(path, O_RDONLY);
    length = read(fd, bytes, sizeof bytes);
    close(fd);
    ck_assert(length > 500 && length < (ssize_t)sizeof bytes);
    for (ssize_t cut = 0; cut < length; cut += 13) {
        struct traceparser_state *p = new_parser();
        unsigned lines = 0;

        WORKS(truncate(path, 0));
        fd = open(path, O_WRONLY);
        ck_assert_int_eq(write(fd, bytes, (size_t)cut), cut);
        close(fd);
        WORKS(traceparser_cs(p, "", tell, _NTO_TRACE_USER, _NTO_TRACE_USERLAST));
        if (traceparser(p, NULL, path) != 0)
            ck_assert_str_ne(traceparser_get_info(p, _TRACEPARSER_INFO_ERROR_STR, NULL), "");
        for (const char *at = told; (at = strstr(at, "61616161\n")); at++)
            lines++;
        ck_assert_uint_le(lines, 20);
        traceparser_destroy(&p);
    }
    unlink(path);
}
END_TEST

static int read_all(struct traceparser_state *parser, void *user_data, unsigned header,
                    uint64_t time, unsigned *words, unsigned count)
{
    volatile unsigned sum = header;

    (void)time;
    for (unsigned i = 0; i < count; i++)
        sum += words[i];
    (void)sum;
    ck_assert_ptr_nonnull(posixtrace_qnx_parser_event(parser));
    ++*(unsigned *)user_data;
    return 0;
}

/* Names and data of any kind, some of them nearly right: nothing is read that is not there. */
START_TEST(any_events)
{
    static const char *const names[] = { "qnx:",
                                         "qnx::",
                                         "qnx:USER",
                                         "qnx:USER:",
                                         "qnx:USER:1024",
                                         "qnx:USER:99999",
                                         "qnx:USER:7",
                                         "qnx:USER:7.",
                                         "qnx:USER:7.string",
                                         "qnx:THREAD:READY.wide",
                                         "qnx:THREAD:63",
                                         "qnx:PROCESS:CREATE_NAME",
                                         "qnx:INT_ENTR",
                                         "qnx:INT_ENTR:",
                                         "qnx:INT_ENTR:5",
                                         "qnx:KER_CALL64",
                                         "qnx:KER_CALL64:127",
                                         "qnx:SYSTEM64:511",
                                         "qnx:SYSTEM6:5",
                                         "qnx:OTHER",
                                         "qnx:HEADER",
                                         "qnx:LOST",
                                         "qnx:CONTROL:DROPPED",
                                         "plain",
                                         "posixtrace_switch_in",
                                         "posixtrace_switch_out" };
    static uint8_t data[61440];
    struct traceparser_state *p = new_parser();
    unsigned state = 12345, events = 2000, calls = 0;

    begin_log();
    for (unsigned i = 0; i < sizeof names / sizeof *names - 2; i++)
        if (i % 3)
            describe(names[i], i % 3 == 1 ? HEAD "bytes more" : "u16 a; bytes more");
    for (unsigned i = 0; i < events; i++) {
        unsigned name = (state = state * 1103515245 + 12345) >> 16;
        size_t len = (state = state * 1103515245 + 12345) >> 16;

        for (unsigned k = 0; k < 16; k++)
            data[k] = (uint8_t)((state = state * 1103515245 + 12345) >> 20);
        len = i % 50 == 49 ? 61440 - len % 8 : len % 20;
        put(names[name % (sizeof names / sizeof *names)], (int)(i % 3), data, len);
    }
    end_log();
    set_all(p, read_all);
    WORKS(traceparser(p, &calls, path));
    ck_assert_uint_gt(calls, events / 2);
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

/* From a pipe, and what debugging shows. */
START_TEST(standard_input)
{
    struct traceparser_state *p = new_parser();
    char bytes[8192], *text = NULL;
    FILE *to;
    int ends[2], saved = dup(STDIN_FILENO), fd;
    size_t size;
    ssize_t length;

    begin_log();
    describe("qnx:USER:5", HEAD "x32 d0; x32 d1");
    put("qnx:USER:5", 1, "\2\3\1\0\0\0\2\0\0\0", 10);
    end_log();
    fd = open(path, O_RDONLY);
    length = read(fd, bytes, sizeof bytes);
    close(fd);
    WORKS(pipe(ends));
    ck_assert_int_eq(write(ends[1], bytes, (size_t)length), length);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    to = open_memstream(&text, &size);
    WORKS(traceparser_debug(p, to, _TRACEPARSER_DEBUG_ALL));
    WORKS(traceparser_cs(p, "", tell, _NTO_TRACE_USER, 5));
    WORKS(traceparser(p, NULL, "-"));
    ck_assert_str_eq(told, "12/5 02031805 @1000: 1 2\n");
    fclose(to);
    ck_assert_ptr_nonnull(strstr(text, "TRACE_FILE_NAME:: -\n"));
    ck_assert_ptr_nonnull(strstr(text, "TRACE_CYCLES_PER_SEC:: 1000000000\n"));
    ck_assert_ptr_nonnull(strstr(text, "t:0x00000000000003e8 h:0x02031805 words:2\n"));
    free(text);
    dup2(saved, STDIN_FILENO);
    close(saved);
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

/* ---- .kev ---- */

static bool big_endian; /* the file */

static void put_record(FILE *f, uint32_t header, uint32_t time, uint32_t d0, uint32_t d1)
{
    const uint32_t words[] = { header, time, d0, d1 };

    for (unsigned i = 0; i < 4; i++) {
        const uint32_t word = big_endian ? htobe32(words[i]) : htole32(words[i]);

        fwrite(&word, sizeof word, 1, f);
    }
}

static FILE *begin_kev(bool big)
{
    FILE *f;

    big_endian = big;
    strcpy(path, "/tmp/posixtrace-qnx-XXXXXX");
    f = fdopen(mkstemp(path), "w");
    fprintf(f,
            "TRACE_HEADER_BEGIN::TRACE_FILE_NAME::/dev/shmem/x.kev"
            "TRACE_DATE::Tue Jun 23 11:47:46 2009TRACE_VER_MAJOR::1TRACE_VER_MINOR::01"
            "TRACE_%s_ENDIAN::TRUETRACE_ENCODING::16 byte events"
            "TRACE_BOOT_DATE::Thu Jan  1 00:00:00 1970TRACE_CYCLES_PER_SEC::1000000000"
            "TRACE_CPU_NUM::2TRACE_SYSNAME::QNXTRACE_NODENAME::localhostTRACE_SYS_RELEASE::6.4.1"
            "TRACE_SYS_VERSION::2009TRACE_MACHINE::x86pcTRACE_SYSPAGE_LEN::0TRACE_HEADER_END::",
            big ? "BIG" : "LITTLE");
    return f;
}

static void make_kev(bool big, size_t missing)
{
    FILE *f = begin_kev(big);

    put_record(f, _TRACE_CONTROL_C | 2, 100, 1, 5);
    put_record(f, _TRACE_CONTROL_C | 1, 100, 1, 100);
    put_record(f, _TRACE_PR_TH_C | 1, 200, 4, 1);
    put_record(f, _TRACE_STRUCT_CB | _TRACE_USER_C | 9, 300, 1, 2);
    put_record(f, _TRACE_STRUCT_CE | _TRACE_USER_C | 9, 300, 3, 0);
    put_record(f, _TRACE_STRUCT_CB | _TRACE_PR_TH_C | 3 << 6, 400, 1, 4);
    put_record(f, _TRACE_STRUCT_CE | _TRACE_PR_TH_C | 3 << 6, 400, 0x61616161, 0);
    put_record(f, 1u << 24 | _TRACE_KER_CALL_C | 0x200 | 128 | 7, 500, 8, 9);
    put_record(f, 1u << 24 | _TRACE_INT_C | 1, 600, 33, 9);
    put_record(f, 1u << 24 | _TRACE_COMM_C | 1, 700, 34, 9);
    put_record(f, _TRACE_STRUCT_CB | _TRACE_SYSTEM_C | 0x200 | 10, 800, 1, 0);
    put_record(f, _TRACE_STRUCT_CE | _TRACE_SYSTEM_C | 0x200 | 10, 800, 2, 0);
    put_record(f, _TRACE_PR_TH_C | 2, 900, 4, 1);
    WORKS(fflush(f));
    WORKS(ftruncate(fileno(f), ftell(f) - (long)missing));
    fclose(f);
}

/* Of either byte order. */
START_TEST(kev)
{
    const struct posixtrace_format *format = posixtrace_format_find("kev");
    struct traceparser_state *p = new_parser();

    make_kev(_i, 0);
    set_all(p, tell);
    if (!format || !format->imports) {
        FAILS(traceparser(p, "", path), ENOTSUP);
        ck_assert_uint_eq(error_of(p), _TRACEPARSER_UNKNOWN_ERROR);
        ck_assert_ptr_nonnull(
            strstr(traceparser_get_info(p, _TRACEPARSER_INFO_ERROR_STR, NULL), "no format 'kev'"));
        ck_assert_str_eq(told, "");
        printf("kev: this build does not import it; what it gives is not tested\n");
    } else {
        WORKS(traceparser(p, "", path));
        ck_assert_str_eq(told, "10/2 00001001 @4294967496: 4 1\n"
                               "12/9 40001809 @4294967596: 1 2 3 0\n"
                               "9/4 400010c0 @4294967696: 1 4 61616161 0\n"
                               "4/519 01000a87 @4294967796: 8 9\n"
                               "7/0 01000c01 @4294967896: 21 9\n"
                               "14/1 01001c01 @4294967996: 22 9\n"
                               "13/522 4000160a @4294968096: 1 0 2 0\n"
                               "10/4 00001002 @4294968196: 4 1\n");
        ck_assert_str_eq(traceparser_get_info(p, _TRACEPARSER_INFO_CPU_NUM, NULL), "2");
        ck_assert_str_eq(traceparser_get_info(p, _TRACEPARSER_INFO_SYSNAME, NULL), "QNX");
    }
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

static int follow(struct traceparser_state *parser, void *user_data, unsigned header, uint64_t time,
                  unsigned *words, unsigned count)
{
    unsigned *at = user_data;
    struct pt_qnx_kind kind;

    (void)parser, (void)words;
    do
        ++*at;
    while (!pt_qnx_from_header(*at, &kind) || kind.event_class == _NTO_TRACE_CONTROL);
    ck_assert_uint_eq(header, *at);
    ck_assert_uint_eq(time, ((uint64_t)1 << 32) + *at + 1000);
    ck_assert_uint_eq(count, 2);
    return 0;
}

/* What import calls an event is what the parser knows it by; also where a log has no room for
 * so many types. */
START_TEST(every_event_of_kev)
{
    const struct posixtrace_format *format = posixtrace_format_find("kev");
    struct traceparser_state *p;
    struct pt_qnx_kind kind;
    unsigned at = 0, events = 0;
    FILE *f;

    if (!format || !format->imports)
        return;
    p = new_parser();
    f = begin_kev(false);
    put_record(f, _TRACE_CONTROL_C | 2, 100, 1, 5000);
    put_record(f, _TRACE_CONTROL_C | 1, 100, 1, 100);
    for (unsigned h = 0; h < 32768; h++)
        if (pt_qnx_from_header(h, &kind) && kind.event_class != _NTO_TRACE_CONTROL) {
            put_record(f, h, h + 1000, 4, 1);
            events++;
        }
    fclose(f);
    ck_assert_uint_gt(events, 3000);
    set_all(p, follow);
    WORKS(traceparser(p, &at, path));
    do
        at++;
    while (at < 32768 && !pt_qnx_from_header(at, &kind));
    ck_assert_uint_eq(at, 32768);
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

/* The end is missing: the events before it are reported, and the missing end, too. */
START_TEST(cut_kev)
{
    const struct posixtrace_format *format = posixtrace_format_find("kev");
    struct traceparser_state *p = new_parser();

    if (!format || !format->imports) {
        traceparser_destroy(&p);
        return;
    }
    make_kev(false, 7);
    WORKS(traceparser_cs(p, "", tell, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING));
    if (traceparser(p, NULL, path) != 0)
        ck_assert_uint_eq(error_of(p), _TRACEPARSER_CANNOT_READ_IN_FILE);
    ck_assert_str_eq(told, "10/2 00001001 @4294967496: 4 1\n");
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, ranges);
    tcase_add_loop_test(t, wrong_ranges, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, many_callbacks);
    tcase_add_test(t, arguments);
    tcase_add_loop_test(t, cannot_read, 0, sizeof unreadable / sizeof *unreadable);
    tcase_add_test(t, within_a_callback);
    tcase_add_test(t, cut_logs);
    tcase_add_test(t, any_events);
    tcase_add_test(t, standard_input);
    tcase_add_loop_test(t, kev, 0, 2);
    tcase_add_test(t, every_event_of_kev);
    tcase_add_test(t, cut_kev);
}

int main(void)
{
    return run_suite("format", "qnx parse", NULL, add);
}
