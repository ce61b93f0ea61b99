/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A hostile segment: what a dead writer left in the stream directory, changed
 * at random and then read together with its log.
 *
 * A child traces from several threads into a stream with a log and leaves by
 * _exit(), so its segment stays and holds what the log lacks.  Each round
 * changes some words of the segment or of its name map in place (or cuts or
 * lengthens the file), opens and reads the log, asks everything that can be
 * asked, lists the directory, now and then recovers a copy of the log, and puts
 * the bytes back.  Nothing may crash, hang or yield more events than the bytes
 * can hold; meant to be run under the sanitizers, too.  The random numbers have
 * a fixed seed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "ring/layout.h"

#define EVENTS   150u    /* of each thread */
#define THREADS  3u      /* one of them ends before the process does */
#define PAYLOAD  64u
#define WATCHDOG 100u

#define need(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "%s:%d: not so: %s (round %d)\n", __FILE__, __LINE__, #condition, \
                round_no);                                                              \
        exit(1); \
    } \
} while (0)

static int round_no = -1, rounds_with_events;
static char dir[128], log_path[192], seg_path[448], names_path[448];

/* ---- the subject ---- */

static pthread_barrier_t written;

static void put_events(void)
{
    trace_event_id_t id;
    char data[PAYLOAD];

    memset(data, 'x', sizeof data);
    need(posix_trace_eventid_open("hostile", &id) == 0);
    for (unsigned i = 0; i < EVENTS; i++)
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

static void trace_and_die(void)
{
    int fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    trace_attr_t attr;
    pthread_t thread;
    trace_id_t trid;

    need(fd >= 0 && posix_trace_attr_init(&attr) == 0);
    need(posix_trace_attr_setmaxdatasize(&attr, 2 * PAYLOAD) == 0);
    need(posix_trace_attr_setstreamsize(&attr, 128 << 10) == 0);
    need(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH) == 0);
    need(posix_trace_create_withlog(0, &attr, fd, &trid) == 0);
    need(posix_trace_start(trid) == 0);
    need(pthread_create(&thread, NULL, short_lived, NULL) == 0);
    need(pthread_join(thread, NULL) == 0);
    pthread_barrier_init(&written, NULL, THREADS - 1);
    need(pthread_create(&thread, NULL, still_there_at_the_end, NULL) == 0);
    still_there_at_the_end(NULL);
    _exit(0);
}

static void make_subject(void)
{
    pid_t child = fork();
    int status;

    need(child >= 0);
    if (child == 0)
        trace_and_die();
    need(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- its files ---- */

/* A file, the bytes it had, and a second name that keeps it alive. */
struct victim {
    const char *path;
    char   spare[456];
    int    fd;
    off_t  size;
    size_t head;          /* bytes that may hold something: the rest is a hole */
    uint8_t *image;
};

static struct victim seg, names;

static void take(struct victim *v, const char *path)
{
    struct stat st;

    v->path = path;
    snprintf(v->spare, sizeof v->spare, "%s.keep", path);
    v->fd = open(path, O_RDWR);
    need(v->fd >= 0 && fstat(v->fd, &st) == 0 && link(path, v->spare) == 0);
    v->size = st.st_size;
    v->head = (size_t)st.st_size;
}

static void load(struct victim *v)
{
    v->image = malloc(v->head);
    need(v->image && pread(v->fd, v->image, v->head, 0) == (ssize_t)v->head);
}

/* Pages of zeros are left out: they stay holes, which makes copying cheap. */
static void restore_all(struct victim *v)
{
    static const uint8_t zeros[4096];

    need(ftruncate(v->fd, 0) == 0 && ftruncate(v->fd, v->size) == 0);
    for (size_t at = 0; at < v->head; at += sizeof zeros) {
        size_t n = v->head - at < sizeof zeros ? v->head - at : sizeof zeros;

        if (memcmp(v->image + at, zeros, n) != 0)
            need(pwrite(v->fd, v->image + at, n, (off_t)at) == (ssize_t)n);
    }
}

/* Recovery removes the names; the files live on under the other ones. */
static void bring_back(const struct victim *v)
{
    need(link(v->spare, v->path) == 0 || errno == EEXIST);
}

static void find_subject(void)
{
    const struct pt_seg_header *h;
    char name[sizeof h->names_file];
    uint8_t id[16];
    size_t used;

    need(pread(seg.fd, id, sizeof id, offsetof(struct pt_seg_header, id)) == 16);
    need(pread(seg.fd, name, sizeof name, offsetof(struct pt_seg_header, names_file)) ==
         (ssize_t)sizeof name);
    snprintf(names_path, sizeof names_path, "%s/%.63s", dir, name);
    take(&names, names_path);
    load(&names);
    h = malloc(sizeof *h);
    need(h && pread(seg.fd, (void *)(uintptr_t)h, sizeof *h, 0) == (ssize_t)sizeof *h);
    used = h->chunks_off + (size_t)h->nchunks * h->chunk_size;
    free((void *)(uintptr_t)h);
    need(used <= (size_t)seg.size);
    seg.head = used;
    load(&seg);
}

static int note_segment(void *context, const struct posixtrace_stream *s)
{
    unsigned *count = context;

    if (strlen(s->file) > 4 && strcmp(s->file + strlen(s->file) - 4, ".seg") == 0) {
        ++*count;
        if (!seg_path[0])
            snprintf(seg_path, sizeof seg_path, "%s/%s", dir, s->file);
    }
    return 0;
}

/* ---- reading ---- */

/* Everything that looks at the segment; the number of user events. */
static unsigned long read_everything(unsigned long most)
{
    int fd = open(log_path, O_RDONLY), end = 0;
    struct posixtrace_thread_info thread;
    struct posix_trace_status_info status;
    unsigned long events = 0, user = 0, threads = 0;
    struct posixtrace_info info;
    struct posixtrace_event e;
    trace_event_id_t type;
    volatile uint8_t byte;
    unsigned streams = 0;
    size_t cursor = 0;
    trace_id_t trid;

    need(fd >= 0);
    need(posixtrace_stream_list(note_segment, &streams) == 0);
    if (posix_trace_open(fd, &trid) == 0) {
        while (posixtrace_next_event(trid, &e, &end) == 0 && !end) {
            user += e.id >= PT_ID_USER_FIRST;
            for (size_t i = 0; i < e.data_len; i++)
                byte = ((const uint8_t *)e.data)[i];
            byte = (uint8_t)(e.name[strlen(e.name)] + e.thread_name[strlen(e.thread_name)]);
            need(++events <= most);
        }
        posixtrace_get_info(trid, &info);
        posix_trace_get_status(trid, &status);
        while (posixtrace_thread_getnext(trid, &cursor, &thread, &end) == 0 && !end)
            need(thread.name[strnlen(thread.name, 15)] == '\0' && ++threads <= 2 * PT_SLOT_MAX);
        for (end = 0; posix_trace_eventtypelist_getnext_id(trid, &type, &end) == 0 && !end;) {
            char name[TRACE_EVENT_NAME_MAX + 1];

            need(posix_trace_eventid_get_name(trid, type, name) == 0 &&
                 strlen(name) <= TRACE_EVENT_NAME_MAX);
        }
        posixtrace_seek(trid, info.first_ns / 2 + info.last_ns / 2);
        need(posix_trace_close(trid) == 0);
    }
    (void)byte;
    close(fd);
    rounds_with_events += user > 0;
    return user;
}

static void recover_copy(void)
{
    struct posixtrace_recover_report report;
    char path[224], buffer[4096];
    int from = open(log_path, O_RDONLY), to;
    ssize_t n;

    snprintf(path, sizeof path, "%s.copy", log_path);
    to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(from >= 0 && to >= 0);
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        need(write(to, buffer, (size_t)n) == n);
    posixtrace_log_recover(to, &report);
    close(from);
    close(to);
    unlink(path);
    bring_back(&seg);
    bring_back(&names);
}

/* ---- changing ---- */

static size_t random_below(size_t n)
{
    return (size_t)rand() % n;
}

/* Where a change matters: any area of the segment, likelier where the words are. */
static size_t some_place(const struct victim *v)
{
    const struct pt_seg_header *h = (const void *)v->image;
    size_t chunk;

    if (v == &names)
        return random_below(4) ? random_below(128) : random_below(v->head);
    chunk = h->chunks_off + random_below(h->nchunks) * h->chunk_size;
    switch (random_below(8)) {
    case 0:
        return random_below(offsetof(struct pt_seg_header, sync));
    case 1:
        return offsetof(struct pt_seg_header, state) +
               random_below(sizeof *h - offsetof(struct pt_seg_header, state));
    case 2:
    case 3:
        return h->infos_off + random_below(h->nchunks * sizeof(struct pt_info));
    case 4:
        return h->slots_off + random_below(h->nslots * sizeof(struct pt_slot));
    case 5:
        return chunk + random_below(sizeof(struct pt_chunk));
    default:
        /* Chunks are taken in order: the low ones have the records. */
        return h->chunks_off + random_below(40) * h->chunk_size + random_below(h->chunk_size);
    }
}

static uint64_t some_value(const struct victim *v)
{
    static const uint64_t values[] = { 0, 1, 2, 3, 7, 15, 16, 127, 128, 1023, 1024, 1025, 0xffff,
        0x10000, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX, 4096 };
    uint64_t word;

    switch (random_below(4)) {
    case 0:
        memcpy(&word, v->image + random_below(v->head / 8) * 8, sizeof word);
        return word;
    case 1:
        return (uint64_t)rand() << 33 ^ (uint64_t)rand();
    default:
        return values[random_below(sizeof values / sizeof *values)];
    }
}

struct change {
    size_t at, bytes;
};

static struct change change_one(struct victim *v)
{
    struct change c = { some_place(v), (size_t)1 << random_below(4) };
    uint64_t value = some_value(v);

    c.at &= ~(c.bytes - 1);
    if (random_below(4) == 0) {
        c.bytes = 1;
        value = v->image[c.at] ^ 1u << random_below(8);
    }
    need(pwrite(v->fd, &value, c.bytes, (off_t)c.at) == (ssize_t)c.bytes);
    return c;
}

static void change_some(unsigned long most)
{
    struct victim *v = random_below(8) ? &seg : &names;
    size_t n = 1 + random_below(4);
    struct change done[4];

    for (size_t i = 0; i < n; i++)
        done[i] = change_one(v);
    read_everything(most);
    if (round_no % 4 == 0) {
        recover_copy();
        restore_all(v);
        return;
    }
    for (size_t i = 0; i < n; i++)
        need(pwrite(v->fd, v->image + done[i].at, done[i].bytes, (off_t)done[i].at) ==
             (ssize_t)done[i].bytes);
}

static void change_size(unsigned long most)
{
    struct victim *v = random_below(3) ? &seg : &names;
    uint64_t size = random_below(v->head + 8192);

    if (random_below(2))
        size += (uint64_t)v->size - v->head;
    need(ftruncate(v->fd, (off_t)size) == 0);
    /* A header that agrees gets further. */
    if (v == &seg && size >= sizeof(struct pt_seg_header) && random_below(2))
        need(pwrite(v->fd, &size, sizeof size, offsetof(struct pt_seg_header, size)) ==
             (ssize_t)sizeof size);
    read_everything(most);
    restore_all(v);
}

static void clean_up(void)
{
    char command[160];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    need(system(command) == 0);
}

int main(void)
{
    int rounds = getenv("POSIXTRACE_TEST_SHORT") ? 60 : 3000;
    const char *base = getenv("POSIXTRACE_DIR");
    unsigned streams = 0;
    unsigned long most;

    snprintf(dir, sizeof dir, "%.100s/segment.XXXXXX", base ? base : "/tmp");
    need(mkdtemp(dir) && setenv("POSIXTRACE_DIR", dir, 1) == 0);
    snprintf(log_path, sizeof log_path, "%s/log", dir);
    alarm(WATCHDOG);
    make_subject();
    need(posixtrace_stream_list(note_segment, &streams) == 0 && streams == 1);
    take(&seg, seg_path);
    find_subject();
    need(read_everything(UINT32_MAX) == THREADS * EVENTS);
    /* A record has 16 bytes at least; each may bring a few made ones with it. */
    most = 4 * (seg.head / PT_RECORD_HEAD) + 1000;
    srand(1);
    for (round_no = 0; round_no < rounds; round_no++) {
        if (round_no % 16)
            change_some(most);
        else
            change_size(most);
    }
    /* Most changes leave a segment that is still looked into. */
    need(rounds_with_events > rounds / 2);
    need(read_everything(most) == THREADS * EVENTS);
    clean_up();
    return 0;
}
