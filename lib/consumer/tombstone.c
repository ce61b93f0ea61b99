/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See tombstone.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "consumer/crash_recovery.h"
#include "consumer/tombstone.h"
#include "place/dir.h"

#define MAGIC  0x31424d4f545850ull
#define PLACES 1024u

struct head {
    uint64_t magic;
    uint64_t streams, events;
    uint64_t pad[5];
};

static off_t place_of(uint64_t number)
{
    return (off_t)(sizeof(struct head) + number % PLACES * sizeof(struct pt_tombstone));
}

static bool read_head(int fd, struct head *h)
{
    return pread(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h && h->magic == MAGIC;
}

static int open_file(int dir, int flags)
{
    int fd = pt_open_above(dir, PT_DIR_LOST_FILE, flags | PT_OPEN_BRIEFLY, 0600);

    return fd < 0 ? -errno : fd;
}

static int open_to_read(void)
{
    int dir = pt_dir_open(false), fd;

    if (dir < 0)
        return dir;
    fd = open_file(dir, O_RDONLY);
    close(dir);
    return fd;
}

/* By its writers, from the start of the stream on. */
static uint64_t lost_of(const struct pt_tail *tail, unsigned cause)
{
    uint64_t lost = tail->tail.status.lost_unknown_author[cause];

    for (size_t i = 0; i < tail->tail.author_count; i++)
        lost += tail->tail.authors[i].lost[cause];
    return lost;
}

int pt_tombstone_make(struct pt_tombstone *t, const struct pt_seg_header *h, int log)
{
    struct pt_tail *tail;
    uint64_t switches;
    int r;

    memset(t, 0, sizeof *t);
    r = pt_tail_open(&tail, h->id);
    if (r != PT_TAIL_FOUND)
        return r;
    r = pt_tail_missing(tail, log, &t->events);
    memcpy(t->id, h->id, sizeof t->id);
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        t->lost[c] = lost_of(tail, c);
    switches = tail->tail.status.lost_switches;
    t->lost_switches = switches < UINT32_MAX ? (uint32_t)switches : UINT32_MAX;
    t->created_ns = h->attr.create_ns;
    t->buried_ns = (int64_t)pt_clock_ns(CLOCK_REALTIME);
    t->pid = h->owner_pid;
    t->piece = tail->tail.booked.piece;
    memcpy(t->log_path, h->log_path, sizeof t->log_path - 1);
    pt_tail_close(tail);
    return r < 0 ? r : PT_TAIL_FOUND;
}

int pt_tombstone_put(int dir, const struct pt_tombstone *t)
{
    int fd = open_file(dir, O_RDWR | O_CREAT), e;
    struct head h;

    if (fd < 0)
        return fd;
    if (!read_head(fd, &h))
        h = (struct head){ .magic = MAGIC };
    e = pt_sys_write_at(fd, t, sizeof *t, (uint64_t)place_of(h.streams));
    h.streams++;
    h.events += t->events;
    if (e == 0)
        e = pt_sys_write_at(fd, &h, sizeof h, 0);
    close(fd);
    return e;
}

/* The latest of that id: one may have been put twice, if its writer was killed between. */
static bool find(int fd, const uint8_t id[16], struct pt_tombstone *t)
{
    struct head h;

    if (!read_head(fd, &h))
        return false;
    for (uint64_t i = 0; i < PLACES && i < h.streams; i++)
        if (pread(fd, t, sizeof *t, place_of(h.streams - 1 - i)) == (ssize_t)sizeof *t &&
            memcmp(t->id, id, sizeof t->id) == 0)
            return true;
    return false;
}

void pt_tombstone_tell(struct pt_log_reader *r)
{
    const struct pt_log_params *log = pt_log_reader_params(r);
    int fd = open_to_read();
    struct posixtrace_info info;
    struct pt_tombstone t;
    bool found = fd >= 0 && find(fd, log->id, &t);

    if (fd >= 0)
        close(fd);
    /* The pieces before have no part of it. */
    if (!found || (t.piece > 1 && t.piece != log->piece) || (t.piece == 1 && log->piece > 1) ||
        pt_log_reader_info(r, &info) < 0)
        return;
    pt_log_reader_report_lost(r, PT_LOG_BURIED, t.events);
    pt_log_reader_raise_lost_switches(r, t.lost_switches);
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        if (t.lost[c] > info.lost[c])
            pt_log_reader_add_lost(r, c, t.lost[c] - info.lost[c]);
}

void pt_tombstone_count(uint64_t *streams, uint64_t *events)
{
    int fd = open_to_read();
    struct head h;

    *streams = *events = 0;
    if (fd >= 0 && read_head(fd, &h)) {
        *streams = h.streams;
        *events = h.events;
    }
    if (fd >= 0)
        close(fd);
}
