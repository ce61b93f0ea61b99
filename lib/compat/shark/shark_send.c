/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/shark.h: chunks are sent, and the disk writer. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include "compat/shark/shark.h"
#include "compat/common/word.h"
#include "compat/shark/shark_chunk.h"
#include "compat/shark/shark_send.h"

#define CLOCKS_DIFFER_NS 10000u

/* Held by the sender.  Taken before pt_shark_mutex, which is not held during the sending. */
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
static const struct pt_shark_way *way;

/* ---- files ---- */

static char file_name[PATH_MAX];
static unsigned file_number;
static int file = -1;
static off_t file_end; /* after the last whole record */

static int begin_file(void)
{
    char path[PATH_MAX + 16];
    const char *slash = strrchr(file_name, '/'), *base = slash ? slash + 1 : file_name;

    if (!*file_name)
        return EDESTADDRREQ;
    snprintf(path, sizeof path, "%.*s%u%s", (int)(base - file_name), file_name, file_number, base);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return errno;
    file_end = 0;
    file_number++;
    return 0;
}

/* A record that the disk took in part is not sent: the file ends before it. */
static int put_in_file(const uint8_t *records, uint32_t count, uint32_t *put)
{
    size_t bytes = (size_t)count * SHARK_RECORD, done = 0;
    int error = 0;

    while (!error && done < bytes) {
        ssize_t n = write(file, records + done, bytes - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            error = n == 0 ? EIO : errno;
    }
    *put = (uint32_t)(done / SHARK_RECORD);
    file_end += (off_t)*put * SHARK_RECORD;
    if (done % SHARK_RECORD)
        (void)!ftruncate(file, file_end); /* a pipe keeps the part */
    return error;
}

static int end_file(int error)
{
    int fd = file;

    file = -1;
    return close(fd) == 0 || error ? error : errno;
}

static const struct pt_shark_way files = { PT_SHARK_BATCH, begin_file, put_in_file, end_file };

/* A child that is forked meanwhile has the old name, none, or the new one. */
static void name_files(const char *name, size_t length)
{
    pt_word_store_relaxed(file_name, '\0');
    pt_word_fence_seqcst();
    memcpy(file_name + 1, name + 1, length);
    file_number = 0;
    pt_word_store_release(file_name, *name);
}

int posixtrace_shark_init_disk_writer(const char *fname, int flag, const char *l_ip,
                                      const char *t_ip)
{
    size_t length = fname ? strlen(fname) : 0;

    (void)flag;
    (void)l_ip;
    (void)t_ip;
    if (!length || fname[length - 1] == '/')
        return pt_shark_fail(EINVAL);
    if (length >= sizeof file_name)
        return pt_shark_fail(ENAMETOOLONG);
    pthread_mutex_lock(&sending);
    name_files(fname, length);
    way = &files;
    pthread_mutex_unlock(&sending);
    return 0;
}

int posixtrace_shark_init_udp(int flag, const char *l_ip, const char *t_ip)
{
    int error;

    (void)flag;
    pthread_mutex_lock(&sending);
    error = pt_shark_udp_open(l_ip ? l_ip : "", t_ip ? t_ip : "");
    if (!error)
        way = &pt_shark_udp;
    pthread_mutex_unlock(&sending);
    return error ? pt_shark_fail(error) : 0;
}

/* ---- sending ---- */

/* Each stream counts time by itself, and is allowed to be some microseconds off.  An event
 * that is sent next counts as later: the kernel's chunks have one clock. */
static uint64_t in_order(uint64_t tsc)
{
    static uint64_t newest;

    if (tsc < newest && newest - tsc < CLOCKS_DIFFER_NS)
        tsc = newest;
    if (tsc > newest)
        newest = tsc;
    return tsc;
}

/* Sends what was taken; the rest stays, at the front. */
static int put_taken(struct pt_shark_chunk *c, const struct pt_shark_way *to)
{
    uint32_t done = 0;
    int error = 0;

    while (!error && done < c->taken_count) {
        uint32_t n = c->taken_count - done, put = 0;

        error = to->put(c->taken + (size_t)done * SHARK_RECORD, n < to->batch ? n : to->batch,
                        &put);
        done += put;
    }
    c->taken_count -= done;
    memmove(c->taken, c->taken + (size_t)done * SHARK_RECORD,
            (size_t)c->taken_count * SHARK_RECORD);
    pt_word_store_relaxed(&c->sent, c->sent + done);
    return error;
}

static void take(struct pt_shark_chunk *c, const struct posixtrace_event *e)
{
    struct shark_record r;

    pt_shark_unpack_data(e->data, &r);
    r.par2 = pt_shark_in_ns((uint8_t)r.code, r.par2);
    r.tsc = in_order((uint64_t)e->ns);
    pt_shark_pack(c->taken + (size_t)c->taken_count++ * SHARK_RECORD, &r);
}

/* Puts what an earlier send left, and the events that were there at the start. */
static int put_all(struct pt_shark_chunk *c, const struct pt_shark_way *to)
{
    trace_event_id_t type = pt_word_load_relaxed(&c->event);
    struct posixtrace_event e = { .ns = 0 };
    struct timespec now;
    int64_t begun;
    int unavailable = 0, error = 0;

    clock_gettime(CLOCK_REALTIME, &now);
    begun = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    while (e.ns <= begun) {
        if (c->taken_count >= to->batch)
            error = put_taken(c, to);
        if (!error)
            error = posixtrace_next_event(c->trid, &e, sizeof e, &unavailable);
        if (error || unavailable)
            break;
        if (e.id == type && e.data_len == PT_SHARK_DATA)
            take(c, &e);
    }
    return error ? error : put_taken(c, to);
}

/* BUSY keeps it from being deleted. */
static struct pt_shark_chunk *hold(int number)
{
    struct pt_shark_chunk *c;

    pthread_mutex_lock(&pt_shark_mutex);
    c = pt_shark_find(number);
    if (c)
        pt_word_set_seqcst(&c->flags, FTRACE_CHUNK_FLAG_BUSY);
    pthread_mutex_unlock(&pt_shark_mutex);
    return c;
}

/* new_flags -1: as they are. */
static int send_held(struct pt_shark_chunk *c, const struct pt_shark_way *to, int new_flags)
{
    uint64_t before = c->sent;
    int error = to->begin();

    if (!error)
        error = to->end(put_all(c, to));
    pthread_mutex_lock(&pt_shark_mutex);
    pt_shark_give_back(c, c->sent - before);
    if (!error && new_flags >= 0)
        pt_shark_put_flags(c, (unsigned)new_flags);
    pt_word_clear_seqcst(&c->flags, FTRACE_CHUNK_FLAG_BUSY);
    pthread_mutex_unlock(&pt_shark_mutex);
    return error;
}

/* to NULL: the way that was initialised last. */
static int send_chunk(int number, const struct pt_shark_way *to, int new_flags)
{
    struct pt_shark_chunk *c;
    int error = ENOENT, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_mutex_lock(&sending);
    to = to ? to : way;
    c = hold(number);
    if (c && to)
        error = send_held(c, to, new_flags);
    else if (c) {
        pt_word_clear_seqcst(&c->flags, FTRACE_CHUNK_FLAG_BUSY);
        error = EDESTADDRREQ;
    }
    pthread_mutex_unlock(&sending);
    pthread_setcancelstate(cancel, &cancel);
    return error;
}

int posixtrace_shark_send_chunk(int number, int osd_flags, FTrace_flags new_flags)
{
    int error = pt_shark_flags_are_good(new_flags) ? send_chunk(number, NULL, new_flags) : EINVAL;

    (void)osd_flags;
    return error ? pt_shark_fail(error) : 0;
}

void posixtrace_shark_disk_writer(FTrace_Chunk_Ptr chunk)
{
    errno = chunk ? send_chunk(chunk->number, &files, -1) : EINVAL;
}

/* ---- after fork ---- */

/* Another thread of the parent may be sending; the file is its own. */
static void forked(void)
{
    int fd = file;

    sending = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    file = -1;
    if (fd >= 0)
        close(fd);
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, forked);
}
