/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * show_fields LOG: a JSON object a line for each event, with "fields" where its data is
 * of its description.  show_fields --lost LOG: the losses by thread, and of all.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include <posixtrace/info.h>

static char text[1 << 20];

static void put_string(const char *s)
{
    putchar('"');
    for (; *s; s++)
        printf(*s == '"' || *s == '\\'    ? "\\%c"
               : (unsigned char)*s < 0x20 ? "\\u%04x"
                                          : "%c",
               (unsigned char)*s);
    putchar('"');
}

static void show(posixtrace_fields_t *fields, const struct posixtrace_event *e)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(fields, e->id);
    const unsigned char *data = e->data;

    printf("{\"ts\":%" PRIi64 ",\"pid\":%d,\"tid\":%d,\"thread\":", e->ns, (int)e->pid,
           (int)e->tid);
    put_string(e->thread_name);
    fputs(",\"event\":", stdout);
    put_string(e->name);
    printf(",\"trunc\":%d,\"data\":\"", e->truncation != POSIX_TRACE_NOT_TRUNCATED);
    for (size_t i = 0; i < e->data_len; i++)
        printf("%02x", data[i]);
    fputs("\"", stdout);
    if (layout && posixtrace_layout_json(layout, e->data, e->data_len, text, sizeof text))
        printf(",\"fields\":%s", text);
    puts("}");
}

static uint64_t sum(const uint64_t *lost)
{
    uint64_t s = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        s += lost[i];
    return s;
}

static void show_lost(trace_id_t trid)
{
    struct posixtrace_thread_info t;
    struct posixtrace_info info;
    int end = 0;

    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &end) == 0 && !end)
        printf("%d %d %" PRIu64 "\n", (int)t.pid, (int)t.tid, sum(t.lost));
    if (posixtrace_get_info(trid, &info, sizeof info) == 0)
        printf("all %" PRIu64 "\n", sum(info.lost));
}

int main(int argc, char **argv)
{
    struct posixtrace_event event;
    posixtrace_fields_t *fields;
    trace_id_t trid;
    int fd = argc > 1 ? open(argv[argc - 1], O_RDONLY) : -1, none = 0, error;

    error = fd < 0 ? EBADF : posix_trace_open(fd, &trid);
    if (!error)
        error = posixtrace_fields_create(trid, &fields);
    if (error) {
        fprintf(stderr, "show_fields: %s\n", strerror(error));
        return 1;
    }
    while (argc == 2 && posixtrace_next_event(trid, &event, sizeof event, &none) == 0 && !none)
        show(fields, &event);
    if (argc == 3)
        show_lost(trid);
    posixtrace_fields_free(fields);
    posix_trace_close(trid);
    return 0;
}
