/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading a S.Ha.R.K. trace: a chunk as the disk writer leaves it, or the packets of
 * its UDP sender, one behind the other.  A cyclic chunk begins somewhere in the middle:
 * where time goes back for the first time is its seam, and what comes behind it is
 * older.  So the input is gone through twice, once to find the seam and the rate; one
 * that cannot be read twice is copied to a file without a name first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/format.h"
#include "format/shark.h"

#define DEFAULT_RATE 1000000u         /* ticks are nanoseconds */

enum { NOTE_RATE, NOTE_PACKETS, NOTE_REST };

struct reader {
    struct pt_job *job;
    FILE *in;
    uint64_t number;          /* of the record, from 1, zero records included */
    uint32_t left;            /* of the packet */
    bool     packets;
    uint32_t next_packet;     /* number that is due; 0: none was seen */
    uint64_t lost_packets;

    uint64_t seam;            /* number of the first record behind it; 0: there is none */
    uint64_t end;             /* of the first one behind a fault; 0: all are good */
    uint64_t rate;            /* cycles a millisecond */
    uint64_t origin;          /* of time, in cycles */
    int64_t  start_ns;
    uint32_t context;         /* that runs */
    bool     described[0x10000 / 256 * 2];   /* by code, and code with the fast bit */
};

static int copy_input(struct pt_job *job, FILE **in)
{
    char block[65536];
    size_t n;

    *in = tmpfile();
    if (!*in)
        return pt_job_fail(job, errno, "cannot make a temporary file: %s", strerror(errno));
    while ((n = fread(block, 1, sizeof block, job->file)) > 0)
        if (fwrite(block, 1, n, *in) != n)
            return pt_job_fail(job, errno, "cannot write a temporary file: %s", strerror(errno));
    return ferror(job->file) ? pt_job_fail_file(job) : 0;
}

static int rewind_input(struct reader *r)
{
    r->number = 0;
    r->left = 0;
    r->next_packet = 0;
    r->lost_packets = 0;
    if (fseeko(r->in, 0, SEEK_SET) != 0)
        return pt_job_fail(r->job, errno, "cannot read the input again: %s", strerror(errno));
    return 0;
}

static uint32_t word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* 1: so many bytes; 0: the end, also within them. */
static int take(struct reader *r, uint8_t *to, size_t bytes)
{
    size_t got = fread(to, 1, bytes, r->in);

    if (ferror(r->in)) {
        pt_job_fail_file(r->job);
        return -1;
    }
    if (got && got < bytes)
        pt_job_note(r->job, NOTE_REST, "the last %zu bytes are no whole record", got);
    return got == bytes;
}

/* The head of the next packet. */
static int take_packet(struct reader *r)
{
    uint8_t head[SHARK_PACKET_HEAD];
    int got = take(r, head, sizeof head);
    uint32_t number, events;

    if (got <= 0)
        return got;
    number = word(head + 12);
    events = word(head + 16);
    if (memcmp(head, SHARK_PACKET_MARK, sizeof SHARK_PACKET_MARK) != 0 ||
        events > SHARK_PACKET_EVENTS ||
        word(head + 20) != SHARK_PACKET_HEAD + events * SHARK_RECORD) {
        r->end = r->number + 1;
        pt_job_fail(r->job, EILSEQ, "behind record %llu: not the head of a packet",
                    (unsigned long long)r->number);
        return -1;
    }
    if (r->next_packet && number > r->next_packet)
        r->lost_packets += number - r->next_packet;
    r->next_packet = number + 1;
    r->left = events;
    return 1;
}

/* The next record that was written: 1, 0 at the end, -1 after an error. */
static int take_record(struct reader *r, struct shark_record *record)
{
    uint8_t bytes[SHARK_RECORD];
    int got;

    do {
        while (r->packets && r->left == 0) {
            got = take_packet(r);
            if (got <= 0)
                return got;
        }
        got = take(r, bytes, sizeof bytes);
        if (got <= 0)
            return got;
        r->left -= r->packets;
        r->number++;
        pt_shark_unpack(bytes, record);
    } while ((record->code & 0xffu) == 0);
    return 1;
}

/* Is the record, by its time, where it can be?  Behind the seam, all is older than the
 * first one.  Notes where the seam is. */
static bool is_in_place(struct reader *r, uint64_t tsc, uint64_t last, uint64_t first)
{
    if (tsc < last && !r->seam)
        r->seam = r->number;
    else if (tsc < last)
        return false;
    return !r->seam || tsc <= first;
}

/* The first pass: where the seam is, the rate, and how far the trace is good. */
static int survey(struct reader *r)
{
    struct shark_record record;
    uint64_t last = 0, first = UINT64_MAX;
    int got;

    while ((got = take_record(r, &record)) == 1) {
        uint8_t code = (uint8_t)record.code;

        if (first == UINT64_MAX)
            first = record.tsc;
        if (!is_in_place(r, record.tsc, last, first)) {
            r->end = r->number;
            if (r->seam == r->end)
                r->seam = 0;
            return pt_job_fail(r->job, EILSEQ, "record %llu: time goes back, and a chunk, which "
                                               "may have one such place, is not like that",
                               (unsigned long long)r->number);
        }
        last = record.tsc;
        if (!r->rate && !(record.code & SHARK_FAST) && record.par2 &&
            (code == SHARK_CYCLES_PER_MSEC || code == SHARK_TRACE_START))
            r->rate = record.par2;
    }
    if (got == 0)
        r->end = r->number + 1;
    return got < 0 ? r->job->error : 0;
}

static int64_t time_of(const struct reader *r, uint64_t tsc)
{
    __extension__ typedef unsigned __int128 wide;
    wide ns = (wide)(tsc - r->origin) * 1000000u / r->rate;

    return r->start_ns + (int64_t)(ns < INT64_MAX / 2 ? (uint64_t)ns : INT64_MAX / 2);
}

/* The name of the record's type, which is described when it is new. */
static bool name_record(struct reader *r, const struct shark_record *record, char name[64])
{
    const struct shark_type *type = pt_shark_type((uint8_t)record->code);
    bool fast = (record->code & SHARK_FAST) != 0;
    bool *described = &r->described[(record->code & 0xffu) + (fast ? 256u : 0u)];
    char words[80];

    if (type)
        snprintf(name, 64, SHARK_PREFIX "%s%s", type->name, fast ? ".fast" : "");
    else
        snprintf(name, 64, SHARK_PREFIX "code_%02x%s", record->code & 0xffu, fast ? ".fast" : "");
    if (*described)
        return true;
    *described = true;
    snprintf(words, sizeof words, fast ? "le; u16 %s" : "le; u16 %s; u32 %s",
             type && type->first[0] ? type->first : "par1",
             type && type->second[0] ? type->second : "par2");
    return pt_job_describe(r->job, name, words);
}

/* What the metrics know: who leaves the processor, and who gets it. */
static bool add_switch(struct reader *r, struct posixtrace_event *e, uint32_t to)
{
    static const uint32_t cpu;
    struct posixtrace_event s = { .ns = e->ns, .thread_name = "", .data = &cpu,
                                  .data_len = sizeof cpu, .tid = (pid_t)r->context };

    s.name = "posixtrace_switch_out";
    if (r->context && !pt_job_add(r->job, &s))
        return false;
    r->context = to;
    s.name = "posixtrace_switch_in";
    s.tid = (pid_t)to;
    return to == 0 || pt_job_add(r->job, &s);
}

static bool add_record(struct reader *r, const struct shark_record *record)
{
    struct posixtrace_event e = { .ns = time_of(r, record->tsc), .thread_name = "" };
    bool switches = (uint8_t)record->code == SHARK_CONTEXT_SWITCH;
    uint8_t data[6], bytes[SHARK_RECORD];
    char name[64];

    if (!name_record(r, record, name))
        return false;
    pt_shark_pack(bytes, record);
    memcpy(data, bytes + 2, 2);
    memcpy(data + 2, bytes + 12, 4);
    e.name = name;
    e.tid = (pid_t)(switches ? record->par1 : r->context);
    e.data = data;
    e.data_len = record->code & SHARK_FAST ? 2 : 6;
    return pt_job_add(r->job, &e) && (!switches || add_switch(r, &e, record->par1));
}

/* The records from one number up to, but without, another. */
static int add_part(struct reader *r, uint64_t from, uint64_t to)
{
    struct shark_record record;
    int error = rewind_input(r);

    while (!error && r->number + 1 < to && take_record(r, &record) == 1 && r->number < to) {
        if (r->number < from)
            continue;
        if (r->origin == UINT64_MAX)
            r->origin = record.tsc;
        if (!add_record(r, &record))
            error = r->job->error;
    }
    return error;
}

/* What is older, which is behind the seam, and the rest. */
static int add_all(struct reader *r)
{
    int error = 0;

    if (!r->rate) {
        r->rate = DEFAULT_RATE;
        pt_job_note(r->job, NOTE_RATE, "the trace does not say how fast its clock is: cycles are "
                                       "taken for nanoseconds; --rate=CYCLES_PER_MSEC says better");
    }
    if (r->seam)
        error = add_part(r, r->seam, r->end);
    return error ? error : add_part(r, 1, r->seam ? r->seam : r->end);
}

/* A number of the user's. */
static int option_number(struct reader *r, const char *name, uint64_t most, uint64_t *value)
{
    const char *text = pt_job_option(r->job, name, 0);
    char *end;

    if (!text)
        return 0;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-' || *value > most)
        return pt_job_fail(r->job, EINVAL, "--%s=%s: a number up to %llu is expected", name, text,
                           (unsigned long long)most);
    return 0;
}

static int begin(struct reader *r)
{
    char mark[sizeof SHARK_PACKET_MARK] = "";
    uint64_t start = 0;
    int error = option_number(r, "rate", UINT32_MAX, &r->rate);

    if (!error)
        error = option_number(r, "start", INT64_MAX / 2, &start);
    r->start_ns = (int64_t)start;
    if (!error && fseeko(r->job->file, 0, SEEK_CUR) != 0)
        error = copy_input(r->job, &r->in);
    if (!error)
        error = rewind_input(r);
    if (!error && fread(mark, 1, sizeof mark, r->in) == sizeof mark)
        r->packets = memcmp(mark, SHARK_PACKET_MARK, sizeof mark) == 0;
    return error ? error : rewind_input(r);
}

int pt_shark_read(struct pt_job *job)
{
    struct reader *r = calloc(1, sizeof *r);
    int error;

    if (!r)
        return pt_job_fail(job, ENOMEM, "no memory");
    r->job = job;
    r->in = job->file;
    r->origin = UINT64_MAX;
    error = begin(r);
    if (!error)
        error = survey(r);
    if (!error && r->lost_packets)
        pt_job_note(job, NOTE_PACKETS, "%llu packets are missing: their events are lost",
                    (unsigned long long)r->lost_packets);
    if (error == 0 || (error == EILSEQ && r->end))
        add_all(r);
    error = job->error;
    if (r->in && r->in != job->file)
        fclose(r->in);
    free(r);
    return error;
}
