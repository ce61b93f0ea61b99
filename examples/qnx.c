/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program for QNX's instrumentation, with QNX's names: filters, an event handler, events of
 * its own, functions; then the parser with callbacks over the log of it.
 *
 *     qnx LOG          traces into LOG, and prints what the parser finds in it
 *     qnx -p FILE      prints what the parser finds in a log or .kev file
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <posixtrace/qnx.h>

enum { PRESSURE = 7, SAMPLES = 8, TICK = 9, MUTED = 10 };

/* Lets every second tick through. */
static int every_second(event_data_t *event)
{
    unsigned *seen = event->area;

    return event->el_num >= 2 && event->data_array[0] == TICK && ++*seen % 2 == 0;
}

static void work(void)
{
    static const unsigned samples[] = { 1, 2, 3, 4, 5, 6 };

    trace_func_enter((void *)work, __builtin_return_address(0));
    trace_logf(PRESSURE, "pressure %d %s", 42, "bar");
    trace_logb(SAMPLES, samples, sizeof samples);
    for (unsigned i = 0; i < 4; i++)
        trace_logi(TICK, TICK, i);
    trace_logi(MUTED, 1, 2);
    trace_func_exit((void *)work, __builtin_return_address(0));
}

static int trace_work(const char *path)
{
    unsigned seen = 0;
    event_data_t data;
    trace_attr_t attr;
    trace_id_t trid;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), error;

    memset(&data, 0, sizeof data);
    data.area = &seen;
    posix_trace_attr_init(&attr);
    error = posix_trace_create_withlog(0, &attr, fd, &trid);
    posix_trace_attr_destroy(&attr);
    if (fd < 0 || error || posixtrace_qnx_use(trid) || TraceEvent(_NTO_TRACE_DELALLCLASSES) ||
        TraceEvent(_NTO_TRACE_SETALLCLASSESFAST) ||
        TraceEvent(_NTO_TRACE_SETCLASSWIDE, _NTO_TRACE_THREAD) ||
        TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_PROCESS) ||
        TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING) ||
        TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_SYSTEM) ||
        TraceEvent(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER) ||
        TraceEvent(_NTO_TRACE_DELEVENT, _NTO_TRACE_USER, MUTED) ||
        TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, _NTO_TRACE_USER, TICK, every_second, &data) ||
        TraceEvent(_NTO_TRACE_START)) {
        perror("qnx");
        return 1;
    }
    work();
    TraceEvent(_NTO_TRACE_STOP);
    TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
    return posix_trace_shutdown(trid) != 0;
}

static int print_thread(struct traceparser_state *parser, void *user, unsigned header,
                        uint64_t time, unsigned *words, unsigned count)
{
    (void)parser, (void)time, (void)header;
    printf("thread is %s, %u words\n", (const char *)user, words[0] ? count : 0);
    return 0;
}

static int print_user(struct traceparser_state *parser, void *user, unsigned header, uint64_t time,
                      unsigned *words, unsigned count)
{
    (void)user, (void)time;
    printf("user event %u (%s), %u words:", _NTO_TRACE_GETEVENT(header),
           posixtrace_qnx_parser_event(parser)->name, count);
    if (_NTO_TRACE_GETEVENT(header) == PRESSURE)
        printf(" %.*s", (int)(4 * count), (const char *)words);
    else
        for (unsigned i = 0; i < count; i++)
            printf(" %u", words[i]);
    printf("\n");
    return (int)count;
}

static int print_function(struct traceparser_state *parser, void *user, unsigned header,
                          uint64_t time, unsigned *words, unsigned count)
{
    uint64_t function = 0;

    (void)parser, (void)user, (void)time;
    if (count >= 2)
        memcpy(&function, words, sizeof function);
    printf("function %s%s\n", (header & 0x1ff) == _NTO_TRACE_SYS_FUNC_ENTER ? "entered" : "left",
           function == (uintptr_t)work ? ": work" : "");
    return 0;
}

static int parse(const char *path)
{
    struct traceparser_state *parser = traceparser_init(NULL);
    char running[] = "running";
    int failed;

    if (!parser)
        return 1;
    traceparser_debug(parser, stderr, _TRACEPARSER_DEBUG_ERRORS);
    traceparser_cs(parser, running, print_thread, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING);
    traceparser_cs_range(parser, NULL, print_user, _NTO_TRACE_USER, _NTO_TRACE_USERFIRST,
                         PRESSURE + 3);
    traceparser_cs_range(parser, NULL, print_function, _NTO_TRACE_SYSTEM,
                         _NTO_TRACE_SYS_FUNC_ENTER | _NTO_TRACE_KERCALL64,
                         _NTO_TRACE_SYS_FUNC_EXIT | _NTO_TRACE_KERCALL64);
    failed = traceparser(parser, NULL, path);
    printf("cycles a second: %s\n",
           failed ? "?"
                  : (char *)traceparser_get_info(parser, _TRACEPARSER_INFO_CYCLES_PER_SEC, NULL));
    traceparser_destroy(&parser);
    return failed != 0;
}

int main(int argc, char **argv)
{
    bool only = argc == 3 && strcmp(argv[1], "-p") == 0;

    if (argc != 2 && !only) {
        fprintf(stderr, "usage: qnx LOG, or qnx -p FILE\n");
        return 2;
    }
    if (!only && trace_work(argv[1]))
        return 1;
    return parse(argv[argc - 1]) || fflush(stdout) ? 1 : 0;
}
