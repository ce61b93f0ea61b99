/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of the text that Trazer 3.2 prints, and the format's entry.  The events are those that the
 * import of the frames gives (rkh.h), as far as the text has them: a named object has no address if
 * Trazer did not print it.  Derived values (rt, nseq) are not kept.  Lines that are not records of
 * RKH become events "rkh:LINE".  Lines before Trazer's first record are skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_job.h"
#include "analysis/format/rkh/trazer.h"
#include "text/hash.h"

#define LINE_BYTES  65536u
#define CONFIG_DATA 21u

enum { NOTE_LINE, NOTE_LOSS, NOTE_DAMAGE, NOTE_LONG };

static const struct pt_rkh_type line_type = { .name = "rkh:LINE",
                                              .count = 1,
                                              .args = { { 's', 0, 4, "text" } } };

enum collecting { NOTHING, CONFIG, USER };

struct reader {
    struct pt_job *job;
    struct pt_rkh_types types;
    struct pt_rkh_type damaged, lost, line;
    struct pt_rkh_symbols *symbols;
    struct pt_rkh_objects objects;
    struct pt_rkh_bytes data;
    uint64_t number, records; /* of lines */
    uint64_t rate, ticks, passed;
    bool rate_given, timed, configured, gap; /* gap: Trazer says that something is missing */
    uint64_t described[256];                 /* hashes of user events' names */
    struct {
        char name[32];
        int16_t id;
    } found[256];   /* types, by hash of the name */
    unsigned stamp; /* bytes of a timestamp; 0: not said */
    int sequence;   /* the next one; -1: not known */
    int64_t ns;
    enum collecting collecting;
    uint8_t config[CONFIG_DATA];
    char name[PT_RKH_NAME_MAX + 10]; /* of the user event */
    char text[LINE_BYTES + 2];
};

int pt_trazer_write(struct pt_job *job);

static struct posixtrace_event event_of(const struct reader *r)
{
    return (struct posixtrace_event){ .ns = r->ns, .thread_name = "", .pid = 1 };
}

/* ---- time and sequence ---- */

static void take_time(struct reader *r, const struct pt_trazer_line *l)
{
    unsigned stamp = r->stamp ? r->stamp : l->column <= 4 ? 1 : l->column <= 6 ? 2 : 4;
    uint64_t seconds, ns;

    if (!l->column)
        r->passed++;
    else if (!r->timed)
        r->passed += l->ticks & pt_rkh_none(4);
    else
        r->passed += (l->ticks - r->ticks) & pt_rkh_none(stamp);
    r->timed = r->timed || l->column;
    r->ticks = l->ticks;
    seconds = r->passed / r->rate;
    ns = r->passed % r->rate * 1000000000u / r->rate;
    r->ns = seconds < INT64_MAX / 1000000000 ? (int64_t)(seconds * 1000000000u + ns) : INT64_MAX;
}

static bool add_gap(struct reader *r, const char *name)
{
    struct posixtrace_event e = { .ns = r->ns, .thread_name = "", .name = name };

    return pt_job_add(r->job, &e);
}

static bool take_sequence(struct reader *r, int found)
{
    bool jump = r->sequence >= 0 && found != r->sequence && !(r->configured && found == 0);
    unsigned frames = r->sequence >= 0 ? (uint8_t)(found - r->sequence) : 0;
    unsigned expected = r->sequence >= 0 ? (unsigned)r->sequence : (unsigned)found;
    struct posixtrace_event e = event_of(r);

    jump = jump || r->gap;
    r->sequence = (uint8_t)(found + 1);
    r->gap = r->configured = false;
    if (!jump)
        return true;
    pt_job_note(r->job, NOTE_LOSS,
                "line %" PRIu64 ": records are missing before this one, "
                "number %d: %u of them, or 256 more",
                r->number, found, frames);
    r->data.used = 0;
    pt_rkh_put_number(&r->data, 4, frames);
    pt_rkh_put_number(&r->data, 1, expected);
    pt_rkh_put_number(&r->data, 1, (uint64_t)found);
    return pt_rkh_add(r->job, &r->lost, &e, &r->data) && add_gap(r, "posix_trace_overflow") &&
           add_gap(r, "posix_trace_resume");
}

/* ---- records ---- */

static bool add_line(struct reader *r, const char *text)
{
    struct posixtrace_event e = event_of(r);

    pt_job_note(r->job, NOTE_LINE,
                "line %" PRIu64 " is no record of RKH that is known; it is kept "
                "as it is",
                r->number);
    r->data.used = 0;
    pt_rkh_put_string(&r->data, text, strlen(text));
    return pt_rkh_add(r->job, &r->line, &e, &r->data);
}

/* False with *known: an error; without: the line is not what its record is. */
static bool add_record(struct reader *r, struct pt_rkh_type *type, const char *rest, bool *known)
{
    struct posixtrace_event e = event_of(r);

    *known = pt_trazer_take_values(type, rest, r->symbols, &r->data, &e);
    if (!*known)
        return false;
    if (type->by_object)
        e.tid = pt_rkh_objects_tid(&r->objects, e.thread_id);
    if (!type->by_object || !e.thread_id) {
        e.thread_id = 0;
        e.tid = 0;
        e.thread_name = "";
    }
    return pt_rkh_add(r->job, type, &e, &r->data);
}

/* ---- what has more than one line ---- */

static bool end_config(struct reader *r)
{
    struct posixtrace_event e = event_of(r);
    uint64_t hz = pt_rkh_load(r->config + 15, 2);

    r->stamp = r->config[7] == 1 || r->config[7] == 2 || r->config[7] == 4 ? r->config[7] : 0;
    if (!r->rate_given && hz)
        r->rate = hz;
    pt_rkh_store(r->config + 17, 4, r->rate);
    r->configured = true;
    r->data.used = 0;
    pt_rkh_put(&r->data, r->config, CONFIG_DATA);
    e.name = "rkh:FWK_TCFG";
    e.data = r->data.at;
    e.data_len = r->data.used;
    return pt_job_describe(r->job, e.name, pt_rkh_config_description) && pt_job_add(r->job, &e);
}

static bool describe_user(struct reader *r)
{
    uint64_t h = pt_hash_bytes(PT_HASH_START, r->name, strlen(r->name)),
             *known = &r->described[h >> 56];

    if (*known == h)
        return true;
    *known = h;
    return pt_job_describe(r->job, r->name, "str text");
}

static bool end_user(struct reader *r)
{
    struct posixtrace_event e = event_of(r);

    if (r->data.full) {
        pt_job_note(r->job, NOTE_LONG,
                    "line %" PRIu64 ": the user event before it is too long "
                    "for an event, and was cut",
                    r->number);
        e.truncation = POSIX_TRACE_TRUNCATED_RECORD;
    }
    e.name = r->name;
    e.data = r->data.at;
    e.data_len = r->data.used;
    if (r->data.used == 0)
        return pt_job_add(r->job, &e);
    r->data.at[r->data.used - 1] = 0;
    return describe_user(r) && pt_job_add(r->job, &e);
}

static bool end_collecting(struct reader *r)
{
    enum collecting was = r->collecting;

    r->collecting = NOTHING;
    return was == CONFIG ? end_config(r) : was == USER ? end_user(r) : true;
}

/* A line with nothing but blanks before its "| ": it belongs to the one before. */
static bool take_continuation(struct reader *r, const char *text)
{
    const char *p = pt_trazer_skip_space(text);

    if (r->collecting == NOTHING || p - text < 30 || *p != '|')
        return false;
    p += p[1] == ' ' ? 2 : 1;
    if (r->collecting == CONFIG) {
        pt_trazer_take_setting(r->config, p);
    } else {
        pt_rkh_put(&r->data, p, strlen(p));
        pt_rkh_put(&r->data, "\n", 1);
    }
    return true;
}

static bool take_said(struct reader *r, const char *text)
{
    struct posixtrace_event e = event_of(r);

    if (strstr(text, "lost trace info"))
        r->gap = true;
    if (!strstr(text, "Checksum Error"))
        return true;
    pt_job_note(r->job, NOTE_DAMAGE, "line %" PRIu64 ": Trazer found a damaged frame", r->number);
    r->data.used = 0;
    pt_rkh_put_number(&r->data, 8, UINT64_MAX);
    pt_rkh_put_number(&r->data, 8, 0);
    pt_rkh_put_number(&r->data, 1, 0);
    return pt_rkh_add(r->job, &r->damaged, &e, &r->data);
}

static struct pt_rkh_type *type_of(struct reader *r, const struct pt_trazer_line *l)
{
    const char *group = l->group;
    char name[2 * PT_RKH_NAME_MAX + 8];
    size_t len = l->group_len;
    unsigned cell;

    if (len == 2 && strncmp(group, "RQ", 2) == 0)
        group = "QUE", len = 3;
    else if (len == 3 && strncmp(group, "TIM", 3) == 0)
        group = "TMR";
    if (len + l->event_len > sizeof r->found[0].name - 6)
        return NULL;
    memcpy(name, "rkh:", 4);
    memcpy(name + 4, group, len);
    name[len + 4] = '_';
    memcpy(name + len + 5, l->event, l->event_len);
    name[len + 5 + l->event_len] = '\0';
    cell = (unsigned)(pt_hash_bytes(PT_HASH_START, name, len + 5 + l->event_len) >> 56);
    if (strcmp(r->found[cell].name, name) != 0) {
        strcpy(r->found[cell].name, name);
        r->found[cell].id = (int16_t)pt_rkh_type_find(&r->types, name);
    }
    if (r->found[cell].id < 0 || r->found[cell].id >= PT_RKH_UNIT_TEST)
        return NULL;
    return &r->types.of[r->found[cell].id];
}

static bool take_record(struct reader *r, const char *text, const struct pt_trazer_line *l)
{
    bool user = l->group_len == 3 && strncmp(l->group, "USR", 3) == 0, known, good;
    struct pt_rkh_type *type = user ? NULL : type_of(r, l);

    r->records++;
    if (type && strcmp(type->name, "rkh:FWK_TCFG") == 0) {
        memset(r->config, 0, sizeof r->config);
        r->collecting = CONFIG;
        return true;
    }
    take_time(r, l);
    if (l->sequence >= 0 && !take_sequence(r, l->sequence))
        return false;
    if (user) {
        snprintf(r->name, sizeof r->name, "rkh:USR:%.*s", (int)l->event_len, l->event);
        r->data.used = 0;
        r->data.full = false;
        r->collecting = USER;
        return true;
    }
    good = type && add_record(r, type, l->rest, &known);
    return good || (type && known ? false : add_line(r, text));
}

static bool take_text(struct reader *r)
{
    struct pt_trazer_line l;

    if (take_continuation(r, r->text))
        return true;
    if (!end_collecting(r))
        return false;
    if (strncmp(r->text, "*****", 5) == 0)
        return take_said(r, r->text);
    if (pt_trazer_take_line(r->text, &l))
        return take_record(r, r->text, &l);
    return !*pt_trazer_skip_space(r->text) || r->records == 0 || add_line(r, r->text);
}

static int read_lines(struct reader *r)
{
    FILE *file = r->job->file;

    while (fgets(r->text, sizeof r->text, file)) {
        size_t len = strlen(r->text);

        r->number++;
        if (len == 0 || (r->text[len - 1] != '\n' && !feof(file)))
            return pt_job_fail(r->job, EILSEQ, "line %" PRIu64 ": %s", r->number,
                               len + 1 == sizeof r->text ? "longer than Trazer writes"
                                                         : "a zero byte, which is no text");
        while (len && (r->text[len - 1] == '\n' || r->text[len - 1] == '\r'))
            r->text[--len] = '\0';
        if (!take_text(r))
            return r->job->error;
    }
    if (ferror(file))
        return pt_job_fail_file(r->job);
    if (!end_collecting(r))
        return r->job->error;
    if (r->records == 0 && r->number)
        return pt_job_fail(r->job, EILSEQ,
                           "none of %" PRIu64 " lines is a record as Trazer prints "
                           "them",
                           r->number);
    return 0;
}

static int read_trazer(struct pt_job *job)
{
    struct reader *r = calloc(1, sizeof *r);

    if (!r)
        return pt_job_fail(job, ENOMEM, "no memory");
    r->job = job;
    r->damaged = pt_rkh_damaged;
    r->lost = pt_rkh_lost;
    r->line = line_type;
    r->rate = 1000000;
    r->rate_given = pt_job_option(job, "rate", 0) != NULL;
    r->sequence = -1;
    pt_rkh_types_init(&r->types, false);
    r->symbols = pt_rkh_symbols_new();
    r->data.room = PT_RKH_DATA_MAX;
    r->data.at = malloc(r->data.room);
    if (!r->symbols || !r->data.at)
        pt_job_fail(job, ENOMEM, "no memory");
    else if (pt_rkh_number_option(job, "rate", 1, 1000000000u, &r->rate))
        read_lines(r);
    pt_rkh_symbols_free(r->symbols);
    free(r->data.at);
    free(r);
    return job->error;
}

static const struct posixtrace_format_option options[] = {
    { "rate", "ticks of the clock a second (import: as the configuration says; "
              "export: the same, or 1000000)" },
    { NULL, NULL }
};

const struct pt_format pt_format_trazer = { .about = { .name = "trazer",
                                                       .about = "text as RKH's Trazer prints it",
                                                       .exports = true,
                                                       .imports = true,
                                                       .options = options },
                                            .write = pt_trazer_write,
                                            .read = read_trazer };
