/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs of released versions and what reading them gives.
 *
 *   golden LOG TEXT     reads LOG and compares what it says, line by line, with
 *                       TEXT; a difference is printed and is a failure
 *   golden --print LOG  prints what would be compared
 *   golden --make KIND LOG  writes a log of a kind, for a new version's samples:
 *                       append, loop, loop-open, loop-cost, until-full, cut, disk-full,
 *                       packed, packed-loop, described, described-loop, loop-flushing,
 *                       switches, switches-loop-open, switches-disk-full,
 *                       renamed, renamed-cut, columns-joined, piece, piece-cut
 *
 * The samples of a version are never made again; a change that reads one of
 * them differently breaks the logs that people have.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <posixtrace/attr.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log/byteorder.h"
#include "log/reader/piece.h"
#include "log/reader/reader.h"
#include "log/writer/writer.h"
#include "shm/record.h"

#define AUTHORS 3u

__attribute__((noreturn)) static void fail(const char *what, const char *name)
{
    fprintf(stderr, "golden: %s: %s\n", what, name);
    exit(1);
}

static void print_event(FILE *out, struct pt_log_reader *r, const struct pt_event *e)
{
    const char *name = pt_log_reader_text(r, PT_TEXT_NAME, e->id);
    const uint8_t *data = e->data;
    uint32_t sum = 0, number;

    if (e->id == POSIX_TRACE_STOP && e->len == sizeof number) {
        memcpy(&number, data, sizeof number);
        number = pt_le32(number); /* the sum is that of the bytes in the file */
        data = (const uint8_t *)&number;
    }
    for (uint32_t i = 0; i < e->len; i++)
        sum = sum * 31 + data[i];
    fprintf(out,
            "%" PRId64 " %" PRIu64 " writer %u level %u %d/%d/%" PRIx64 " '%s' %u '%s' at %" PRIx64
            " len %u sum %08x%s\n",
            e->ns, e->ts, (unsigned)e->author->wid, e->author->level, e->author->pid,
            e->author->tid, e->author->thread_id, e->author->name, e->id, name ? name : "", e->addr,
            e->len, sum, e->truncated ? " truncated" : "");
}

static void print_lost(FILE *out, const uint64_t *lost)
{
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        fprintf(out, " %" PRIu64, lost[c]);
    fputc('\n', out);
}

static void print_base(FILE *out, uint32_t piece, const struct pt_piece_base *base)
{
    fprintf(out, "piece %u after %" PRIu64 " events, %" PRIu64 " recorded, lost", piece,
            base->events, base->recorded);
    print_lost(out, base->lost);
    for (size_t i = 0; i < base->count; i++)
        fprintf(out,
                "writer %" PRIu64 " before: next %" PRIu64 " recorded %" PRIu64 " full %" PRIu64
                "\n",
                base->authors[i].wid, base->authors[i].next_no, base->authors[i].recorded,
                base->authors[i].lost[0]);
}

static void print_summary(FILE *out, struct pt_log_reader *r, int fd)
{
    const struct pt_log_params *p = pt_log_reader_params(r);
    struct posix_trace_status_info s;
    struct posixtrace_log_report report;
    struct posixtrace_thread_info t;
    struct posixtrace_info info;
    struct pt_clock_reading reading;
    uint64_t count;

    if (pt_log_reader_info(r, &info) != 0 || pt_log_check(fd, NULL, NULL, &report) != 0)
        fail("cannot be asked", "the log");
    pt_log_reader_status(r, &s);
    fprintf(out, "stream '%s' version '%s' clock %d pid %d policies %d %d size %" PRIu64 "\n",
            p->attr.name, p->attr.genversion, p->clock, p->pid, p->attr.stream_policy,
            p->attr.log_policy, p->attr.log_size);
    if (p->attr.event_cost_ps)
        fprintf(out, "an event costs %" PRIu64 " ps\n", p->attr.event_cost_ps);
    fprintf(out,
            "end %d events %" PRIu64 " from %" PRId64 " to %" PRId64 " bytes %" PRIu64
            " skipped %" PRIu64 " peak %" PRIu64 " error %d\n",
            info.end, info.events, info.first_ns, info.last_ns, info.bytes, info.skipped_bytes,
            info.peak_bytes, info.flush_error);
    fprintf(out, "status %d %d %d %d %d\nlost", s.posix_stream_status, s.posix_stream_full_status,
            s.posix_stream_overrun_status, s.posix_log_overrun_status, s.posix_log_full_status);
    print_lost(out, info.lost);
    if (pt_log_reader_lost_switches(r))
        fprintf(out, "lost by the kernel %" PRIu64 "\n", pt_log_reader_lost_switches(r));
    for (size_t i = 0; pt_log_reader_thread(r, i, &t) == 1; i++) {
        fprintf(out, "thread %d/%d '%s' recorded %" PRIu64 " lost", t.pid, t.tid, t.name,
                t.recorded);
        print_lost(out, t.lost);
    }
    if (p->piece)
        print_base(out, p->piece, pt_log_reader_base(r));
    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        if (pt_log_reader_count(r, id, &count) == 0 && count) {
            const char *name = pt_log_reader_text(r, PT_TEXT_NAME, id);

            fprintf(out, "type %u '%s' %" PRIu64 "\n", id, name ? name : "", count);
        }
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        const char *text = pt_log_reader_text(r, PT_TEXT_DESCRIPTION, id);

        if (text && id > PT_ID_USER_FIRST)
            fprintf(out, "described %u '%s'\n", id, text);
    }
    for (size_t i = 0; pt_log_reader_clock(r, i, &reading) == 1; i++)
        fprintf(out, "clock %" PRIu64 " %" PRId64 " most %" PRId64 " error %" PRId64 " status %d\n",
                reading.ts, reading.ns, reading.most, reading.estimated, reading.status);
    fprintf(out,
            "check packets %" PRIu64 " events %" PRIu64 " rounds %" PRIu64 " skipped %" PRIu64
            " complete %d damaged %d\n",
            report.packets, report.events, report.rounds, report.skipped_bytes, report.complete,
            report.damaged);
}

static void print_log(FILE *out, const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC), rc;
    struct pt_log_reader *r;
    struct pt_event e;

    if (fd < 0 || pt_log_reader_new(&r, fd) != 0)
        fail("cannot open", name);
    while ((rc = pt_log_reader_next(r, &e)) == 1)
        print_event(out, r, &e);
    if (rc != 0)
        fail("cannot read", name);
    print_summary(out, r, fd);
    pt_log_reader_free(r);
    close(fd);
}

static int compare(const char *log, const char *text)
{
    char *got = NULL, *line = NULL;
    size_t size = 0, room = 0, number = 0;
    FILE *out = open_memstream(&got, &size), *in = fopen(text, "r");
    char *at;
    int differs = 0;

    if (!out || !in)
        fail("cannot open", text);
    print_log(out, log);
    fclose(out);
    at = got;
    while (!differs && getline(&line, &room, in) > 0) {
        size_t n = strlen(line);

        number++;
        differs = strncmp(at, line, n) != 0;
        if (differs)
            fprintf(stderr, "%s:%zu: wanted %sgot    %.*s\n", text, number, line,
                    (int)strcspn(at, "\n"), at);
        at += differs ? 0 : n;
    }
    if (!differs && *at) {
        fprintf(stderr, "%s: more than wanted:\n%s", log, at);
        differs = 1;
    }
    if (number == 0)
        fail("empty", text);
    free(line);
    free(got);
    fclose(in);
    return differs;
}

/* One author's packet of events at given times, with pseudo-random lengths; first_id: of its first
 * event, 0: a user type. */
static bool joined;       /* packets are, where they can be */
static uint64_t first_no; /* the events of each author before, in earlier pieces */

static void put_packet(struct pt_log_writer *w, uint32_t wid, uint64_t ts, uint32_t round,
                       uint32_t first_id, struct pt_log_author_totals *totals)
{
    uint64_t records[2000] = { 0 };
    struct pt_type_count types[3] = { { 193, 0 }, { 194, 0 }, { 195, 0 } };
    struct pt_log_packet p = {
        .author = { .wid = wid,
                    .level = wid == 3,
                    .pid = 4000,
                    .tid = 4000 + (int)wid,
                    .thread_id = 0x7f0000000000 + wid * 0x1000ull },
        .chunk_seq = round * 10 + wid,
        .first_no = first_no + totals->recorded,
        .base_ts = ts,
        .first_ts = ts,
        .records = records,
    };
    uint8_t *at = (uint8_t *)records;

    snprintf(p.author.name, sizeof p.author.name, "worker %u", wid);
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t len = (i * 7 + wid * 5 + round) % 40, id = 193 + (i + wid) % 3;

        if (i == 0 && first_id)
            id = first_id;
        if (i == 6 && round % 4 == 3) {
            ts += 5000000000;
            pt_record_put_head(at, PT_RECORD_TIME, 0, 0, 0, ts);
            at += PT_RECORD_HEAD;
        }
        pt_record_put_head(at, PT_RECORD_EVENT, id | (i == 3 ? PT_RECORD_TRUNCATED : 0), len,
                           (uint32_t)(i < 6 || round % 4 != 3 ? ts - p.base_ts : 0), 0x401000 + i);
        memset(at + PT_RECORD_HEAD, (int)(round + i), len);
        at += pt_record_size(len);
        p.last_ts = ts;
        p.events++;
        types[(i + wid) % 3].events++;
        ts += i < 6 || round % 4 != 3 ? 10 + wid : 0;
    }
    p.bytes = (uint32_t)(at - (uint8_t *)records);
    totals->author = p.author;
    totals->recorded += p.events;
    if (joined) {
        p.types = types;
        p.type_count = 3;
        pt_log_join_packet(w, &p);
    } else if (pt_log_put_packet(w, &p) < 0) {
        pt_log_drop_packet(w, &p);
    }
}

/* The file without its last bytes that have changed since it was 'before', as a writer leaves
 * it that is killed while it writes a round: two thirds of them are there. */
static void take_back(int fd, const uint8_t *before, size_t length)
{
    uint8_t *now = malloc(length);
    size_t first = 4096, last = length;

    if (!now || pread(fd, now, length, 0) != (ssize_t)length)
        fail("cannot read", "the log");
    while (first < length && now[first] == before[first])
        first++;
    while (last > first && now[last - 1] == before[last - 1])
        last--;
    first += (last - first) * 2 / 3;
    if (pwrite(fd, before + first, last - first, (off_t)first) != (ssize_t)(last - first))
        fail("cannot write", "the log");
    free(now);
}

/* Types that readers know without a NAME: 1 to 8, but for STOP, and 192. */
static uint32_t predefined(uint32_t round)
{
    static const uint32_t ids[] = { POSIX_TRACE_START,    POSIX_TRACE_FILTER,
                                    POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME,
                                    POSIX_TRACE_ERROR,    POSIX_TRACE_UNNAMED_USEREVENT };

    return ids[round % (sizeof ids / sizeof ids[0])];
}

/* Two of the threads have another name now; the packets have the one of their time. */
static void rename_threads(struct pt_log_author_totals *totals, uint32_t round)
{
    for (uint32_t i = 1; i < AUTHORS; i++)
        snprintf(totals[i].author.name, sizeof totals[i].author.name, "name %u of %u", round, i);
}

/* Readings of the host's clock: one with errors, one without, one with more
 * in it than readers of this version know, and one that is none. */
static void put_clock(struct pt_log_writer *w, uint32_t round)
{
    static const char *const texts[] = { "1500 1700000000000000250 12345678 1000 8193",
                                         "200000 1700000000000099500 -1 -1 -1",
                                         "310000 1700000000000159600 16000000000 0 64 later",
                                         "310001 none" };

    if (round % 2 == 0 && round / 2 < sizeof texts / sizeof texts[0])
        pt_log_put_text(w, PT_TEXT_CLOCK, 1 + round / 2, texts[round / 2]);
}

/* The third piece of a log, whose authors had events in the two before it. */
static void make_base(struct pt_piece_base *base)
{
    *base = (struct pt_piece_base){ .number = 3, .events = 290, .recorded = 300, .late = 2 };
    base->lost[POSIXTRACE_LOST_FULL] = 4;
    base->lost[POSIXTRACE_LOST_LOG_ERROR] = 10;
    for (uint32_t i = 0; i < AUTHORS; i++) {
        struct pt_piece_author author = { .wid = i + 1, .next_no = 100, .recorded = 90 + i };

        author.lost[POSIXTRACE_LOST_FULL] = i;
        pt_piece_base_add(base, &author);
    }
    pt_piece_base_sort(base);
    first_no = 100;
}

static void make_log(const char *kind, const char *name)
{
    bool renamed = strncmp(kind, "renamed", 7) == 0;
    bool columns = strncmp(kind, "columns", 7) == 0, zstd = strstr(kind, "packed") != NULL;
    bool packed = columns || zstd, described = strncmp(kind, "desc", 4) == 0;
    bool loop = strstr(kind, "loop") != NULL, full = strcmp(kind, "until-full") == 0;
    bool flushing = strcmp(kind, "loop-flushing") == 0;
    bool switches = strncmp(kind, "switches", 8) == 0, open_end = strstr(kind, "-open") != NULL;
    uint32_t rounds = flushing ? 17 : loop ? 20 : strcmp(kind, "columns-joined") == 0 ? 3 : 6;
    static uint8_t before[1 << 18];
    ssize_t length = 0;
    struct pt_log_params params = { .clock = POSIXTRACE_CLOCK_MONOTONIC,
                                    .pid = 4000,
                                    .seekable = true };
    struct pt_log_author_totals totals[AUTHORS] = { 0 };
    struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING, .peak_bytes = 65536 };
    struct pt_sync points[2] = { { 1000, 1700000000000000000, 1ull << 31 },
                                 { 300000, 1700000000000149600, 1ull << 32 } };
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    struct pt_piece_base base = { 0 };
    struct pt_log_writer *w;

    if (strncmp(kind, "piece", 5) == 0)
        make_base(&base);
    params.piece = base.number;
    joined = strstr(kind, "joined") != NULL;
    pt_attr_init(&params.attr);
    snprintf(params.attr.name, sizeof params.attr.name, "golden %s", kind);
    params.attr.log_policy = loop   ? POSIX_TRACE_LOOP
                             : full ? POSIX_TRACE_UNTIL_FULL
                                    : POSIX_TRACE_APPEND;
    params.attr.log_size = flushing ? 70000 : 6000;
    if (strcmp(kind, "loop-cost") == 0)
        params.attr.event_cost_ps = 31250;
    params.attr.compression = zstd      ? POSIXTRACE_COMPRESSION_ZSTD
                              : columns ? POSIXTRACE_COMPRESSION_COLUMNS
                                        : POSIXTRACE_COMPRESSION_NONE;
    memcpy(params.id, "golden 123456789", 16);
    if (fd < 0 || pt_log_writer_new(&w, fd, &params) != 0)
        fail("cannot write", name);
    if (base.number)
        pt_log_put_base(w, &base);
    pt_log_put_sync(w, &points[0]);
    pt_log_put_text(w, PT_TEXT_NAME, 193, "read");
    pt_log_put_text(w, PT_TEXT_NAME, 194, "compress \xc3\xa4\xff");
    if (described)
        pt_log_put_text(w, PT_TEXT_DESCRIPTION, 193, "u32 order; f64 price; str symbol");
    for (uint32_t round = 0; round < rounds; round++) {
        if (round == 3 && described) {
            pt_log_put_text(w, PT_TEXT_DESCRIPTION, 195, "be;u8:u8 list {no, yes = 0x10}");
            pt_log_put_text(w, PT_TEXT_DESCRIPTION, 193, "bytes second");
        }
        if (strncmp(kind, "clock", 5) == 0)
            put_clock(w, round);
        if (round == 2) {
            pt_log_put_text(w, PT_TEXT_NAME, 195, "write");
            pt_log_put_sync(w, &points[1]);
        }
        if (round == 4 && strstr(kind, "disk-full")) {
            struct rlimit limit = { (rlim_t)lseek(fd, 0, SEEK_END) + 1000, RLIM_INFINITY };

            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        if (flushing)
            length = pread(fd, before, sizeof before, 0);
        for (uint32_t a = 0, n = flushing || joined ? 8 * AUTHORS : AUTHORS; a < n; a++)
            put_packet(w, a % AUTHORS + 1 + packed,
                       1000 + (uint64_t)round * 100000 + a / AUTHORS * 1000 + a % AUTHORS * 3,
                       flushing ? 0 : round, renamed ? predefined(round) : 0, &totals[a % AUTHORS]);
        if (joined)
            pt_log_join_end(w);
        if (renamed && round >= 2)
            rename_threads(totals, round);
        totals[0].lost[POSIXTRACE_LOST_FULL] = round;
        status.lost_unknown_author[POSIXTRACE_LOST_FULL] = switches ? 2 * round : 0;
        status.lost_switches = switches ? 1000 * round : 0;
        status.watermark = 1000 + (uint64_t)(round + 1) * 100000;
        pt_log_end_round(w, &status, totals, AUTHORS);
    }
    status.status_running = POSIX_TRACE_SUSPENDED;
    if (flushing)
        take_back(fd, before, (size_t)length);
    else if (!open_end && !strstr(kind, "cut"))
        pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, totals, AUTHORS);
    pt_log_writer_free(w);
    pt_piece_base_deinit(&base);
    if (strstr(kind, "cut") && ftruncate(fd, lseek(fd, 0, SEEK_END) - 1500) != 0)
        fail("cannot cut", name);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--make") == 0)
        make_log(argv[2], argv[3]);
    else if (argc == 3 && strcmp(argv[1], "--print") == 0)
        print_log(stdout, argv[2]);
    else if (argc == 3)
        return compare(argv[1], argv[2]);
    else
        fail("usage", "golden LOG TEXT");
    return 0;
}
