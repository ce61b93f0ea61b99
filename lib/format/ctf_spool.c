/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, in the reading process: records of streams that are not in order of time.
 * They go to a file without a name, are sorted by time, and by place in the file where times
 * are equal, and are fetched in that order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/ctf_import.h"

struct ctf_spool *pt_ctf_spool_new(struct ctf_sink *s)
{
    struct ctf_spool *spool = calloc(1, sizeof *spool);
    FILE *file = spool ? tmpfile() : NULL;
    char text[100];

    if (file) {
        spool->out.fd = fileno(file);    /* open until the process ends */
        return spool;
    }
    snprintf(text, sizeof text, "no temporary file for what is out of order: %s", strerror(errno));
    pt_ctf_fault(s, text);
    free(spool);
    return NULL;
}

static void flush(struct ctf_sink *s, struct ctf_spool *spool)
{
    char text[160];
    int error;

    spool->flushed += spool->out.used;
    error = pt_ctf_out_write(&spool->out);
    if (error == 0)
        return;
    snprintf(text, sizeof text, "cannot write a temporary file of what is out of order: %s",
             strerror(error));
    pt_ctf_fault(s, text);
}

void pt_ctf_spool_note(struct ctf_sink *s, struct ctf_spool *spool, int64_t ns)
{
    /* A record is whole in the buffer: this is what pt_ctf_out_put() does about it. */
    if (spool->out.used + sizeof(struct ctf_record) + CTF_RECORD_MAX > sizeof spool->out.buffer)
        flush(s, spool);
    if (s->failed)
        return;
    if (spool->count == spool->room) {
        size_t room = spool->room ? 2 * spool->room : 4096;
        struct ctf_spool_entry *list = realloc(spool->list, room * sizeof *list);

        if (!list) {
            pt_ctf_fault(s, "no memory to sort what is out of order");
            return;
        }
        spool->list = list;
        spool->room = room;
    }
    spool->list[spool->count++] =
        (struct ctf_spool_entry){ .ns = ns, .at = spool->flushed + spool->out.used };
}

static int by_time(const void *a, const void *b)
{
    const struct ctf_spool_entry *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void pt_ctf_spool_sort(struct ctf_sink *s, struct ctf_spool *spool)
{
    if (!s->failed)
        flush(s, spool);
    if (!s->failed && spool->count)
        qsort(spool->list, spool->count, sizeof *spool->list, by_time);
}

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got;

    do
        got = pread(fd, to, bytes, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got >= 0 && (size_t)got == bytes;
}

void pt_ctf_spool_take(struct ctf_sink *s, struct ctf_spool *spool)
{
    const struct ctf_spool_entry *e = &spool->list[spool->next++];
    uint8_t *record = spool->out.buffer;
    struct ctf_record head;

    if (!read_at(spool->out.fd, &head, sizeof head, e->at) ||
        !read_at(spool->out.fd, record, head.size, e->at + sizeof head)) {
        pt_ctf_fault(s, "cannot read the temporary file again");
        return;
    }
    if (e->ns > s->last_ns)
        s->last_ns = e->ns;
    pt_ctf_out_put(&s->out, (enum ctf_record_kind)head.kind, record, head.size, NULL, 0);
}
