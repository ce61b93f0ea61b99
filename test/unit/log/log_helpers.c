/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Made-up logs; see log_helpers.h. */
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <stdio.h>
#include <sys/mman.h>
#include "base/clock.h"
#include "log/writer/writer.h"
#include "log_helpers.h"

int log_file(void)
{
    int fd = memfd_create("log", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return fd;
}

unsigned test_size(unsigned full)
{
    return getenv("POSIXTRACE_TEST_SHORT") ? full / 10 : full;
}

int log_packing(void)
{
    const char *asked = getenv("POSIXTRACE_TEST_PACKED");

    if (!asked)
        return POSIXTRACE_COMPRESSION_NONE;
    return strcmp(asked, "columns") == 0 ? POSIXTRACE_COMPRESSION_COLUMNS
                                         : POSIXTRACE_COMPRESSION_ZSTD;
}

bool logs_are_packed(void)
{
    return log_packing() != POSIXTRACE_COMPRESSION_NONE;
}

struct pt_log_params log_params(int policy, uint64_t size)
{
    struct pt_log_params p = { .clock = PT_CLOCK_MONOTONIC, .pid = 77, .seekable = true };

    pt_attr_init(&p.attr);
    strcpy(p.attr.name, "made up");
    p.attr.log_policy = policy;
    p.attr.log_size = size;
    p.attr.compression = log_packing();
    memset(p.id, 0x5a, sizeof p.id);
    return p;
}

void seen_add(struct seen_list *list, struct seen s)
{
    if (list->n == list->room) {
        list->room = list->room ? 2 * list->room : 256;
        list->at = realloc(list->at, list->room * sizeof *list->at);
        ck_assert_ptr_nonnull(list->at);
    }
    list->at[list->n++] = s;
}

static int by_order(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    if (x->wid != y->wid)
        return x->wid < y->wid ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

void seen_sort(struct seen_list *list, size_t from)
{
    if (list->n > from)
        qsort(list->at + from, list->n - from, sizeof *list->at, by_order);
}

void maker_init(struct maker *m, uint32_t wid)
{
    memset(m, 0, sizeof *m);
    m->wid = wid;
    m->chunk_seq = wid * 1000u;
    m->packet.author = (struct pt_author){
        .wid = wid, .pid = 77, .tid = 100 + (int)wid, .thread_id = 0x7000000000ull + wid
    };
    snprintf(m->packet.author.name, sizeof m->packet.author.name, "thread %u", wid);
}

static uint32_t id_of(uint32_t no)
{
    return no % 3 ? ID_A : ID_B;
}

struct seen maker_add(struct maker *m, uint64_t ts, uint32_t len)
{
    struct pt_log_packet *p = &m->packet;
    struct payload payload = { m->wid, m->next_no };
    uint8_t *at = m->records + p->bytes;
    uint32_t id = id_of(m->next_no);

    if (len < sizeof payload || p->bytes + pt_record_size(len) + PT_RECORD_HEAD > sizeof m->records)
        ck_abort_msg("an event of %u bytes does not fit", len);
    if (!p->events) {
        p->base_ts = p->first_ts = ts;
        p->first_no = m->next_no;
        p->chunk_seq = m->chunk_seq;
        p->chunk_off = m->chunk_off;
        p->records = m->records;
    }
    if (ts - p->base_ts > UINT32_MAX) {
        pt_record_put_head(at, PT_RECORD_TIME, 0, 0, 0, ts);
        at += PT_RECORD_HEAD;
        p->bytes += PT_RECORD_HEAD;
    }
    pt_record_put_head(at, PT_RECORD_EVENT, id, len,
                       (uint32_t)(ts - p->base_ts > UINT32_MAX ? 0 : ts - p->base_ts),
                       0x400000u + m->next_no);
    memset(at + PT_RECORD_HEAD, (int)(m->next_no & 255), pt_record_size(len) - PT_RECORD_HEAD);
    memcpy(at + PT_RECORD_HEAD, &payload, sizeof payload);
    p->bytes += pt_record_size(len);
    p->events++;
    p->last_ts = ts;
    return (struct seen){ .ts = ts, .wid = m->wid, .no = m->next_no++, .id = (uint16_t)id };
}

struct pt_log_packet *maker_take(struct maker *m)
{
    static struct pt_log_packet taken;

    taken = m->packet;
    m->chunk_off += m->packet.bytes;
    m->packet.bytes = m->packet.events = 0;
    return &taken;
}

struct pt_log_writer *log_writer(int fd, const struct pt_log_params *params)
{
    struct pt_sync sync = { .ts = 0, .ns = 1000, .mult = 2ull << 32 };
    struct pt_log_writer *w;

    ck_assert_int_eq(pt_log_writer_new(&w, fd, params), 0);
    ck_assert_int_eq(pt_log_put_sync(w, &sync), 0);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, ID_A, "event a"), 0);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, ID_B, "event b"), 0);
    return w;
}

struct pt_log_author_totals totals_of(const struct maker *m)
{
    return (struct pt_log_author_totals){ .author = m->packet.author, .recorded = m->next_no };
}

struct pt_log_reader *log_reader(int fd)
{
    struct pt_log_reader *r;

    ck_assert_int_eq(pt_log_reader_new(&r, fd), 0);
    return r;
}

/* One assertion for all, because assertions are dear and events are many. */
static bool event_is_good(const struct pt_event *e, const struct payload *p)
{
    const uint8_t *data = e->data;
    bool good = e->author->wid == p->wid && e->author->tid == 100 + (int)p->wid &&
                e->author->thread_id == 0x7000000000ull + p->wid && e->addr == 0x400000u + p->no &&
                e->id == id_of(p->no);

    for (uint32_t i = sizeof *p; i < e->len; i++)
        good = good && data[i] == (p->no & 255);
    return good;
}

static void take_event(const struct pt_event *e, struct seen_list *list, bool damaged)
{
    struct payload p = { 0, 0 };

    if (e->id == ID_A || e->id == ID_B) {
        if (e->len >= sizeof p)
            memcpy(&p, e->data, sizeof p);
        if (!event_is_good(e, &p) || (!damaged && e->ns != 1000 + 2 * (int64_t)e->ts))
            ck_abort_msg("event %u of writer %u is not what was written", p.no, p.wid);
    }
    seen_add(list, (struct seen){ .ts = e->ts, .wid = p.wid, .no = p.no, .id = e->id });
}

/* One at a time, or up to three or nine, which must be good together. */
static void read_events(struct pt_log_reader *r, struct seen_list *list, bool damaged)
{
    struct pt_event e[9];
    size_t most = 1;
    int rc;

    while ((rc = pt_log_reader_next(r, &e[0])) == 1) {
        size_t n = 1;

        while (n < most && pt_log_reader_near(r, &e[n]))
            n++;
        for (size_t i = 0; i < n; i++)
            take_event(&e[i], list, damaged);
        most = most < 9 ? most * 3 : 1;
    }
    ck_assert_int_eq(rc, 0);
    ck_assert(!pt_log_reader_near(r, &e[0]));
}

void read_all(struct pt_log_reader *r, struct seen_list *list)
{
    read_events(r, list, false);
}

void read_damaged(struct pt_log_reader *r, struct seen_list *list)
{
    read_events(r, list, true);
}

bool read_whole(struct pt_log_reader *r, uint32_t *next, unsigned authors)
{
    struct pt_event e;
    bool gap;
    int rc;

    memset(next, 0, (authors + 1) * sizeof *next);
    while ((rc = pt_log_reader_next_whole(r, &e, &gap)) == 1) {
        struct payload p;

        if (gap)
            memset(next, 0, (authors + 1) * sizeof *next);
        if (e.len < sizeof p)
            continue; /* the STOP of a full log */
        memcpy(&p, e.data, sizeof p);
        ck_assert(p.wid >= 1 && p.wid <= authors);
        if (next[p.wid] && p.no != next[p.wid])
            ck_abort_msg("number %u of %u comes in place of %u", p.no, p.wid, next[p.wid]);
        next[p.wid] = p.no + 1;
    }
    ck_assert_int_eq(rc, 0);
    return gap;
}

void expect_same(const struct seen_list *got, const struct seen_list *wanted, size_t from)
{
    ck_assert_uint_eq(got->n, wanted->n - from);
    for (size_t i = 0; i < got->n; i++) {
        const struct seen *g = &got->at[i], *w = &wanted->at[from + i];

        if (g->ts != w->ts || g->wid != w->wid || g->no != w->no || g->id != w->id)
            ck_abort_msg("event %zu: got time %lu writer %u number %u, wanted %lu, %u, %u", i,
                         (unsigned long)g->ts, g->wid, g->no, (unsigned long)w->ts, w->wid, w->no);
    }
}

void write_rounds(struct pt_log_writer *w, struct maker *makers, unsigned authors, unsigned rounds,
                  unsigned events, struct seen_list *wanted)
{
    uint64_t ts = wanted->n ? wanted->at[wanted->n - 1].ts : 0;
    struct pt_log_author_totals *totals = calloc(authors, sizeof *totals);

    for (unsigned k = 0; k < rounds; k++) {
        struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING };
        size_t from = wanted->n;

        for (unsigned i = 0; i < events; i++) {
            struct maker *m = &makers[(unsigned)rand() % authors];

            /* Equal times now and then, a jump beyond 32 bits now and then. */
            ts += rand() % 4 ? (uint64_t)(rand() % 1000) : rand() % 50 ? 0 : 6000000000ull;
            if (m->packet.bytes > 16000)
                ck_assert_int_ge(pt_log_put_packet(w, maker_take(m)), 0);
            seen_add(wanted, maker_add(m, ts, 8 + (uint32_t)rand() % 40));
        }
        for (unsigned i = 0; i < authors; i++) {
            if (makers[i].packet.events)
                ck_assert_int_ge(pt_log_put_packet(w, maker_take(&makers[i])), 0);
            totals[i] = totals_of(&makers[i]);
        }
        status.watermark = ++ts;
        ck_assert_int_eq(pt_log_end_round(w, &status, totals, authors), 0);
        seen_sort(wanted, from);
    }
    free(totals);
}
