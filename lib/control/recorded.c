/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pre-recorded streams: a log, and if its writer died on this machine without completing it, also
 * the rest in its segment.  Opening never writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "consumer/crash_recovery.h"
#include "consumer/tombstone.h"
#include "control/control.h"
#include "control/sequence.h"
#include "log/writer/lock.h"
#include "model/layout_cache.h"
#include "page/mapping_list.h"
#include "stream/stream.h"

/* The segment of a writer whose stream directory is another one, as another user's is, cannot
 * be found, but its lock on the log can.  True: pt_tail_open() found nothing, but the writer is
 * alive. */
static bool is_locked(const struct pt_stream *s, int found)
{
    return found == PT_TAIL_NONE && pt_descriptor_check(&s->file) == 0 &&
           pt_log_byte_is_taken(s->file.fd, PT_LOG_BYTE_STREAM);
}

/* pt_tail_open() for this log; of a log in pieces only the last one has a tail. */
static int open_tail(struct pt_tail **tail, const struct pt_log_reader *log)
{
    int r = pt_tail_open(tail, pt_log_reader_params(log)->id);

    if (r != PT_TAIL_FOUND || pt_tail_fits(*tail, log))
        return r;
    pt_tail_close(*tail);
    *tail = NULL;
    return PT_TAIL_NONE;
}

/* A recovery may have completed the log without the segment. */
static int find_tail_left(struct pt_stream *s)
{
    uint64_t size;
    int r = open_tail(&s->tail, s->log);

    if (r != PT_TAIL_FOUND)
        return r < 0 ? r : 0;
    r = pt_log_reader_leave_out_end(s->log, &size);
    return r == 0 ? pt_log_reader_set_tail(s->log, &s->tail->tail) : r;
}

/*
 * The file is read before it is known who writes it, so where its writer has gone it is read
 * again: the writer may have completed it, or a recovery, during the first reading.  The same
 * where only a lock is found: a writer removes its segment first, then releases the lock.
 */
static int find_tail(struct pt_stream *s)
{
    bool locked;
    int found, r;

    if (pt_log_reader_lacks_tail(s->log))
        return find_tail_left(s);
    if (pt_log_reader_complete(s->log) || lseek(s->file.fd, 0, SEEK_CUR) < 0)
        return 0;
    found = open_tail(&s->tail, s->log);
    s->writer_alive = found == PT_TAIL_WRITER_ALIVE;
    if (found < 0 || s->writer_alive)
        return found < 0 ? found : 0;
    locked = is_locked(s, found);
    r = pt_log_reader_again(s->log);
    if (r < 0 || pt_log_reader_complete(s->log)) {
        pt_tail_close(s->tail);
        s->tail = NULL;
        return r;
    }
    s->writer_alive = locked;
    if (found == PT_TAIL_NONE && !locked)
        pt_tombstone_tell(s->log);
    return found == PT_TAIL_FOUND ? pt_log_reader_set_tail(s->log, &s->tail->tail) : 0;
}

/* -ESTALE: another log is in the file now. */
static int read_log(struct pt_stream *s)
{
    int r = pt_log_reader_new(&s->log, s->file.fd);

    if (r == 0)
        r = find_tail(s);
    if (r == -ESTALE) {
        pt_log_reader_free(s->log);
        s->log = NULL;
    }
    return r;
}

int pt_recorded_open(struct pt_stream **stream, int fd)
{
    struct pt_stream *s = pt_stream_new(PT_STREAM_RECORDED);
    int r;

    if (!s)
        return -ENOMEM;
    /* Ours, so that the caller's close does not put another file under us. */
    r = pt_descriptor_copy(&s->file, fd);
    if (r == -EBADF)
        r = -EINVAL;
    if (r == 0)
        do
            r = read_log(s);
        while (r == -ESTALE);
    if (r < 0) {
        pt_recorded_close(s);
        return r;
    }
    *stream = s;
    return 0;
}

/*
 * Finds out whether the log's writer lives before it reads the file: if the writer has died by
 * then, the file is complete.  1: events are missing before the next one; 0; negative errno.
 */
static int follow(struct pt_stream *s)
{
    bool alive = false, alone = pt_log_reader_lacks_tail(s->log);
    struct pt_tail *tail = NULL;
    int found = PT_TAIL_NONE, r = 0;
    uint64_t size;

    if (!s->tail && (alone || !pt_log_reader_complete(s->log))) {
        found = open_tail(&tail, s->log);
        alive = found == PT_TAIL_WRITER_ALIVE || is_locked(s, found);
    }
    if (found < 0)
        return found;
    if (alone && tail)
        r = pt_log_reader_leave_out_end(s->log, &size);
    if (r == 0)
        r = pt_log_reader_follow(s->log, alive);
    /* The file may have been read again: then the sums are without the tombstone. */
    if (r >= 0 && found == PT_TAIL_NONE && !s->tail && !alive && !pt_log_reader_complete(s->log))
        pt_tombstone_tell(s->log);
    if (r >= 0)
        s->writer_alive = alive && !pt_log_reader_complete(s->log);
    if (r >= 0 && tail && !pt_log_reader_complete(s->log)) {
        int error = pt_log_reader_set_tail(s->log, &tail->tail);

        s->tail = tail;
        return error ? error : r;
    }
    pt_tail_close(tail);
    return r;
}

int pt_recorded_follow(struct pt_stream *s, bool *gap)
{
    int r;

    if (s->pieces)
        return -ENOTSUP;
    pthread_mutex_lock(&s->reading);
    r = follow(s);
    pthread_mutex_unlock(&s->reading);
    if (r >= 0)
        *gap = r;
    return r < 0 ? r : 0;
}

void pt_recorded_close(struct pt_stream *s)
{
    if (s->pieces)
        pt_sequence_close(s);
    if (s->log)
        pt_log_reader_free(s->log);
    pt_tail_close(s->tail);
    pt_descriptor_close(&s->file);
    pt_stream_free(s);
}

/*
 * A copy of a text in the shared name map, so that callers get a pointer that stays valid.  Without
 * memory for it, the text in the map itself, which callers have to copy with a bound.
 */
static const char *keep(struct pt_stream *s, enum pt_text kind, uint32_t id)
{
    const char *kept = s->texts ? pt_string_table_get(s->texts, kind, id) : NULL, *text;

    if (kept)
        return kept;
    text = kind == PT_TEXT_NAME ? pt_names_get(s->names, id) : pt_names_description(s->names, id);
    if (!s->texts)
        s->texts = calloc(1, sizeof *s->texts);
    if (s->texts && text &&
        pt_string_table_keep(s->texts, kind, id, text, strnlen(text, pt_text_max(kind) + 1u)) > 0)
        kept = pt_string_table_get(s->texts, kind, id);
    return kept ? kept : text;
}

static const char *log_text(const struct pt_stream *s, enum pt_text kind, uint32_t id)
{
    return s->pieces ? pt_sequence_text(s, kind, id) : pt_log_reader_text(s->log, kind, id);
}

const char *pt_stream_name(struct pt_stream *s, uint32_t id)
{
    const char *name = NULL;

    if (id == 0 || id >= PT_ID_MAX)
        return NULL;
    if (pt_event_is_predefined(id))
        return pt_event_system_name(id);
    if (!s->log)
        return keep(s, PT_TEXT_NAME, id);
    /* A log may know system types that this library does not, or by other names. */
    name = log_text(s, PT_TEXT_NAME, id);
    return name ? name : pt_event_system_name(id);
}

const char *pt_stream_description(struct pt_stream *s, uint32_t id)
{
    const char *text = NULL;

    if (s->log) {
        text = log_text(s, PT_TEXT_DESCRIPTION, id);
        return text ? text : pt_event_system_undescribed(id);
    }
    if (id < PT_ID_MAX)
        text = keep(s, PT_TEXT_DESCRIPTION, id);
    return text ? text : pt_event_system_description(id);
}

const char *pt_stream_mapping(struct pt_stream *s, uint32_t number)
{
    return s->log ? log_text(s, PT_TEXT_MAPPING, number) : pt_mapping_list_get(s->names, number);
}

uint32_t pt_stream_mapping_end(struct pt_stream *s)
{
    if (s->pieces)
        return pt_sequence_text_end(s, PT_TEXT_MAPPING);
    return s->log ? pt_log_reader_text_end(s->log, PT_TEXT_MAPPING) : pt_mapping_list_end(s->names);
}

int pt_stream_layout(struct pt_stream *s, uint32_t id, const struct posixtrace_layout **layout)
{
    char text[PT_DESCRIPTION_MAX + 1];
    const char *is;
    bool look = false;

    pthread_mutex_lock(&s->reading);
    if (!s->layouts)
        s->layouts = pt_layout_cache_new();
    *layout = s->layouts ? pt_layout_cache_get(s->layouts, id, &look) : NULL;
    if (look) {
        is = pt_stream_name(s, id) ? pt_stream_description(s, id) : NULL;
        if (is)
            pt_string_table_copy_out(text, is, PT_DESCRIPTION_MAX);
        *layout = pt_layout_cache_put(s->layouts, id, is ? text : NULL);
    }
    pthread_mutex_unlock(&s->reading);
    return s->layouts ? 0 : -ENOMEM;
}

bool pt_stream_lists(struct pt_stream *s, uint32_t id)
{
    if (pt_event_is_own(id) && !s->log)
        return pt_names_own_in_use(s->names);
    if (s->log && !pt_event_is_predefined(id))
        return log_text(s, PT_TEXT_NAME, id) != NULL;
    if (!s->log && id < PT_ID_MAX && !pt_event_is_predefined(id))
        return pt_names_get(s->names, id) != NULL;
    return pt_stream_name(s, id) != NULL;
}
