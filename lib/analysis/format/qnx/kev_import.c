/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Import of QNX traces: options and header. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_import.h"

enum { ATTRIBUTES_MAX = 2 * PT_KEV_HEAD_MAX, LOG_DATA_MAX = 61440 };

/* ---- options ---- */

static bool take_number(struct pt_kev_import *im, const char *name, uint64_t most, uint64_t *value)
{
    const char *text = pt_job_option(im->job, name, 0);
    char *end;

    if (!text)
        return true;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (!errno && *text >= '0' && *text <= '9' && !*end && *value <= most && *value > 0)
        return true;
    pt_job_fail(im->job, EINVAL, "--%s=%.60s: a number from 1 to %" PRIu64 " is expected", name,
                text, most);
    return false;
}

static bool put_option(void *context, const char *name, const char *value)
{
    return pt_kev_import_attribute(context, name, value);
}

/* ---- life ---- */

bool pt_kev_import_begin(struct pt_kev_import *im, struct pt_job *job, const char *unit)
{
    uint64_t start = 0;

    im->job = job;
    im->unit = unit;
    im->taken_ns = im->pushed_ns = INT64_MIN;
    im->hold_ns = INT64_MAX;
    im->order = pt_kev_order_new();
    im->data = malloc(LOG_DATA_MAX);
    im->attributes = malloc(ATTRIBUTES_MAX);
    if (!im->order || !im->data || !im->attributes) {
        pt_job_fail(job, ENOMEM, "no memory");
        return false;
    }
    if (!pt_kev_rules_options(job, put_option, im) ||
        !take_number(im, "rate", 10000000000u, &im->clock.rate) ||
        !take_number(im, "start", INT64_MAX / 2, &start))
        return false;
    im->clock.has_start = pt_job_option(job, "start", 0) != NULL;
    im->clock.start = (int64_t)start;
    return true;
}

void pt_kev_import_free(struct pt_kev_import *im)
{
    pt_kev_order_free(im->order);
    pt_kev_roundtrip_free(im->ours);
    free(im->data);
    free(im->attributes);
}

/* ---- the header ---- */

bool pt_kev_import_attribute(struct pt_kev_import *im, const char *name, const char *value)
{
    size_t n = strlen(name) + 1, v = strlen(value) + 1;

    if (im->attribute_bytes + n + v > ATTRIBUTES_MAX) {
        pt_job_fail(im->job, EILSEQ, "a header of more than %d bytes", ATTRIBUTES_MAX);
        return false;
    }
    memcpy(im->attributes + im->attribute_bytes, name, n);
    memcpy(im->attributes + im->attribute_bytes + n, value, v);
    im->attribute_bytes += n + v;
    return true;
}

/* Keys of release 8 that may affect times; their meaning is not published. */
static void report_normalized(struct pt_kev_import *im)
{
    const char *at = im->attributes, *end = at + im->attribute_bytes;

    while (at < end) {
        const char *value = at + strlen(at) + 1;

        if (strncmp(at, "NORMALIZED", 10) == 0)
            pt_job_note(im->job, PT_KEV_NOTE_HEADER,
                        "header: %.40s '%.40s': what it means is not "
                        "published; times are taken as they are",
                        at, value);
        at = value + strlen(value) + 1;
    }
}

const char *pt_kev_import_find(const struct pt_kev_import *im, const char *name)
{
    return pt_kev_attribute(im->attributes, im->attribute_bytes, name);
}

/* The number of an attribute; false: it is none. */
static bool number_of(struct pt_kev_import *im, const char *name, uint64_t *value)
{
    const char *text = pt_kev_import_find(im, name);
    char *end;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !errno && !*end;
}

static bool take_version(struct pt_kev_import *im)
{
    const char *major = pt_kev_import_find(im, "VER_MAJOR");
    const char *encoding = pt_kev_import_find(im, "ENCODING");
    uint64_t v = 1, w = 1;

    if ((major && !number_of(im, "VER_MAJOR", &v)) ||
        (pt_kev_import_find(im, "VER_MINOR") && !number_of(im, "VER_MINOR", &w)) || v != 1 || !w)
        pt_job_fail(im->job, EILSEQ,
                    "header: version %.20s.%.20s: it is 1.01 and later ones of 1 "
                    "that can be read",
                    major ? major : "1",
                    pt_kev_import_find(im, "VER_MINOR") ? pt_kev_import_find(im, "VER_MINOR")
                                                        : "01");
    else if (encoding && strncmp(encoding, "16 byte events", 14) != 0)
        pt_job_fail(im->job, EILSEQ,
                    "header: encoding '%.40s': it is '16 byte events' that can be "
                    "read",
                    encoding);
    return !im->job->error;
}

static bool take_clock(struct pt_kev_import *im)
{
    const char *date = pt_kev_import_find(im, "BOOT_DATE");
    bool given = im->clock.rate != 0, said = pt_kev_import_find(im, "CYCLES_PER_SEC") != NULL;

    if (!given && said &&
        (!number_of(im, "CYCLES_PER_SEC", &im->clock.rate) || !im->clock.rate ||
         im->clock.rate > 10000000000u)) {
        pt_job_fail(im->job, EILSEQ,
                    "header: CYCLES_PER_SEC '%.40s' is no rate of a clock; "
                    "--rate=CYCLES says better",
                    pt_kev_import_find(im, "CYCLES_PER_SEC"));
        return false;
    }
    if (!im->clock.rate) {
        im->clock.rate = PT_KEV_BILLION;
        pt_job_note(im->job, PT_KEV_NOTE_HEADER,
                    "the header does not say how fast the clock is: "
                    "cycles are taken for nanoseconds; --rate=CYCLES_PER_SEC says better");
    }
    if (!im->clock.has_start && (!date || !pt_kev_date(date, &im->clock.base)))
        pt_job_note(im->job, PT_KEV_NOTE_HEADER,
                    "the header has no date of boot that is "
                    "understood: times begin in 1970; --start=NS says better");
    return true;
}

bool pt_kev_import_attributes_end(struct pt_kev_import *im)
{
    const char *ours = pt_kev_import_find(im, PT_KEV_ATTRIBUTE);

    if (!take_version(im) || !take_clock(im))
        return false;
    pt_kev_rules_take(&im->rules, im->attributes, im->attribute_bytes);
    if (im->rules.release8 && !im->rules.named)
        pt_job_note(
            im->job, PT_KEV_NOTE_HEADER,
            "release 8 of QNX: it counts thread states in "
            "a way that is not published, so they stay numbers, and no thread gets or loses "
            "a processor; --state=NUMBER=NAME says which is RUNNING, READY, ...");
    report_normalized(im);
    if (ours && !im->big_endian) {
        im->ours_marked = strcmp(ours, "qnx-2") == 0;
        im->ours_of_qnx = im->ours_marked || strcmp(ours, "qnx") == 0;
        im->clock.signed_ns = !im->ours_of_qnx && !im->clock.has_start &&
                              im->clock.rate == PT_KEV_BILLION;
        im->ours = pt_kev_roundtrip_new();
        if (!im->ours) {
            pt_job_fail(im->job, ENOMEM, "no memory");
            return false;
        }
    }
    pt_kev_threads_init(im);
    return true;
}
