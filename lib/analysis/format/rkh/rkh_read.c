/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of RKH's stream: frames between flags, from a file, a pipe, a serial line or a
 * socket.  After damage it continues at the next flag.  A damaged or missing frame
 * becomes an event in its place: "rkh:DAMAGED" for a frame whose checksum or
 * form is wrong, "rkh:LOST" where the sequence numbers jump, followed by the standard's
 * OVERFLOW and RESUME, by which metrics know that something is missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include "analysis/format/rkh/rkh_read.h"
#include "compat/rkh/rkh_shapes.h"

enum why { CHECKSUM, SHORT, LONG, ESCAPE, CUT };

static const char *const why_text[] = { "its checksum is wrong", "it is too short",
                                        "it is longer than any frame",
                                        "an escape byte is followed by a flag",
                                        "the stream ends within it" };

static const struct pt_rkh_type unknown_type = {
    .name = "rkh:UNKNOWN", .count = 2, .args = { { 'd', 0, 2, "id" }, { 'r', 0, 4, "data" } }
};

struct posixtrace_event pt_rkh_event(const struct pt_rkh_reader *r)
{
    return (struct posixtrace_event){ .ns = r->ns, .thread_name = "", .pid = 1 };
}

/* ---- time ---- */

void pt_rkh_set_time(struct pt_rkh_reader *r, int64_t ns)
{
    r->base_ns = ns;
    r->passed = 0;
    if (ns >= r->ns || r->job->c->events == 0)
        r->ns = ns;
}

void pt_rkh_set_rate(struct pt_rkh_reader *r, uint64_t rate)
{
    if (rate == r->rate)
        return;
    pt_rkh_set_time(r, r->ns);
    r->rate = rate;
}

static int64_t ns_of(const struct pt_rkh_reader *r)
{
    uint64_t seconds = r->passed / r->rate, rest = r->passed % r->rate;
    uint64_t ns = seconds * 1000000000u + rest * 1000000000u / r->rate;

    if (seconds > (uint64_t)INT64_MAX / 1000000000u ||
        ns > (uint64_t)INT64_MAX - (uint64_t)(r->base_ns > 0 ? r->base_ns : 0))
        return INT64_MAX;
    return (int64_t)((uint64_t)r->base_ns + ns);
}

/* Counters wrap.  One of 32 bits that goes back a little does not: an interrupt came
 * between reading the clock and putting the record; the time then stands still. */
static void take_time(struct pt_rkh_reader *r, uint64_t ticks)
{
    unsigned bits = 8u * r->config.timestamp;
    uint64_t step = (ticks - r->ticks) & (((uint64_t)1 << bits) - 1);

    if (!r->time_known) {
        r->time_known = true;
        step = r->passed || r->base_ns ? 0 : ticks;
    } else if (r->config.timestamp == 4 && step > UINT32_MAX - (UINT32_MAX >> 8)) {
        pt_job_note(r->job, PT_RKH_NOTE_TIME,
                    "offset %" PRIu64 ": the target's clock goes back by %" PRIu64 " ticks",
                    r->begin, r->ticks - ticks);
        return;
    }
    r->ticks = ticks;
    r->passed += step;
    if (ns_of(r) > r->ns)
        r->ns = ns_of(r);
}

/* ---- damage ---- */

static bool add_damaged(struct pt_rkh_reader *r, enum why why)
{
    struct posixtrace_event e = pt_rkh_event(r);
    uint64_t bytes = r->offset - r->begin;

    r->bad++;
    pt_job_note(r->job, PT_RKH_NOTE_DAMAGE,
                "offset %" PRIu64 ": a frame of %" PRIu64 " bytes is damaged: %s", r->begin, bytes,
                why_text[why]);
    r->data.used = 0;
    pt_rkh_put_number(&r->data, 8, r->begin);
    pt_rkh_put_number(&r->data, 8, bytes);
    pt_rkh_put_number(&r->data, 1, why);
    return pt_rkh_add(r->job, &r->damaged, &e, &r->data);
}

static bool add_gap(struct pt_rkh_reader *r, const char *name)
{
    struct posixtrace_event e = { .ns = r->ns, .thread_name = "", .name = name };

    return pt_job_add(r->job, &e);
}

static bool add_lost(struct pt_rkh_reader *r, uint8_t found)
{
    struct posixtrace_event e = pt_rkh_event(r);
    unsigned frames = (uint8_t)(found - r->sequence);

    pt_job_note(r->job, PT_RKH_NOTE_LOSS,
                "offset %" PRIu64 ": frames are missing: number %u "
                "follows %u, %u of them or 256 more",
                r->begin, found, (uint8_t)(r->sequence - 1), frames);
    r->data.used = 0;
    pt_rkh_put_number(&r->data, 4, frames);
    pt_rkh_put_number(&r->data, 1, r->sequence);
    pt_rkh_put_number(&r->data, 1, found);
    return pt_rkh_add(r->job, &r->lost, &e, &r->data) && add_gap(r, "posix_trace_overflow") &&
           add_gap(r, "posix_trace_resume");
}

bool pt_rkh_read_unknown(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len)
{
    struct posixtrace_event e = pt_rkh_event(r);

    r->data.used = 0;
    r->data.full = false;
    pt_rkh_put_number(&r->data, 4, id);
    pt_rkh_put(&r->data, args, len);
    return pt_rkh_add(r->job, &r->unknown, &e, &r->data);
}

/* ---- frames ---- */

/* A configuration frame has neither sequence nor time, and says itself whether there
 * are checksums. */
static bool is_config(const struct pt_rkh_reader *r)
{
    const uint8_t *f = r->frame;
    unsigned head = r->config.id;
    uint8_t sum = 0;
    bool checked;

    if (r->flat || r->used < head + PT_RKH_CONFIG_BYTES)
        return false;
    if (head == 1 ? f[0] != PT_RKH_FWK_TCFG
                  : pt_rkh_load(f, head) != ((uint64_t)5 << 8 * (head - 1) | 12))
        return false;
    checked = pt_rkh_load(f + head + 2, 4) & PT_RKH_CHECKSUM;
    for (size_t i = 0; checked && i < r->used; i++)
        sum = (uint8_t)(sum + f[i]);
    return sum == 0 && r->used == head + PT_RKH_CONFIG_BYTES + checked;
}

static bool take_config(struct pt_rkh_reader *r)
{
    struct posixtrace_event e;
    uint32_t bits;

    pt_rkh_config_get(&r->config, r->frame + r->config.id);
    bits = r->config.bits;
    r->config.bits &= PT_RKH_BITS;
    r->configured = true;
    if (r->time_known) { /* the target may have begun again: so may its clock */
        pt_rkh_set_time(r, r->ns);
        r->time_known = false;
    }
    if (!r->rate_given && r->config.hz)
        pt_rkh_set_rate(r, r->config.hz);
    if (bits >> 31) {
        pt_rkh_users_ours(r);
        return true;
    }
    if (!r->rate_given)
        pt_job_note(r->job, PT_RKH_NOTE_CONFIG,
                    "the target says that its clock has %u ticks a "
                    "second, the low 16 bits of the true number: if times are wrong, say "
                    "--rate=TICKS",
                    r->config.hz);
    e = pt_rkh_event(r);
    r->data.used = 0;
    pt_rkh_put_number(&r->data, 2, r->config.version);
    pt_rkh_put_number(&r->data, 4, r->config.bits);
    pt_rkh_put(&r->data,
               (uint8_t[]){ r->config.signal, r->config.timestamp, r->config.pointer,
                            r->config.tick, r->config.nblock, r->config.nelem, r->config.esize,
                            r->config.bsize, r->config.pools },
               9);
    pt_rkh_put_number(&r->data, 2, r->config.hz);
    pt_rkh_put_number(&r->data, 4, r->rate);
    if (!pt_job_describe(r->job, "rkh:FWK_TCFG", pt_rkh_config_description))
        return false;
    return pt_rkh_add(r->job, &r->config_type, &e, &r->data);
}

static bool take_sequence(struct pt_rkh_reader *r, uint8_t found)
{
    bool jump = r->sequence_known && found != r->sequence && !(r->configured && found == 0);
    bool good = !jump || add_lost(r, found);

    r->sequence_known = true;
    r->configured = false;
    r->sequence = (uint8_t)(found + 1);
    return good;
}

static bool take_frame(struct pt_rkh_reader *r)
{
    const struct pt_rkh_config *c = &r->config;
    unsigned sequence = (c->bits & PT_RKH_SEQUENCE) != 0;
    unsigned stamp = c->bits & PT_RKH_TIMESTAMP ? c->timestamp : 0;
    unsigned checksum = (c->bits & PT_RKH_CHECKSUM) != 0, head = c->id + sequence + stamp;
    uint8_t sum = 0;
    uint64_t id;

    if (is_config(r)) {
        r->good++;
        return take_config(r);
    }
    for (size_t i = 0; checksum && i < r->used; i++)
        sum = (uint8_t)(sum + r->frame[i]);
    if (sum != 0)
        return add_damaged(r, CHECKSUM);
    if (r->used < head + checksum)
        return add_damaged(r, SHORT);
    r->good++;
    id = pt_rkh_load(r->frame, c->id);
    take_time(r, stamp ? pt_rkh_load(r->frame + c->id + sequence, stamp) : r->ticks + 1);
    if (sequence && !take_sequence(r, r->frame[c->id]))
        return false;
    if (c->id > 1) {
        unsigned shift = 8u * (c->id - 1u);
        uint64_t group = id >> shift, event = id & (((uint64_t)1 << shift) - 1);

        if (group > 7 || event > 31)
            return pt_rkh_read_unknown(r, (unsigned)id, r->frame + head, r->used - head - checksum);
        id = group << 5 | event;
    }
    return pt_rkh_read_record(r, (unsigned)id, r->frame + head, r->used - head - checksum);
}

/* A flag, or the end. */
static bool end_frame(struct pt_rkh_reader *r, bool cut)
{
    bool good = true;

    if (r->used || r->broken || r->escaped) {
        if (r->escaped && !r->broken) {
            r->broken = true;
            r->why = ESCAPE;
        }
        if (cut || r->broken)
            good = add_damaged(r, r->broken ? (enum why)r->why : CUT);
        else
            good = take_frame(r);
    }
    r->used = 0;
    r->escaped = r->broken = false;
    r->begin = r->offset + 1;
    return good;
}

static void take_byte(struct pt_rkh_reader *r, uint8_t byte)
{
    if (byte == PT_RKH_ESCAPE && !r->escaped) {
        r->escaped = true;
    } else if (r->used == PT_RKH_FRAME_MAX) {
        r->broken = true;
        r->why = LONG;
    } else {
        r->frame[r->used++] = (uint8_t)(byte ^ (r->escaped ? 0x20 : 0));
        r->escaped = false;
    }
}

/* What lies before the first flag is the end of a frame that began before we came. */
static int skip_to_flag(struct pt_rkh_reader *r)
{
    int c;

    while ((c = getc_unlocked(r->job->file)) != EOF && c != PT_RKH_FLAG)
        r->offset++;
    if (r->offset && c != EOF)
        pt_job_note(r->job, PT_RKH_NOTE_DAMAGE,
                    "%" PRIu64 " bytes before the first flag are "
                    "not a whole frame",
                    r->offset);
    r->begin = r->offset + 1;
    r->flagged = c != EOF;
    return c;
}

static int read_stream(struct pt_rkh_reader *r)
{
    FILE *file = r->job->file;
    int c = skip_to_flag(r);

    while (c != EOF) {
        if (c != PT_RKH_FLAG)
            take_byte(r, (uint8_t)c);
        else if (!end_frame(r, false))
            return r->job->error;
        r->offset++;
        if (r->good >= r->most)
            return 0;
        c = getc_unlocked(file);
    }
    /* a signal ends the reading of what has no end */
    if (c == EOF && ferror(file) && errno != EINTR)
        return pt_job_fail_file(r->job);
    if (r->flagged && !end_frame(r, true))
        return r->job->error;
    if (r->good == 0 && (r->bad || (c == EOF && !r->flagged && r->offset)))
        return pt_job_fail(r->job, EILSEQ,
                           "no whole frame in %" PRIu64 " bytes: not RKH's "
                           "stream, or --target is not as it is",
                           r->offset);
    return 0;
}

/* ---- beginning and end ---- */

static int read_rkh(struct pt_job *job)
{
    struct pt_rkh_reader *r = calloc(1, sizeof *r);
    struct termios was;
    bool set = false;

    if (!r)
        return pt_job_fail(job, ENOMEM, "no memory");
    r->job = job;
    r->damaged = pt_rkh_damaged;
    r->lost = pt_rkh_lost;
    r->unknown = unknown_type;
    strcpy(r->config_type.name, "rkh:FWK_TCFG");
    pt_rkh_config_init(&r->config);
    r->symbols = pt_rkh_symbols_new();
    r->users = pt_rkh_users_new();
    r->frame = malloc(PT_RKH_FRAME_MAX);
    r->data.room = PT_RKH_DATA_MAX;
    r->data.at = malloc(r->data.room);
    if (!r->symbols || !r->users || !r->frame || !r->data.at) {
        pt_job_fail(job, ENOMEM, "no memory");
    } else if (pt_rkh_read_options(r) && pt_rkh_set_line(job, &was, &set)) {
        pt_rkh_types_init(&r->types, r->flat);
        read_stream(r);
    }
    if (set)
        tcsetattr(job->fd, TCSANOW, &was);
    pt_rkh_symbols_free(r->symbols);
    pt_rkh_users_free(r->users);
    free(r->frame);
    free(r->data.at);
    free(r);
    return job->error;
}

static const struct posixtrace_format_option options[] = {
    { "rate", "ticks of the target's clock a second (import: as the target says; "
              "export: 1000000000)" },
    { "pointer", "export: bytes of a pointer, 4 or 8 (4)" },
    { "baud", "import: the input is a serial line of this speed" },
    { "frames", "import: end after that many frames" },
    { "ids", "import: groups (RKH 2.4 and later), or flat (before)" },
    { "target", "import, of a target that sends no configuration, by commas: "
                "pointer=4,signal=1,checksum=1,... (see posixtrace-formats(5))" },
    { NULL, NULL }
};

int pt_rkh_write(struct pt_job *job);

const struct pt_format pt_format_rkh = { .about = { .name = "rkh",
                                                    .about = "RKH trace stream, framed bytes",
                                                    .exports = true,
                                                    .imports = true,
                                                    .options = options },
                                         .write = pt_rkh_write,
                                         .read = read_rkh };
