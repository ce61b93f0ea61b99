/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sequence.h: the list of pieces, and reading them one after the other. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "control/control.h"
#include "control/sequence_state.h"
#include "log/format.h"

#define PART ".part"

/* ---- which files ---- */

/* A piece may have got its name since. */
static int open_file(const char *path)
{
    size_t length = strlen(path), part = sizeof PART - 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char *name;

    if (fd >= 0 || errno != ENOENT || length <= part || strcmp(path + length - part, PART) != 0 ||
        !(name = strndup(path, length - part)))
        return fd;
    fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    free(name);
    return fd;
}

/* From the header alone.  1; 0: it is no log, or not there; -ENOTUNIQ: of another stream. */
static int look_at(struct pt_sequence *q, const char *path, struct pt_sequence_piece *p)
{
    int fd = open_file(path), found = 0;
    struct pt_log_header h;
    struct stat st;

    if (fd < 0)
        return pt_is_shortage(-errno) ? -errno : 0;
    if (fstat(fd, &st) == 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
        pt_log_header_open(&h)) {
        bool first = q->count == 0;

        if (first)
            memcpy(q->info.id, h.id, sizeof h.id);
        found = first || memcmp(q->info.id, h.id, sizeof h.id) == 0 ? 1 : -ENOTUNIQ;
        *p = (struct pt_sequence_piece){ .number = h.piece ? h.piece : 1,
                                         .complete = (h.flags & PT_LOG_COMPLETE) != 0,
                                         .size = st.st_size };
    }
    close(fd);
    return found;
}

/* Of copies of a piece the best one comes first. */
static int by_number(const void *a, const void *b)
{
    const struct pt_sequence_piece *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->complete != y->complete)
        return x->complete ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

static void leave_out_copies(struct pt_sequence *q)
{
    size_t kept = 0;

    if (q->count)
        qsort(q->list, q->count, sizeof *q->list, by_number);
    for (size_t i = 0; i < q->count; i++) {
        if (kept > 0 && q->list[i].number == q->list[kept - 1].number)
            free(q->list[i].path);
        else
            q->list[kept++] = q->list[i];
    }
    q->count = kept;
}

static int list_files(struct pt_sequence *q, const char *const *paths, size_t count)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < count; i++) {
        struct pt_sequence_piece p;

        r = pt_array_grow(&q->list, &q->room, q->count, sizeof *q->list);
        if (r == 0)
            r = look_at(q, paths[i], &p);
        if (r != 1)
            continue;
        p.path = strdup(paths[i]);
        if (!p.path)
            return -ENOMEM;
        q->list[q->count++] = p;
    }
    leave_out_copies(q);
    return r < 0 ? r : q->count ? 0 : -EINVAL;
}

/* ---- one piece ---- */

int pt_sequence_open_piece(const struct pt_sequence *q, size_t index, struct pt_stream **part)
{
    int fd = open_file(q->list[index].path), r;

    if (fd < 0)
        return -errno;
    r = pt_recorded_open(part, fd);
    close(fd);
    if (r == 0 && memcmp(pt_log_reader_params((*part)->log)->id, q->info.id, 16) != 0) {
        pt_recorded_close(*part);
        return -ESTALE;
    }
    if (r == 0 && q->knots) {
        r = pt_log_reader_set_map((*part)->log, q->knots, q->knot_count);
        if (r < 0)
            pt_recorded_close(*part);
    }
    return r;
}

static void close_part(struct pt_stream *s)
{
    struct pt_sequence *q = s->pieces;

    if (q->part)
        pt_recorded_close(q->part);
    q->part = NULL;
    s->log = NULL;
}

/* Its events are missing, and were there when the pieces were opened. */
static void lose(struct pt_sequence *q, struct pt_sequence_piece *p)
{
    q->info.events -= p->events < q->info.events ? p->events : q->info.events;
    q->info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] += p->events;
    p->events = 0;
    q->vanished = true;
    q->counted = false;
}

static void make_marks_due(struct pt_sequence *q, struct pt_sequence_piece *p)
{
    if (q->vanished && !p->gap) {
        p->gap = true;
        q->marks_made++;
        q->info.events += 2;
    }
    q->vanished = false;
    q->marks = p->gap ? 2 : 0;
    q->mark_ns[0] = p->before_ns;
    q->mark_ns[1] = p->first_ns > p->before_ns ? p->first_ns : p->before_ns;
    q->gap = q->marks > 0;
}

/* Opens the piece with that index, or the next one that is there.  1; 0: none is left; -errno. */
static int go_to(struct pt_stream *s, size_t index)
{
    struct pt_sequence *q = s->pieces;

    for (; index < q->count; index++) {
        struct pt_stream *part;
        int r = pt_sequence_open_piece(q, index, &part);

        if (pt_is_shortage(r))
            return r;
        if (r < 0) {
            lose(q, &q->list[index]);
            continue;
        }
        close_part(s);
        q->part = part;
        q->at = index;
        q->rounds = q->last_round;
        s->log = part->log;
        make_marks_due(q, &q->list[index]);
        return 1;
    }
    return 0;
}

/* ---- reading ---- */

static bool take_mark(struct pt_sequence *q, struct pt_event *e)
{
    if (q->marks == 0)
        return false;
    *e = (struct pt_event){ .id = q->marks == 2 ? POSIX_TRACE_OVERFLOW : POSIX_TRACE_RESUME,
                            .ns = q->mark_ns[q->marks == 2 ? 0 : 1],
                            .author = &q->maker };
    q->marks--;
    return true;
}

int pt_sequence_next(struct pt_stream *s, struct pt_event *e, bool *gap)
{
    struct pt_sequence *q = s->pieces;
    bool missing = false;
    int r;

    do {
        missing |= q->gap;
        q->gap = false;
        if (take_mark(q, e)) {
            r = 1;
            break;
        }
        if (gap) {
            r = pt_log_reader_next_whole(s->log, e, gap);
            missing |= *gap;
        } else {
            r = pt_log_reader_next(s->log, e);
        }
    } while (r == 0 && (r = go_to(s, q->at + 1)) == 1);
    if (gap)
        *gap = missing;
    return r;
}

bool pt_sequence_near(struct pt_stream *s, struct pt_event *e)
{
    return s->pieces->marks == 0 && pt_log_reader_near(s->log, e);
}

static void mark_block(struct pt_sequence *q, unsigned wanted, struct pt_log_block *b)
{
    bool lengths = (wanted & (PT_BLOCK_LENGTHS | PT_BLOCK_DATA)) != 0;
    static const uint32_t zeros[2];
    static const uint8_t bytes[2];
    static const uint64_t words[2];
    struct pt_event e;

    *b = (struct pt_log_block){ .author = &q->maker,
                                .round = ++q->rounds,
                                .ns = q->block_ns,
                                .ids = q->block_ids,
                                .lengths = lengths ? zeros : NULL,
                                .truncated = lengths ? bytes : NULL,
                                .addresses = wanted & PT_BLOCK_ADDRESSES ? words : NULL,
                                .data = wanted & PT_BLOCK_DATA ? bytes : NULL,
                                .offsets = wanted & PT_BLOCK_DATA ? zeros : NULL };
    while (take_mark(q, &e)) {
        q->block_ns[b->count] = e.ns;
        q->block_ids[b->count++] = e.id;
    }
    q->last_round = q->rounds;
}

int pt_sequence_next_block(struct pt_stream *s, unsigned wanted, struct pt_log_block *b)
{
    struct pt_sequence *q = s->pieces;
    bool missing = false;
    int r;

    do {
        missing |= q->gap;
        q->gap = false;
        if (q->marks) {
            mark_block(q, wanted, b);
            r = 1;
            break;
        }
        r = pt_log_reader_next_block(s->log, wanted, b);
        missing |= b->gap;
        b->round += q->rounds;
        if (r == 1)
            q->last_round = b->round;
    } while (r == 0 && (r = go_to(s, q->at + 1)) == 1);
    b->gap = missing;
    return r;
}

int pt_sequence_rewind(struct pt_stream *s)
{
    int r;

    s->pieces->last_round = 0;
    r = go_to(s, 0);
    return r < 0 ? r : 0;
}

/* The first piece whose events, or those of a piece before it, reach that time. */
int pt_sequence_seek(struct pt_stream *s, int64_t ns)
{
    struct pt_sequence *q = s->pieces;
    size_t i = 0;
    int r;

    while (i + 1 < q->count && q->list[i].last_ns < ns)
        i++;
    q->last_round = 0;
    r = go_to(s, i);
    if (r < 0 || !s->log)
        return r < 0 ? r : 0;
    while (q->marks && q->mark_ns[q->marks == 2 ? 0 : 1] < ns)
        q->marks--;
    q->gap = q->marks > 0;
    return pt_log_reader_seek(s->log, ns);
}

/* ---- life ---- */

void pt_sequence_forget_sums(struct pt_sequence *q)
{
    uint8_t id[sizeof q->info.id];

    memcpy(id, q->info.id, sizeof id);
    q->info = (struct posixtrace_info){ .end = 0 };
    memcpy(q->info.id, id, sizeof id);
    free(q->threads);
    free(q->syncs);
    q->threads = NULL;
    q->syncs = NULL;
    q->thread_count = q->thread_room = q->sync_count = q->sync_room = 0;
    q->marks_made = 0;
    q->counted = q->vanished = false;
    for (size_t i = 0; i < q->count; i++)
        q->list[i].gap = false;
}

static void free_sequence(struct pt_sequence *q)
{
    for (size_t i = 0; i < q->count; i++)
        free(q->list[i].path);
    pt_sequence_forget_sums(q);
    free(q->list);
    free(q->knots);
    pt_string_table_deinit(&q->texts);
    free(q);
}

/* Names stay: callers may have them. */
int pt_sequence_set_map(struct pt_stream *s, const struct pt_knot *knots, size_t n)
{
    struct pt_sequence *q = s->pieces;
    struct pt_knot *copy = n ? malloc(n * sizeof *copy) : NULL;
    int r;

    if (n && !copy)
        return -ENOMEM;
    if (n)
        memcpy(copy, knots, n * sizeof *copy);
    r = pt_log_reader_set_map(s->log, knots, n);
    if (r < 0) {
        free(copy);
        return r;
    }
    free(q->knots);
    q->knots = copy;
    q->knot_count = n;
    pt_sequence_forget_sums(q);
    r = pt_sequence_sum(q);
    if (r == 0)
        r = pt_sequence_rewind(s);
    return r;
}

void pt_sequence_close(struct pt_stream *s)
{
    struct pt_sequence *q = s->pieces;

    close_part(s);
    s->pieces = NULL;
    free_sequence(q);
}

int pt_sequence_open(struct pt_stream **stream, const char *const *paths, size_t count)
{
    struct pt_stream *s = pt_stream_new(PT_STREAM_RECORDED);
    struct pt_sequence *q = calloc(1, sizeof *q);
    int r = s && q ? list_files(q, paths, count) : -ENOMEM;

    if (r == 0)
        r = pt_sequence_sum(q);
    if (q && s) {
        s->pieces = q;
        s->file.fd = -1;
        q->maker.wid = 1;
    } else {
        free(q);
    }
    if (r == 0)
        r = go_to(s, 0) == 1 ? 0 : -EINVAL;
    if (r < 0) {
        if (s)
            pt_recorded_close(s);
        return r;
    }
    *stream = s;
    return 0;
}
