/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The header of an exported file, and events that an import of BTF has made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <posixtrace/info.h>
#include "analysis/format/btf/btf_write.h"

/* ---- the header ---- */

static void write_lost(struct pt_btf_export *x)
{
    uint64_t lost = pt_job_lost(x->w.job);
    char line[80];
    int n;

    if (!lost)
        return;
    n = snprintf(line, sizeof line, "# events lost when recording: %" PRIu64 "\n", lost);
    fwrite_unlocked(line, 1, (size_t)n, x->w.job->file);
}

/* Times are relative to a whole second, which the header names. */
void pt_btf_begin(struct pt_btf_export *x, int64_t ns)
{
    const char *version = x->version[0] ? x->version : pt_btf_rules_name(x->w.rules);
    char date[40];
    struct tm tm;
    time_t second;

    x->began = true;
    if (!x->has_base)
        x->w.base = ns - (ns % 1000000000 + 1000000000) % 1000000000;
    if (x->w.base > ns)
        x->w.base = ns;
    second = (time_t)(x->w.base / 1000000000);
    gmtime_r(&second, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(x->w.job->file, "#version %s\n#creator %s\n#creationDate %s", version,
            x->creator[0] ? x->creator : "posixtrace", date);
    if (x->w.base % 1000000000)
        fprintf(x->w.job->file, ".%09" PRIi64, x->w.base % 1000000000);
    fprintf(x->w.job->file, "Z\n#%s ns\n", x->w.rules == PT_BTF_21 ? "timeScale" : "timescale");
    fwrite_unlocked(x->parameters, 1, x->parameter_bytes, x->w.job->file);
    write_lost(x);
}

/* ---- events that came from BTF ---- */

/* A string of the data, as a field of a line, in a buffer of its own. */
static const char *string_of(const struct posixtrace_value *v, char *to, size_t size, bool field)
{
    size_t n = v->count < size - 1 ? v->count : size - 1;

    memcpy(to, v->at, n);
    to[n] = '\0';
    if (field)
        pt_btf_clean(to);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < 0x20 && *c != '\t')
            *c = '_';
    return to;
}

static bool split(struct pt_btf_export *x, const struct posixtrace_event *e,
                  struct posixtrace_value *values)
{
    const posixtrace_layout_t *l = posixtrace_fields_layout(x->w.job->fields, e->id);
    size_t fields;

    return l && posixtrace_layout_split(l, e->data, e->data_len, values, &fields) == 0;
}

static int64_t instance_of(struct pt_btf_export *x, const struct posixtrace_event *e, size_t field,
                           const struct posixtrace_value *v)
{
    return (int64_t)posixtrace_value_integer(posixtrace_fields_layout(x->w.job->fields, e->id),
                                             field, v, 0);
}

bool pt_btf_passthrough_line(struct pt_btf_export *x, const struct posixtrace_event *e, bool other)
{
    struct posixtrace_value v[POSIXTRACE_FIELDS_MAX];
    char source[1100], target[1100], type[256], action[256];
    size_t at = other ? 3 : 2;
    unsigned known;

    if (!split(x, e, v))
        return false;
    if (other) {
        string_of(&v[2], type, sizeof type, true);
        string_of(&v[5], action, sizeof action, true);
    } else {
        const char *colon = strchr(e->name + 4, ':');

        snprintf(type, sizeof type, "%.*s", (int)(colon - e->name - 4), e->name + 4);
        snprintf(action, sizeof action, "%s", colon + 1);
    }
    known = pt_btf_type_find(type);
    if (known < PT_BTF_TYPES && (x->w.excluded & PT_BTF_BIT(known)))
        return true;
    pt_btf_text_line(&x->w, x->w.time, string_of(&v[0], source, sizeof source, true),
                     instance_of(x, e, 1, &v[1]), type,
                     string_of(&v[at], target, sizeof target, true),
                     instance_of(x, e, at + 1, &v[at + 1]), action,
                     string_of(&v[other ? 6 : 4], x->note, sizeof x->note, false));
    return true;
}

/* Lines that are written back unchanged follow the rules of their version, so all other events do,
 * too. */
static void keep_version(struct pt_btf_export *x, const char *text)
{
    bool known;
    unsigned rules = pt_btf_rules(text, &known);

    if (x->began || x->version_given || !known)
        return;
    x->w.rules = rules == PT_BTF_OLD ? PT_BTF_21 : rules;
    snprintf(x->version, sizeof x->version, "%.31s", text);
}

/* A parameter of the header; version, date and creator are handled elsewhere. */
void pt_btf_passthrough_parameter(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    struct posixtrace_value v[POSIXTRACE_FIELDS_MAX];
    char name[100], value[1000];
    int n;

    if (!split(x, e, v))
        return;
    string_of(&v[0], name, sizeof name, true);
    string_of(&v[1], value, sizeof value, false);
    if (strcasecmp(name, "version") == 0)
        keep_version(x, value);
    if (strcasecmp(name, "version") == 0 || strcasecmp(name, "timescale") == 0)
        return;
    if (strcasecmp(name, "creationdate") == 0 && !x->began) {
        x->has_base = pt_btf_date(value, &x->w.base);
    } else if (strcasecmp(name, "creator") == 0 && !x->began) {
        snprintf(x->creator, sizeof x->creator, "%.*s", (int)sizeof x->creator - 1, value);
    } else if (x->began) {
        if (x->w.used + sizeof value + sizeof name + 8 > PT_BTF_OUT_BUFFER)
            pt_btf_flush(&x->w);
        x->w.used += (size_t)sprintf(x->w.out + x->w.used, "#%s %s\n", name, value);
    } else if (x->parameter_bytes + sizeof name + sizeof value + 8 < sizeof x->parameters) {
        n = sprintf(x->parameters + x->parameter_bytes, "#%s %s\n", name, value);
        x->parameter_bytes += (size_t)n;
    } else {
        pt_job_left_out(x->w.job, PT_BTF_NOTE_MANY, "parameter '%s': more than %d KiB of them",
                        name, PT_BTF_PARAMETER_BYTES >> 10);
    }
}
