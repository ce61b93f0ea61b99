/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Buffers of the kernel, which begin with CONTROL BUFFER and its sequence number.  After
 * an overrun, or from a ring, they are not in order in the file: one that is ahead waits,
 * among a bounded number, for those before it; then these are taken for lost.  Which one
 * is the first is known when as many have come.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_file.h"
#include "base/assert.h"

enum { RECORDS_HELD = 65536 };

static bool deliver_block(struct pt_kev_file *f, struct pt_kev_block *b)
{
    bool good = true;

    pt_assert(b->count <= f->held_records);
    f->held_records -= b->count;
    for (uint32_t i = 0; i < b->count && good; i++)
        good = pt_kev_deliver(f, b->records + (size_t)i * PT_KEV_RECORD,
                              b->where + (uint64_t)(i + 1) * PT_KEV_RECORD);
    b->count = 0;
    return good;
}

/* Takes it out of the held ones, and gives it to the log. */
static bool release(struct pt_kev_file *f, unsigned i)
{
    struct pt_kev_block b = f->held[i];
    bool was_filled = f->filling == &f->held[i], moved = f->filling == &f->held[f->held_count - 1];
    bool good;

    pt_assert_call(i < f->held_count);
    f->held[i] = f->held[--f->held_count];
    f->held[f->held_count] = (struct pt_kev_block){ 0 };
    if (was_filled)
        f->filling = NULL;
    else if (moved)
        f->filling = &f->held[i];
    if ((int32_t)(b.sequence - f->next) >= 0)
        f->next = b.sequence + 1;
    good = deliver_block(f, &b);
    free(b.records);
    return good;
}

static unsigned first_held(const struct pt_kev_file *f)
{
    unsigned at = 0;

    for (unsigned i = 1; i < f->held_count; i++)
        if ((int32_t)(f->held[i].sequence - f->held[at].sequence) < 0)
            at = i;
    return at;
}

static bool release_those_due(struct pt_kev_file *f)
{
    unsigned i;

    while (f->held_count > 0 && f->held[i = first_held(f)].sequence == f->next)
        if (!release(f, i))
            return false;
    return true;
}

/* Gives up waiting for the blocks before the first one that is held: they count as lost. */
static bool give_up(struct pt_kev_file *f)
{
    const struct pt_kev_block *b = &f->held[first_held(f)];
    uint32_t missing = b->sequence - f->next;

    if ((int32_t)missing <= 0) /* there were two of that number */
        return release(f, first_held(f));
    pt_job_note(f->im->job, PT_KEV_NOTE_LOSS,
                "offset %" PRIu64 ": %" PRIu32 " buffer%s missing "
                "before number %" PRIu32 ": their events are lost",
                b->where, missing, missing == 1 ? " is" : "s are", b->sequence);
    return pt_kev_parts_end(f, "buffers are missing") &&
           pt_kev_push_loss(f->im, b->where, missing, f->next, b->sequence) &&
           release(f, first_held(f)) && release_those_due(f);
}

/* The lowest number that waits is the first. */
static void end_start(struct pt_kev_file *f)
{
    f->known = true;
    f->next = f->held_count ? f->held[first_held(f)].sequence : 0;
}

static bool release_all(struct pt_kev_file *f)
{
    while (f->held_count > 0)
        if (!give_up(f))
            return false;
    return true;
}

/* Has the last block a lower number than an older one?  Then numbering has restarted with it. */
static bool restarts(const struct pt_kev_file *f)
{
    const struct pt_kev_block *last = &f->held[f->held_count - 1];

    for (unsigned i = 0; i + 1 < f->held_count && last->time; i++)
        if (f->held[i].time && f->held[i].time <= last->time &&
            (int32_t)(last->sequence - f->held[i].sequence) <= 0)
            return true;
    return false;
}

static bool restart(struct pt_kev_file *f)
{
    struct pt_kev_block last = f->held[--f->held_count];
    bool good;

    f->held[f->held_count] = (struct pt_kev_block){ 0 };
    pt_job_note(f->im->job, PT_KEV_NOTE_ORDER,
                "offset %" PRIu64 ": sequence numbers continue at "
                "%" PRIu32,
                last.where, last.sequence);
    end_start(f);
    good = release_all(f);
    f->held[f->held_count++] = last;
    f->next = last.sequence;
    return good && release_those_due(f);
}

/* A block with a lower number than others was not late if none of its events came too late: then
 * numbering has restarted with it. */
static void end_late(struct pt_kev_file *f)
{
    f->late = false;
    if (f->im->late != f->late_before)
        return;
    pt_job_note(f->im->job, PT_KEV_NOTE_ORDER,
                "offset %" PRIu64 ": sequence numbers continue at "
                "%" PRIu32,
                f->block_where, f->sequence);
    f->next = f->sequence + 1;
}

static bool end_block(struct pt_kev_file *f)
{
    bool waits = f->filling != NULL;

    f->filling = NULL;
    if (f->said && f->seen + 1 < f->said)
        pt_job_note(f->im->job, PT_KEV_NOTE_RECORDS,
                    "offset %" PRIu64 ": buffer %" PRIu32 " is "
                    "said to have %" PRIu32 " records, and %" PRIu32 " are there",
                    f->block_where, f->sequence, f->said, f->seen);
    f->said = 0;
    if (f->late)
        end_late(f);
    if (!f->known)
        return !waits || !restarts(f) || restart(f);
    return release_those_due(f);
}

static void hold(struct pt_kev_file *f, uint32_t sequence, uint64_t where)
{
    f->filling = &f->held[f->held_count++];
    *f->filling = (struct pt_kev_block){ .sequence = sequence, .where = where };
}

static bool begin_block(struct pt_kev_file *f, uint32_t sequence, uint32_t said, uint64_t where)
{
    if (!end_block(f))
        return false;
    f->sequence = sequence;
    f->said = said;
    f->seen = 1;
    f->block_where = where;
    if (!f->known && f->held_count == PT_KEV_HELD) {
        end_start(f);
        if (!release_those_due(f))
            return false;
    }
    if (!f->known) {
        hold(f, sequence, where);
        return true;
    }
    while ((int32_t)(sequence - f->next) > 0 && f->held_count == PT_KEV_HELD)
        if (!give_up(f))
            return false;
    if ((int32_t)(sequence - f->next) > 0) {
        hold(f, sequence, where);
        return true;
    }
    if (sequence == f->next) {
        f->next++;
        return true;
    }
    if (!release_all(f))
        return false;
    pt_job_note(f->im->job, PT_KEV_NOTE_ORDER,
                "offset %" PRIu64 ": buffer %" PRIu32 " comes "
                "after number %" PRIu32,
                where, sequence, f->next - 1);
    f->late = true;
    f->late_before = f->im->late;
    return true;
}

/* The time in a CONTROL TIME; 0: another record. */
static uint64_t time_in(const struct pt_kev_file *f, const uint8_t *record)
{
    bool be = f->im->big_endian;

    if ((pt_kev_load(record, be) & 0xc0007fffu) != (PT_KEV_CONTROL << 10 | PT_KEV_TIME))
        return 0;
    return (uint64_t)pt_kev_load(record + 8, be) << 32 | pt_kev_load(record + 12, be);
}

static bool keep(struct pt_kev_file *f, const uint8_t *record)
{
    struct pt_kev_block *b = f->filling;
    uint32_t room = b->room ? 2 * b->room : 256;
    uint8_t *more;

    if (b->count == b->room) {
        more = realloc(b->records, (size_t)room * PT_KEV_RECORD);
        if (!more)
            return pt_job_fail(f->im->job, ENOMEM, "no memory"), false;
        b->records = more;
        b->room = room;
    }
    memcpy(b->records + (size_t)b->count++ * PT_KEV_RECORD, record, PT_KEV_RECORD);
    if (!b->time)
        b->time = time_in(f, record);
    if (++f->held_records > RECORDS_HELD && !f->known)
        end_start(f);
    while (f->held_records > RECORDS_HELD && f->held_count > 0)
        if (!give_up(f))
            return false;
    return true;
}

bool pt_kev_block_record(struct pt_kev_file *f, const uint8_t *record, uint64_t where)
{
    uint32_t header = pt_kev_load(record, f->im->big_endian);

    if (pt_kev_part(header) == PT_KEV_SIMPLE &&
        pt_kev_type(header) == (PT_KEV_CONTROL << 10 | PT_KEV_BUFFER))
        return begin_block(f, pt_kev_load(record + 8, f->im->big_endian),
                           pt_kev_load(record + 12, f->im->big_endian), where);
    f->seen++;
    return f->filling ? keep(f, record) : pt_kev_deliver(f, record, where);
}

bool pt_kev_block_end(struct pt_kev_file *f)
{
    if (!end_block(f))
        return false;
    if (!f->known)
        end_start(f);
    return release_all(f) && pt_kev_parts_end(f, "the trace ends");
}

void pt_kev_file_free(struct pt_kev_file *f)
{
    for (unsigned i = 0; i < f->held_count; i++)
        free(f->held[i].records);
    for (unsigned i = 0; i < PT_KEV_PENDING; i++)
        free(f->pending[i].data);
}
