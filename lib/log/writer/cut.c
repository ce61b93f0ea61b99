/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Mends a file that another program cut while it was being written: truncate(1), a program
 * that opens it with O_TRUNC, the copytruncate of a log rotation.  The writer writes at its
 * own offset, so without this the file would have a hole where its events, names and header
 * were.
 *
 * output.c notices the cut before the next write.  After the end of the round, the writer
 * returns to the last mark before the cut (a place with a known number of events before it)
 * and counts the later events as lost.  It cuts the file there itself, so that no event is
 * both lost and read, and writes header, names, sync points and a ROUND again.  A LOOP log is
 * started again, because its parts are anywhere in the ring.
 *
 * If the disk is full at the same time, the round does not end and its packets wait in the
 * buffer.  They would come after the cut, so they are lost, too, and the emergency status
 * counts them.  At the end of the log the writer checks the file once more after the last
 * write.
 *
 * An UNTIL_FULL log that was full accepts events again if the cut removed its STOP: then the log
 * has not reached its size, and its last event is not a STOP.
 */
#include <posixtrace/info.h>
#include <string.h>
#include "base/assert.h"
#include "log/writer/state.h"

void pt_log_writer_mark(struct pt_log_writer *w)
{
    struct pt_mark mark = { PT_LOG_DATA_START + w->ring.head,
                            w->events,
                            w->unnamed,
                            w->data_bytes,
                            w->last_ts,
                            w->full,
                            w->stopped };

    if (pt_log_writer_loops(w) || !w->params.seekable)
        return;
    while (w->mark_count && w->marks[w->mark_count - 1].offset >= mark.offset)
        w->mark_count--;
    /* Each second one stays, the newest among them: the older marks are, the further they are
     * apart, so a cut near the end loses least. */
    if (w->mark_count == PT_MARKS) {
        w->mark_count /= 2;
        for (unsigned i = 0; i < w->mark_count; i++)
            w->marks[i] = w->marks[2 * i + 1];
    }
    pt_assert(w->mark_count < PT_MARKS);
    pt_assert(w->mark_count == 0 || w->marks[w->mark_count - 1].events <= mark.events);
    w->marks[w->mark_count++] = mark;
}

/* Drops all events after the last mark before the cut; returns the offset of that mark. */
static uint64_t take_mark(struct pt_log_writer *w, uint64_t cut)
{
    struct pt_mark mark = { .offset = PT_LOG_DATA_START };
    const unsigned cause = POSIXTRACE_LOST_LOG_ERROR;

    while (w->mark_count && w->marks[w->mark_count - 1].offset > cut)
        w->mark_count--;
    if (w->mark_count)
        mark = w->marks[w->mark_count - 1];
    pt_assert(mark.events <= w->events && mark.unnamed <= w->unnamed);
    w->totals.lost[cause] += w->events - mark.events;
    /* Losses of control writers are in the sum of all only, as these are no threads. */
    w->totals.folded_lost[cause] += w->events - mark.events - (w->unnamed - mark.unnamed);
    w->uncounted = mark.events && (w->uncounted || w->events != mark.events);
    if (!mark.events)
        memset(w->counts, 0, sizeof w->counts);
    w->events = mark.events;
    w->unnamed = mark.unnamed;
    w->data_bytes = mark.data_bytes;
    w->last_ts = mark.last_ts;
    w->full = mark.full;
    w->stopped = mark.stopped;
    w->stop_due = w->stop_due && w->full;
    pt_index_clear(&w->index);
    if (w->events)
        pt_index_add(&w->index, PT_LOG_DATA_START, mark.offset - PT_LOG_DATA_START, w->first_ts,
                     w->last_ts, false);
    return mark.offset;
}

bool pt_log_writer_is_cut(struct pt_log_writer *w)
{
    pt_output_look(&w->out);
    return w->out.was_cut && !w->resumed;
}

/* The file counts as cut until names and sync points are written, too.  A failure before
 * that repeats all of it, and loses the events that came after the mark meanwhile. */
int pt_log_writer_go_back(struct pt_log_writer *w)
{
    uint64_t from = PT_LOG_DATA_START;
    int error = w->part_open && pt_log_writer_loops(w) ? pt_ring_reserve_part(w) : 0;

    if (error)
        return error;
    if (w->part_open)
        pt_log_writer_close_part(w, false);
    if (pt_log_writer_loops(w)) {
        pt_ring_give_up_all(w, POSIXTRACE_LOST_LOG_ERROR);
        pt_ring_deinit(&w->ring);
    } else {
        from = take_mark(w, w->out.cut);
    }
    w->part_goes_on = false;
    w->replace.bytes = 0;
    for (size_t i = 0; i < w->totals.count; i++)
        w->totals.entries[i].dirty = true;
    pt_assert(from >= PT_LOG_DATA_START && !w->part_open);
    /* If the file cannot be made shorter, the buffer stays, but its events are lost already. */
    pt_output_uncount(&w->out, w->out.position, w->out.length);
    error = pt_output_truncate(&w->out, from);
    if (error)
        return error;
    w->out.cut = from;
    pt_output_discard(&w->out, from);
    w->ring.head = from - PT_LOG_DATA_START;
    return pt_log_writer_header(w, 0, 0, 0);
}

/* As if the file had been cut to nothing, and no disk took any more. */
void pt_log_abandon(struct pt_log_writer *w, int error)
{
    pt_assert_call(error < 0);
    w->out.refused = error;
    w->out.was_cut = true;
    w->out.cut = 0;
    pt_log_writer_mend(w);
}

int pt_log_writer_mend(struct pt_log_writer *w)
{
    int error;

    if (!pt_log_writer_is_cut(w))
        return 0;
    error = pt_log_writer_go_back(w);
    if (!error)
        error = pt_log_writer_copies(w);
    w->ring.head = pt_output_offset(&w->out) - PT_LOG_DATA_START;
    if (error)
        return error;
    w->out.was_cut = false;
    error = pt_log_writer_round(w, 0);
    return error ? error : pt_log_writer_flush(w);
}
