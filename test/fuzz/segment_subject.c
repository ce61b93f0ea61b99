/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See segment_subject.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include "fuzz/segment_subject.h"
#include "fuzz/target.h"
#include "shm/layout.h"

#define PAYLOAD 64u

/* ---- the child ---- */

static pthread_barrier_t written;

static void put_events(void)
{
    trace_event_id_t id;
    char data[PAYLOAD];

    memset(data, 'x', sizeof data);
    FUZZ_NEED(posix_trace_eventid_open("hostile", &id) == 0);
    for (unsigned i = 0; i < SUBJECT_EVENTS; i++)
        posix_trace_event(id, data, sizeof data);
}

static void *short_lived(void *unused)
{
    put_events();
    return unused;
}

static void *still_there_at_the_end(void *unused)
{
    put_events();
    pthread_barrier_wait(&written);
    return unused;
}

static void trace_and_die(const struct subject *s)
{
    int fd = open(s->log_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    trace_attr_t attr;
    pthread_t thread;
    trace_id_t trid;

    FUZZ_NEED(fd >= 0 && posix_trace_attr_init(&attr) == 0);
    FUZZ_NEED(posix_trace_attr_setmaxdatasize(&attr, 2 * PAYLOAD) == 0);
    FUZZ_NEED(posix_trace_attr_setstreamsize(&attr, 128 << 10) == 0);
    FUZZ_NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH) == 0);
    FUZZ_NEED(posix_trace_create_withlog(0, &attr, fd, &trid) == 0);
    FUZZ_NEED(posix_trace_start(trid) == 0);
    FUZZ_NEED(pthread_create(&thread, NULL, short_lived, NULL) == 0);
    FUZZ_NEED(pthread_join(thread, NULL) == 0);
    pthread_barrier_init(&written, NULL, SUBJECT_THREADS - 1);
    FUZZ_NEED(pthread_create(&thread, NULL, still_there_at_the_end, NULL) == 0);
    still_there_at_the_end(NULL);
    _exit(0);
}

/* ---- its files ---- */

static void take(struct victim *v)
{
    struct stat st;

    snprintf(v->spare, sizeof v->spare, "%s.keep", v->path);
    v->fd = open(v->path, O_RDWR | O_CLOEXEC);
    FUZZ_NEED(v->fd >= 0 && fstat(v->fd, &st) == 0 && link(v->path, v->spare) == 0);
    v->size = st.st_size;
    v->head = (size_t)st.st_size;
}

static void load(struct victim *v)
{
    /* A header is aligned as its type. */
    v->image = aligned_alloc(4096, (v->head + 4095) / 4096 * 4096);
    FUZZ_NEED(v->image && pread(v->fd, v->image, v->head, 0) == (ssize_t)v->head);
}

void victim_restore_part(const struct victim *v, size_t at, size_t bytes)
{
    FUZZ_NEED(pwrite(v->fd, v->image + at, bytes, (off_t)at) == (ssize_t)bytes);
}

/* Pages of zeros are left out: they stay holes, which makes copying cheap. */
void victim_restore(const struct victim *v)
{
    static const uint8_t zeros[4096];

    FUZZ_NEED(ftruncate(v->fd, 0) == 0 && ftruncate(v->fd, v->size) == 0);
    for (size_t at = 0; at < v->head; at += sizeof zeros) {
        size_t n = v->head - at < sizeof zeros ? v->head - at : sizeof zeros;

        if (memcmp(v->image + at, zeros, n) != 0)
            victim_restore_part(v, at, n);
    }
}

void victim_bring_back(const struct victim *v)
{
    FUZZ_NEED(link(v->spare, v->path) == 0 || errno == EEXIST);
}

static int note_segment(void *subject, const struct posixtrace_stream *stream)
{
    struct subject *s = subject;

    snprintf(s->seg.path, sizeof s->seg.path, "%s/%s", s->dir, stream->file);
    return 0;
}

static void find_files(struct subject *s)
{
    struct pt_seg_header h;
    size_t used;

    FUZZ_NEED(posixtrace_stream_list(note_segment, s) == 0 && s->seg.path[0]);
    take(&s->seg);
    FUZZ_NEED(pread(s->seg.fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    used = h.chunks_off + (size_t)h.nchunks * h.chunk_size;
    FUZZ_NEED(used <= (size_t)s->seg.size);
    s->seg.head = used;
    load(&s->seg);
    snprintf(s->names.path, sizeof s->names.path, "%s/%.63s", s->dir, h.names_file);
    take(&s->names);
    load(&s->names);
}

void subject_make(struct subject *s)
{
    const char *base = getenv("POSIXTRACE_DIR");
    pid_t child;

    snprintf(s->dir, sizeof s->dir, "%.100s/segment.XXXXXX", base ? base : "/tmp");
    FUZZ_NEED(mkdtemp(s->dir) && setenv("POSIXTRACE_DIR", s->dir, 1) == 0);
    snprintf(s->log_path, sizeof s->log_path, "%s/log", s->dir);
    child = fork();
    FUZZ_NEED(child >= 0);
    if (child == 0)
        trace_and_die(s);
    FUZZ_NEED(fuzz_wait(child) == 0);
    find_files(s);
}

void subject_remove(const struct subject *s)
{
    char command[160];

    snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
    FUZZ_NEED(system(command) == 0);
}
