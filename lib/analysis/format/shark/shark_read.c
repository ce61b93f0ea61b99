/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading a S.Ha.R.K. trace: chunks as the disk writer leaves them, or the packets of its
 * UDP sender.  A cyclic chunk begins somewhere in the middle: where time goes back is its
 * seam, and the records after it are older; and chunks may stand in any order.  So an input
 * is made of runs, in which time does not go back, and it is gone through twice: once to
 * find them and the clock's rate, and once to merge them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/common/format.h"
#include "analysis/format/shark/shark_format.h"
#include "compat/shark/shark.h"
#include "analysis/format/shark/shark_input.h"

#define DEFAULT_RATE 1000000u /* ticks are nanoseconds */

#define RUNS 1024u /* 256 chunks with a seam each make 512 */

enum { NOTE_RATE, NOTE_PACKETS };

struct run {
    struct pt_shark_place at; /* of its next record */
    uint64_t to;              /* number of the first one after it */
    uint64_t tsc;             /* of the next one */
    bool done;
};

struct reader {
    struct pt_job *job;
    struct pt_shark_input in;
    uint64_t lost_packets;
    uint64_t rate;   /* cycles a millisecond */
    uint64_t origin; /* of time, in cycles */
    int64_t start_ns;
    uint32_t context;                  /* that runs */
    bool described[0x10000 / 256 * 2]; /* by code, and code with the fast bit */
    bool lost_described;
    uint32_t count;
    struct run run[RUNS];
};

/* The first pass: the runs, the rate, and how far the trace is good. */
static int survey(struct reader *r)
{
    struct pt_shark_place at = r->in.at;
    struct shark_record record;
    uint64_t last = 0;
    int got;

    for (; (got = pt_shark_input_take(&r->in, &record)) == 1; at = r->in.at) {
        uint8_t code = (uint8_t)record.code;

        if (r->count == 0 || record.tsc < last) {
            if (r->count == RUNS)
                return pt_job_fail(r->job, EILSEQ,
                                   "record %llu: time goes back more often than in "
                                   "256 chunks, which is as many as there are",
                                   (unsigned long long)r->in.at.number);
            r->run[r->count++] = (struct run){ .at = at, .tsc = record.tsc };
        }
        r->run[r->count - 1].to = r->in.at.number + 1;
        last = record.tsc;
        r->lost_packets += r->in.lost;
        if (!r->rate && !(record.code & SHARK_FAST) && record.par2 &&
            (code == SHARK_CYCLES_PER_MSEC || code == SHARK_TRACE_START))
            r->rate = record.par2;
    }
    return got < 0 ? r->job->error : 0;
}

static int64_t time_of(const struct reader *r, uint64_t tsc)
{
    /* The rate has 32 bits at most, so the remainder times the factor does not overflow. */
    uint64_t ms = (tsc - r->origin) / r->rate, rest = (tsc - r->origin) % r->rate;

    if (ms >= INT64_MAX / 2 / 1000000)
        return r->start_ns + INT64_MAX / 2;
    return r->start_ns + (int64_t)(ms * 1000000u + rest * 1000000u / r->rate);
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

/* Adds the system events that metrics use: a thread leaves the processor, and another gets it. */
static bool add_switch(struct reader *r, struct posixtrace_event *e, uint32_t to)
{
    static const uint32_t cpu;
    struct posixtrace_event s = { .ns = e->ns,
                                  .thread_name = "",
                                  .data = &cpu,
                                  .data_len = sizeof cpu,
                                  .tid = (pid_t)r->context };

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

/* Packets are missing before this record. */
static bool add_loss(struct reader *r, uint64_t tsc, uint32_t packets)
{
    uint8_t data[4] = { (uint8_t)packets, (uint8_t)(packets >> 8), (uint8_t)(packets >> 16),
                        (uint8_t)(packets >> 24) };
    struct posixtrace_event e = { .ns = time_of(r, tsc),
                                  .thread_name = "",
                                  .name = SHARK_LOST,
                                  .tid = (pid_t)r->context,
                                  .data = data,
                                  .data_len = sizeof data };

    if (!r->lost_described && !pt_job_describe(r->job, SHARK_LOST, "le; u32 packets"))
        return false;
    r->lost_described = true;
    return pt_job_add(r->job, &e);
}

/* Of the runs that have more, but one, the one with the oldest; of equals, the first. */
static struct run *oldest(struct reader *r, const struct run *but)
{
    struct run *found = NULL;

    for (struct run *run = r->run; run < r->run + r->count; run++)
        if (run != but && !run->done && (!found || run->tsc < found->tsc))
            found = run;
    return found;
}

/* What the run has before it is another one's turn. */
static int add_part(struct reader *r, struct run *run, const struct run *other)
{
    struct shark_record record;
    int error = pt_shark_input_seek(&r->in, &run->at);

    while (!error) {
        run->at = r->in.at;
        run->done = run->at.number + 1 >= run->to || pt_shark_input_take(&r->in, &record) != 1 ||
                    r->in.at.number >= run->to;
        if (run->done)
            break;
        run->tsc = record.tsc;
        if (other && (run->tsc > other->tsc || (run->tsc == other->tsc && other < run)))
            break;
        if ((r->in.lost && !add_loss(r, record.tsc, r->in.lost)) || !add_record(r, &record))
            error = r->job->error;
    }
    return error;
}

static void add_all(struct reader *r)
{
    struct run *run;

    if (!r->rate) {
        r->rate = DEFAULT_RATE;
        pt_job_note(r->job, NOTE_RATE,
                    "the trace does not say how fast its clock is: cycles are "
                    "taken for nanoseconds; --rate=CYCLES_PER_MSEC says better");
    }
    if (r->lost_packets)
        pt_job_note(r->job, NOTE_PACKETS, "%llu packets are missing: their events are lost",
                    (unsigned long long)r->lost_packets);
    run = oldest(r, NULL);
    r->origin = run ? run->tsc : 0;
    while (run && add_part(r, run, oldest(r, run)) == 0)
        run = oldest(r, NULL);
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

int pt_shark_read(struct pt_job *job)
{
    struct reader *r = calloc(1, sizeof *r);
    uint64_t start = 0;
    int error;

    if (!r)
        return pt_job_fail(job, ENOMEM, "no memory");
    r->job = job;
    error = option_number(r, "rate", UINT32_MAX, &r->rate);
    if (!error)
        error = option_number(r, "start", INT64_MAX / 2, &start);
    r->start_ns = (int64_t)start;
    if (!error) {
        error = pt_shark_input_open(&r->in, job);
        if (!error)
            error = survey(r);
        if (error == 0 || error == EILSEQ)
            add_all(r);
        pt_shark_input_close(&r->in);
    }
    error = job->error;
    free(r);
    return error;
}
