/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The builder: makes packets of single events.
 *
 * Each author collects its records in a buffer; a full buffer becomes a packet.  The round ends
 * after about a megabyte of records, and later where there are many authors, since a packet has
 * a fixed cost in the log and for its reader, however few events it has: with its place in the
 * list of authors, 232 bytes.  So a round has LEAST_BYTES of records for each of its authors, for
 * any number of them and any order of events, and the memory is in proportion to the authors of a
 * round.  made_clock.h keeps events with equal times in the order in which they were added.
 *
 * An author is a thread: the events with the same process, thread id and pthread_t, under the
 * latest name, as in a log that was recorded (docs/log-format.md, section 7).  Among events with
 * neither thread id nor pthread_t, the name distinguishes threads.  A thread that starts after one
 * with the same numbers has ended is another author.
 */
#include <errno.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/clock.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/sys.h"
#include "log/author_stats.h"
#include "log/writer/builder.h"
#include "log/writer/made_clock.h"
#include "model/layout.h"
#include "log/writer/writer.h"
#include "shm/record.h"

#define PACKET_BYTES  (64u << 10) /* of records; one event of the largest size fits */
#define FIRST_BYTES   256u
#define ROUND_BYTES   (1u << 20)
#define AUTHOR_BYTES  (3u << 10)  /* more of them for each author in it, */
#define AUTHORS_BYTES (48u << 20) /* up to so many, */
#define LEAST_BYTES   256u        /* but not less than this for each */
#define KEPT_BYTES    (2u << 10)  /* of a buffer between rounds */
/* Known between rounds: if there are more all are forgotten, and the writer's totals may fold
 * them. */
#define KEPT_AUTHORS 32768u
#define MAX_AUTHORS  (1u << 22) /* in a round: the threads that Linux can have at a time */
#define FIRST_CELLS  1024u      /* more than twice the authors; a power of two */
#define NAME_CELLS   4096u      /* more than twice the ids there are */

struct author {
    struct pt_author author;
    uint64_t recorded, listed;  /* by the end of the last round */
    uint64_t first_ts, last_ts; /* of the events in the buffer */
    uint64_t base_ts;           /* base after the last record in it */
    uint32_t events;
    uint8_t *buffer;
    uint32_t length;
    size_t room;
    bool ended; /* with posixtrace_thread_end */
};

struct pt_log_builder {
    struct pt_log_writer *writer;
    uint64_t round_bytes, chunk_seq;
    struct pt_made_clock clock;
    uint64_t last_wid; /* greatest writer number at the clock's last tick, in this round */
    uint64_t next_wid;
    uint64_t factor; /* of both hashes: a file that is imported chooses the keys */
    struct author *authors;
    size_t author_room;
    uint32_t author_count;
    uint32_t round_authors; /* with events in this round */
    uint32_t *author_cells; /* index + 1 */
    uint32_t author_cell_count;
    uint64_t lost[PT_LOSS_CAUSES];
    uint64_t lost_switches; /* beside these */
    bool hides;             /* marks of missing events, in this round */
    uint32_t next_id;
    char *names[PT_ID_MAX];
    uint16_t name_cells[NAME_CELLS]; /* id */
};

/* Every event is looked up twice: eight bytes at a step. */
static uint32_t hash_bytes(const void *at, size_t bytes, uint64_t factor)
{
    const char *p = at;
    uint64_t h = bytes, word;

    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * factor;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, p, bytes);
    return pt_hash(h ^ word, factor);
}

void pt_log_builder_free(struct pt_log_builder *b)
{
    for (uint32_t i = 0; i < b->author_count; i++)
        free(b->authors[i].buffer);
    for (unsigned i = 0; i < PT_ID_MAX; i++)
        free(b->names[i]);
    free(b->authors);
    free(b->author_cells);
    pt_log_writer_free(b->writer);
    free(b);
}

/* The cell of the name in the table; 0 in it: the name is new. */
static uint16_t *name_cell(struct pt_log_builder *b, const char *name, size_t length)
{
    uint32_t i = hash_bytes(name, length, b->factor) % NAME_CELLS;

    while (b->name_cells[i] && strcmp(b->names[b->name_cells[i]], name) != 0)
        i = (i + 1) % NAME_CELLS;
    return &b->name_cells[i];
}

static int open_log(struct pt_log_builder *b, int fd, const struct pt_attr *attr)
{
    struct pt_log_params params = { .clock = PT_CLOCK_REALTIME };
    struct stat st;

    if (fstat(fd, &st) != 0)
        return -errno;
    params.seekable = S_ISREG(st.st_mode);
    if (attr) {
        params.attr = *attr;
    } else {
        pt_attr_init(&params.attr);
        params.attr.compression = POSIXTRACE_COMPRESSION_COLUMNS;
    }
    params.attr.log_policy = POSIX_TRACE_APPEND;
    params.attr.create_ns = (int64_t)pt_clock_ns(CLOCK_REALTIME);
    params.attr.clock_res_ns = 1;
    pt_sys_random(params.id, sizeof params.id);
    return pt_log_writer_new(&b->writer, fd, &params);
}

int pt_log_builder_new(struct pt_log_builder **builder, int fd, const struct pt_attr *attr)
{
    struct pt_log_builder *b = calloc(1, sizeof *b);
    int error = b ? 0 : -ENOMEM;

    if (b) {
        b->next_wid = 2; /* 0 and 1: the control writers of streams */
        b->chunk_seq = 1;
        b->factor = pt_hash_factor();
        b->next_id = PT_ID_NAMED_FIRST;
        b->author_cell_count = FIRST_CELLS;
        b->author_cells = calloc(FIRST_CELLS, sizeof *b->author_cells);
        error = b->author_cells ? open_log(b, fd, attr) : -ENOMEM;
    }
    if (error) {
        if (b)
            pt_log_builder_free(b);
        return error;
    }
    *builder = b;
    return 0;
}

/* The predefined id of a name, or 0. */
static uint32_t predefined_id(const char *name)
{
    const char *predefined;

    for (uint32_t id = 1; id <= PT_ID_USER_FIRST; id++) {
        predefined = pt_event_system_name(id);
        if (predefined && strcmp(predefined, name) == 0)
            return id;
    }
    return 0;
}

/* The id of a name, which is put into the log when it is new: > 0 or -errno. */
static int id_of(struct pt_log_builder *b, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    uint16_t *cell;
    uint32_t id;
    char *copy;
    int error;

    if (!length)
        return -EINVAL;
    if (length > TRACE_EVENT_NAME_MAX)
        return -ENAMETOOLONG;
    cell = name_cell(b, name, length);
    if (*cell)
        return *cell;
    id = predefined_id(name);
    if (!id && b->next_id == PT_ID_MAX)
        return -ENOSPC;
    if (!id)
        id = b->next_id;
    copy = strdup(name);
    error = copy ? pt_log_put_text(b->writer, PT_TEXT_NAME, id, name) : -ENOMEM;
    if (error) {
        free(copy);
        return error;
    }
    b->next_id += id == b->next_id;
    b->names[id] = copy;
    *cell = (uint16_t)id;
    return (int)id;
}

/* The first event of a system type says whether its data is that of an old log, which has no
 * description. */
static int describe_own(struct pt_log_builder *b, uint32_t id, size_t data_len)
{
    const char *text = pt_event_system_undescribed(id);
    struct posixtrace_layout *layout;
    int error;

    if (!pt_event_is_own(id) || pt_log_text(b->writer, PT_TEXT_DESCRIPTION, id))
        return 0;
    error = pt_layout_read(text, &layout);
    if (error)
        return error;
    if (layout->size != data_len)
        text = pt_event_system_description(id);
    free(layout);
    return pt_log_put_text(b->writer, PT_TEXT_DESCRIPTION, id, text);
}

/* Makes a packet of the records that an author has collected. */
static int put_packet(struct pt_log_builder *b, struct author *a)
{
    struct pt_log_packet packet = {
        .author = a->author,
        .chunk_seq = b->chunk_seq,
        .bytes = a->length,
        .events = a->events,
        .first_no = a->recorded - a->events,
        .base_ts = a->first_ts,
        .first_ts = a->first_ts,
        .last_ts = a->last_ts,
        .records = a->buffer,
    };
    int rc;

    if (!a->events)
        return 0;
    rc = pt_made_clock_put(&b->clock, b->writer);
    if (rc == 0)
        rc = pt_log_put_packet(b->writer, &packet);
    if (rc < 0)
        return rc;
    b->chunk_seq++;
    a->length = a->events = 0;
    return 0;
}

/* After the round all are forgotten. */
static bool is_last_of_all(const struct pt_log_builder *b)
{
    return b->author_count > KEPT_AUTHORS;
}

/* Totals of the authors with events in this round, or NULL without memory.  Of all authors if they
 * are the last ones. */
static struct pt_log_author_totals *round_totals(const struct pt_log_builder *b, size_t *n)
{
    bool last = is_last_of_all(b);
    size_t room = (last ? b->author_count : b->round_authors) + (size_t)1;
    struct pt_log_author_totals *totals = calloc(room, sizeof *totals);

    *n = 0;
    for (uint32_t i = 0; totals && i < b->author_count; i++) {
        const struct author *a = &b->authors[i];

        if (a->recorded != a->listed || last)
            totals[(*n)++] = (struct pt_log_author_totals){ .author = a->author,
                                                            .recorded = a->recorded,
                                                            .ended = last };
    }
    return totals;
}

static void begin_round(struct pt_log_builder *b)
{
    for (uint32_t i = 0; i < b->author_count; i++) {
        struct author *a = &b->authors[i];

        a->listed = a->recorded;
        if (a->room > KEPT_BYTES) {
            free(a->buffer);
            a->buffer = NULL;
            a->room = 0;
        }
    }
    b->round_bytes = b->last_wid = 0;
    b->round_authors = 0;
}

/* The lost events that had been recorded in a stream (posixtrace/info.h). */
static uint64_t recorded_of(const uint64_t lost[PT_LOSS_CAUSES])
{
    uint64_t n = lost[POSIXTRACE_LOST_OVERWRITTEN];

    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        n += pt_cause_is_of_log(c) ? lost[c] : 0;
    return n;
}

static void forget_authors(struct pt_log_builder *b)
{
    for (uint32_t i = 0; i < b->author_count; i++)
        free(b->authors[i].buffer);
    memset(b->author_cells, 0, b->author_cell_count * sizeof *b->author_cells);
    b->author_count = 0;
}

/* Readers deliver all events collected so far before those that are added later. */
static int end_round(struct pt_log_builder *b, bool last)
{
    struct pt_log_status status = { .watermark = b->clock.last_ts, .hides = b->hides };
    struct pt_log_author_totals *totals;
    int error = 0;
    size_t n;

    for (uint32_t i = 0; i < b->author_count && !error; i++)
        error = put_packet(b, &b->authors[i]);
    if (error)
        return error;
    memcpy(status.lost_unknown_author, b->lost, sizeof b->lost);
    status.lost_switches = b->lost_switches;
    status.recorded_unknown_author = recorded_of(b->lost);
    totals = round_totals(b, &n);
    if (!totals)
        return -ENOMEM;
    error = last ? pt_log_complete(b->writer, POSIXTRACE_END_SHUTDOWN, &status, totals, n)
                 : pt_log_end_round(b->writer, &status, totals, n);
    free(totals);
    if (error && !is_last_of_all(b))
        return error;
    /* In spite of an error the writer has the last numbers. */
    begin_round(b);
    b->hides = false;
    if (is_last_of_all(b))
        forget_authors(b);
    return error;
}

/* A thread's name as a log has it: at most 15 bytes. */
static void set_name(struct pt_author *author, const char *name)
{
    if (name)
        memcpy(author->name, name, strnlen(name, sizeof author->name - 1));
}

static bool has_number(const struct pt_author *a)
{
    return a->tid != 0 || a->thread_id != 0;
}

static bool same_author(const struct pt_author *a, const struct pt_author *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->thread_id == b->thread_id &&
           (has_number(a) || memcmp(a->name, b->name, sizeof a->name) == 0);
}

/* The cell of the author, or the empty one where it belongs. */
static uint32_t *author_cell(struct pt_log_builder *b, const struct pt_author *author)
{
    struct pt_author key = *author;
    uint32_t i;

    key.wid = 0;
    if (has_number(&key))
        memset(key.name, 0, sizeof key.name);
    i = hash_bytes(&key, sizeof key, b->factor) % b->author_cell_count;
    while (b->author_cells[i] && !same_author(&b->authors[b->author_cells[i] - 1].author, author))
        i = (i + 1) % b->author_cell_count;
    return &b->author_cells[i];
}

/* If two authors have the same numbers, the later one has the cell. */
static int grow_cells(struct pt_log_builder *b)
{
    uint32_t *cells = calloc(2 * (size_t)b->author_cell_count, sizeof *cells);

    if (!cells)
        return -ENOMEM;
    free(b->author_cells);
    b->author_cells = cells;
    b->author_cell_count *= 2;
    for (uint32_t i = 0; i < b->author_count; i++)
        *author_cell(b, &b->authors[i].author) = i + 1;
    return 0;
}

/* Another thread with the same numbers takes the cell of the one before. */
static struct author *add_author(struct pt_log_builder *b, const struct pt_author *author,
                                 int *error)
{
    struct author *a;

    *error = pt_array_grow(&b->authors, &b->author_room, b->author_count, sizeof *b->authors);
    if (!*error && 2 * (b->author_count + 1) > b->author_cell_count)
        *error = grow_cells(b);
    if (*error)
        return NULL;
    a = &b->authors[b->author_count];
    *a = (struct author){ .author = *author };
    a->author.wid = b->next_wid++;
    *author_cell(b, author) = ++b->author_count;
    return a;
}

/* The author of an event, new if need be; NULL with *error. */
static struct author *author_of(struct pt_log_builder *b, const struct posixtrace_event *event,
                                uint32_t id, int *error)
{
    struct pt_author author = { .pid = event->pid,
                                .tid = event->tid,
                                .thread_id = event->thread_id };
    struct author *a;
    uint32_t *cell;

    set_name(&author, event->thread_name);
    cell = author_cell(b, &author);
    a = *cell ? &b->authors[*cell - 1] : NULL;
    *error = 0;
    if (!a || (a->ended && id == POSIXTRACE_THREAD_BEGIN))
        a = add_author(b, &author, error);
    if (!a)
        return NULL;
    a->ended |= id == POSIXTRACE_THREAD_END;
    if (author.name[0])
        memcpy(a->author.name, author.name, sizeof a->author.name);
    return a;
}

static bool is_enough(const struct pt_log_builder *b)
{
    uint64_t more = (uint64_t)b->round_authors * AUTHOR_BYTES;
    uint64_t least = (uint64_t)b->round_authors * LEAST_BYTES;

    more = more < AUTHORS_BYTES ? more : AUTHORS_BYTES;
    return b->author_count == MAX_AUTHORS ||
           b->round_bytes > ROUND_BYTES + (more > least ? more : least);
}

/* Room for an event of len bytes and a TIME record. */
static int make_room(struct pt_log_builder *b, struct author *a, uint32_t len)
{
    uint32_t wanted = PT_RECORD_HEAD + pt_record_size(len);
    int error = 0;

    if (a->length + wanted > PACKET_BYTES)
        error = put_packet(b, a);
    return error ? error : pt_array_grow_to(&a->buffer, &a->room, a->length + wanted, FIRST_BYTES);
}

static void add_record(struct author *a, uint32_t id, uint64_t ts,
                       const struct posixtrace_event *event)
{
    uint32_t len = (uint32_t)event->data_len, size = pt_record_size(len);

    if (!a->events) {
        a->base_ts = a->first_ts = ts;
    } else if (ts - a->base_ts > UINT32_MAX) {
        pt_record_put_head(a->buffer + a->length, PT_RECORD_TIME, 0, 0, 0, ts);
        a->length += PT_RECORD_HEAD;
        a->base_ts = ts;
    }
    if (event->truncation)
        id |= PT_RECORD_TRUNCATED;
    pt_record_put_head(a->buffer + a->length, PT_RECORD_EVENT, id, len, (uint32_t)(ts - a->base_ts),
                       event->prog_address);
    memset(a->buffer + a->length + size - 8, 0, len ? 8 : 0);
    if (len)
        memcpy(a->buffer + a->length + PT_RECORD_HEAD, event->data, len);
    a->length += size;
    a->last_ts = ts;
    a->events++;
    a->recorded++;
}

/* The time of the author's next event, which comes after all that were added. */
static int give_time(struct pt_log_builder *b, const struct author *a, int64_t ns, uint64_t *ts)
{
    uint64_t was = b->clock.last_ts;
    int error = 0;

    if (pt_made_clock_is_full(&b->clock))
        error = pt_made_clock_put(&b->clock, b->writer);
    if (!error)
        error = pt_made_clock_tick(&b->clock, ns, a->author.wid < b->last_wid, ts);
    if (!error && (*ts != was || a->author.wid > b->last_wid))
        b->last_wid = a->author.wid;
    return error;
}

int pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event)
{
    struct author *a;
    uint64_t ts;
    int id, error;

    if ((b->clock.any && event->ns < b->clock.last_ns) || event->data_len > PT_MAX_DATA ||
        (event->data_len && !event->data))
        return -EINVAL;
    id = id_of(b, event->name);
    if (id < 0)
        return id;
    error = is_enough(b) ? end_round(b, false) : describe_own(b, (uint32_t)id, event->data_len);
    a = error ? NULL : author_of(b, event, (uint32_t)id, &error);
    if (!a)
        return error;
    error = make_room(b, a, (uint32_t)event->data_len);
    if (!error)
        error = give_time(b, a, event->ns, &ts);
    if (error)
        return error;
    b->round_authors += a->recorded == a->listed;
    add_record(a, (uint32_t)id, ts, event);
    b->round_bytes += pt_record_size((uint32_t)event->data_len);
    return 0;
}

int pt_log_builder_describe(struct pt_log_builder *b, const char *name, const char *text)
{
    int id = id_of(b, name);
    const char *is;

    if (id < 0)
        return id;
    if ((uint32_t)id < PT_ID_NAMED_FIRST)
        return -EINVAL;
    is = pt_log_text(b->writer, PT_TEXT_DESCRIPTION, (uint32_t)id);
    if (is)
        return strcmp(is, text) == 0 ? 0 : -EEXIST;
    return pt_log_put_text(b->writer, PT_TEXT_DESCRIPTION, (uint32_t)id, text);
}

int pt_log_builder_map(struct pt_log_builder *b, uint32_t number, const char *text)
{
    int error = pt_log_put_text(b->writer, PT_TEXT_MAPPING, number, text);

    return error == -EINVAL ? 0 : error;
}

void pt_log_builder_hides(struct pt_log_builder *b)
{
    b->hides = true;
}

void pt_log_builder_lost(struct pt_log_builder *b, const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        b->lost[c] += lost[c];
    b->lost_switches += lost[POSIXTRACE_LOST_SWITCHES];
}

int pt_log_builder_finish(struct pt_log_builder *b)
{
    int error = end_round(b, true);

    pt_log_builder_free(b);
    return error;
}
