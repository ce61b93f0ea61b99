/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * QNX's parser over logs that were built for it: what each event is to a callback, and what the
 * header says.
 */
#include "qnx_log.h"

/* The log is parsed and goes away. */
static void parse_all(const char *wanted)
{
    struct traceparser_state *p = new_parser();

    set_all(p, tell);
    WORKS(traceparser(p, "", path));
    ck_assert_str_eq(told, wanted);
    traceparser_destroy(&p);
    ck_assert_ptr_null(p);
    unlink(path);
}

/* ---- events ---- */

START_TEST(qnx_events)
{
    begin_log();
    describe("qnx:USER:5", HEAD "x32 d0; x32 d1");
    describe("qnx:USER:5.string", HEAD "str text");
    describe("qnx:THREAD:READY.wide",
             HEAD "u32 pid; u32 tid; u32 priority; u32 policy; bytes more");
    describe("qnx:PROCESS:CREATE_NAME", HEAD "u32 ppid; u32 pid; str name");
    describe("qnx:KER_EXIT64:9", HEAD "x32 d0; x32 d1");
    describe("qnx:INT_CALL:200", HEAD "x32 d0; x32 d1");
    describe("qnx:INT_HANDLER_ENTR", HEAD "x32 d0; x32 d1");
    describe("qnx:SYSTEM64:FUNC_EXIT.bytes", HEAD "bytes data");
    describe("qnx:THREAD:30", HEAD "u32 pid; u32 tid");
    describe("qnx:VTHREAD:DESTROY", HEAD "u32 pid; u32 tid");
    describe("qnx:OTHER", HEAD "u8 class; u16 event; u8 form; bytes data");
    describe("qnx:CONTROL:TIME", HEAD "x32 msb; x32 lsb");
    put("qnx:USER:5", 1, "\2\3\1\0\0\0\2\0\0\0", 10);
    put("qnx:USER:5.string", 1, "\0\0abcde", 8);
    put("qnx:THREAD:READY.wide", 1, "\77\0\7\0\0\0\1\0\0\0\3\0\0\0\4\0\0\0", 18);
    put("qnx:PROCESS:CREATE_NAME", 1, "\0\0\1\0\0\0\7\0\0\0x", 12);
    put("qnx:KER_EXIT64:9", 1, "\0\0\1\0\0\0\7\0\0\0", 10);
    put("qnx:INT_CALL:200", 1, "\0\0\1\0\0\0\7\0\0\0", 10);
    put("qnx:INT_HANDLER_ENTR", 1, "\0\0\1\0\0\0\7\0\0\0", 10);
    put("qnx:SYSTEM64:FUNC_EXIT.bytes", 1, "\1\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 18);
    put("qnx:THREAD:30", 1, "\1\0\1\0\0\0\7\0\0\0", 10);
    put("qnx:VTHREAD:DESTROY", 1, "\1\0\1\0\0\0\7\0\0\0", 10);
    put("qnx:OTHER", 1, "\5\0\6\1\2\0\1\0\0\0\2\0\0\0", 14);
    put("qnx:CONTROL:TIME", 1, "\1\0\1\0\0\0\7\0\0\0", 10);
    end_log();
    parse_all("12/5 02031805 @1000: 1 2\n"
              "12/5 00001805 @1001: 64636261 65\n"
              "10/4 7f001002 @1002: 7 1 3 4\n"
              "9/4 400010c0 @1003: 1 7 78 0\n"
              "4/521 00000a89 @1004: 1 7\n"
              "5/200 000009c8 @1005: 1 7\n"
              "15/0 00000c03 @1006: 1 7\n"
              "13/523 4100160b @1007: 1 0 2 0\n"
              "10/1073741824 0100101e @1008: 1 7\n"
              "11/33554432 01001033 @1009: 1 7\n"
              "12/513 05001a01 @1010: 1 2\n"
              "1/1 01000401 @1011: 1 7\n");
}
END_TEST

/* Context switches are states; why a thread waits the calls say; each keeps its processor. */
START_TEST(switches)
{
    begin_log();
    put_words("posixtrace_thread_begin", 8, 5, 0, 8);
    put_words("posixtrace_switch_in", 8, 3, 0, 4);
    put_words("posixtrace_mutex_lock", 8, 0x11111111, 0, 8);
    put_words("posixtrace_switch_out", 8, 3, 0, 4);
    put_words("posixtrace_switch_in", 9, 3, 0, 4);
    put_words("posixtrace_switch_preempted", 9, 3, 0, 4);
    put_words("posixtrace_switch_in", 8, 1, 0, 4);
    put_words("posixtrace_mutex_locked", 8, 0x11111111, 0, 16);
    put_words("posixtrace_switch_out", 8, 1, 0, 4);
    put_words("posixtrace_thread_end", 9, 5, 0, 8);
    put("posix_trace_overflow", 0, NULL, 0);
    put("posixtrace_switch_out", 10, "\1", 1);
    end_log();
    parse_all("10/16777216 00001018 @1000: 7 8\n"
              "10/2 03001001 @1001: 7 8\n"
              "12/1023 03001bff @1002: 11111111 0\n"
              "10/8192 0300100d @1003: 7 8\n"
              "10/2 03001001 @1004: 7 9\n"
              "10/4 03001002 @1005: 7 9\n"
              "10/2 01001001 @1006: 7 8\n"
              "12/1022 41001bfe @1007: 11111111 0 0 0\n"
              "10/8 01001003 @1008: 7 8\n"
              "10/33554432 03001019 @1009: 7 9\n"
              "1/8 00000408 @1010:\n"
              "10/8 00001003 @1011: 7 a\n");
}
END_TEST

/* Numbers that QNX's own have are theirs; a name alone does not make an event of QNX. */
START_TEST(other_events)
{
    begin_log();
    describe("qnx:USER:1022", HEAD "x32 d0; x32 d1");
    describe("order", "u8 a");
    describe("qnx:USER:9", "u32 a");
    describe("qnx:NOTHING:9", HEAD "u32 a");
    put("order", 8, "\1", 1);
    put("plain", 8, "", 0);
    put("order", 9, "\1\2\3\4\5", 5);
    put("qnx:USER:1022", 9, "\0\0\1\0\0\0\2\0\0\0", 10);
    put("qnx:USER:9", 9, "\4\0\0\0", 4);
    put("qnx:NOTHING:9", 9, "\0\0\4\0\0\0", 6);
    end_log();
    parse_all("12/1023 00001bff @1000: 1\n"
              "12/1021 00001bfd @1001:\n"
              "12/1023 00001bff @1002: 4030201 5\n"
              "12/1022 00001bfe @1003: 1 2\n"
              "12/1020 00001bfc @1004: 4\n"
              "12/1019 00001bfb @1005: 40000 0\n");
}
END_TEST

/* System events that import added for metrics are not reported again. */
START_TEST(imported)
{
    begin_log();
    describe("qnx:THREAD:RUNNING", HEAD "u32 pid; u32 tid");
    describe("qnx:LOST", "le; u32 buffers; u32 expected; u32 found");
    put_words("posixtrace_switch_in", 8, 3, 0, 4);
    put("qnx:THREAD:RUNNING", 8, "\3\0\7\0\0\0\10\0\0\0", 10);
    put("qnx:LOST", 0, "\2\0\0\0\3\0\0\0\5\0\0\0", 12);
    put("posix_trace_overflow", 0, NULL, 0);
    put("posix_trace_resume", 0, NULL, 0);
    end_log();
    parse_all("10/2 03001001 @1001: 7 8\n"
              "1/8 40000408 @1002: 2 3 5\n");
}
END_TEST

/* ---- the header ---- */

static int tell_empty(struct traceparser_state *parser, void *user_data, unsigned header,
                      uint64_t time, unsigned *words, unsigned count)
{
    ck_assert(header == 0 && time == 0 && !words && count == 0);
    ck_assert_ptr_null(posixtrace_qnx_parser_event(parser));
    ck_assert_str_eq(traceparser_get_info(parser, _TRACEPARSER_INFO_CYCLES_PER_SEC, NULL),
                     "1000000000");
    strcat(told, user_data);
    return -3;
}

START_TEST(header_values)
{
    struct traceparser_state *p = new_parser();
    unsigned length;

    begin_log();
    describe("qnx:HEADER", "str name; str value");
    describe("qnx:USER:5", HEAD "x32 d0; x32 d1");
    put("qnx:HEADER", 0,
        "CPU_NUM\0"
        "4",
        10);
    put("qnx:HEADER", 0,
        "CYCLES_PER_SEC\0"
        "7",
        17);
    put("qnx:HEADER", 0, "MINE\0x", 7);
    put("qnx:HEADER", 0, "SYSNAME", 7);
    put("qnx:HEADER", 0, "SYSNAME", 8);
    put("qnx:HEADER", 0, "SYSNAME\0ab", 10);
    put("qnx:HEADER", 0, NULL, 0);
    put("qnx:USER:5", 1, "\2\3\1\0\0\0\2\0\0\0", 10);
    put("qnx:HEADER", 0,
        "CPU_NUM\0"
        "9",
        10);
    end_log();
    WORKS(traceparser_cs(p, "empty ", tell_empty, _NTO_TRACE_EMPTY, _NTO_TRACE_EMPTYEVENT));
    WORKS(traceparser_cs(p, "", tell, _NTO_TRACE_USER, 5));
    WORKS(traceparser(p, NULL, path));
    ck_assert_str_eq(told, "empty 12/5 02031805 @1007: 1 2\n");
    ck_assert_str_eq(traceparser_get_info(p, _TRACEPARSER_INFO_CPU_NUM, &length), "4");
    ck_assert_uint_eq(length, 2);
    ck_assert_ptr_null(traceparser_get_info(p, _TRACEPARSER_INFO_SYSNAME, &length));
    ck_assert_uint_eq(length, 0);
    ck_assert_str_eq(traceparser_get_info(p, _TRACEPARSER_INFO_FILE_NAME, NULL), path);
    ck_assert_str_eq(traceparser_get_info(p, _TRACEPARSER_INFO_BOOT_DATE, NULL),
                     "Thu Jan  1 00:00:00 1970");
    ck_assert_int_eq(*(int *)traceparser_get_info(p, _TRACEPARSER_INFO_PREV_CALLBACK_RETURN, NULL),
                     2);
    ck_assert_uint_eq(
        *(unsigned *)traceparser_get_info(p, _TRACEPARSER_INFO_PREV_CALLBACK_CLASS, NULL),
        _NTO_TRACE_USER);
    ck_assert_uint_eq(*(unsigned *)traceparser_get_info(p, _TRACEPARSER_INFO_ENDIAN_CONV, NULL),
                      __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

START_TEST(nothing_in_it)
{
    struct traceparser_state *p = new_parser();

    begin_log();
    end_log();
    WORKS(traceparser_cs(p, NULL, tell_empty, _NTO_TRACE_EMPTY, _NTO_TRACE_EMPTYEVENT));
    WORKS(traceparser(p, "once", path));
    ck_assert_str_eq(told, "once");
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

START_TEST(other_byte_order)
{
    struct traceparser_state *p = new_parser();

    begin_log();
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    describe("qnx:USER:5", "le; u8 cpu; x8 flags; x32 d0; x32 d1");
    put("qnx:USER:5", 1, "\2\3\1\0\0\0\2\0\0\0", 10);
#else
    describe("qnx:USER:5", "be; u8 cpu; x8 flags; x32 d0; x32 d1");
    put("qnx:USER:5", 1, "\2\3\0\0\0\1\0\0\0\2", 10);
#endif
    end_log();
    WORKS(traceparser_cs(p, "", tell, _NTO_TRACE_USER, 5));
    WORKS(traceparser(p, NULL, path));
    ck_assert_str_eq(told, "12/5 02031805 @1000: 1 2\n");
    ck_assert_uint_eq(*(unsigned *)traceparser_get_info(p, _TRACEPARSER_INFO_ENDIAN_CONV, NULL), 1);
    traceparser_destroy(&p);
    unlink(path);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, qnx_events);
    tcase_add_test(t, switches);
    tcase_add_test(t, other_events);
    tcase_add_test(t, imported);
    tcase_add_test(t, header_values);
    tcase_add_test(t, nothing_in_it);
    tcase_add_test(t, other_byte_order);
}

int main(void)
{
    return run_suite("format", "qnx parser", NULL, add);
}
