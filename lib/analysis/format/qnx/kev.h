/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The trace of QNX Neutrino's instrumented kernel: the common part of the formats kev (the file of
 * tracelogger) and traceprinter (the text of its printer).  docs/formats/qnx.md describes it.
 *
 * A record has 16 bytes, four words: header, low half of the time, two words of data.  An
 * event is one record, or several that share their time ("combine").  In our logs it is an
 * event "qnx:CLASS:EVENT" whose data begins with u8 cpu and u8 flags.
 */
#ifndef PT_FORMAT_KEV_H
#define PT_FORMAT_KEV_H

#include "analysis/format/common/format.h"
#include "compat/qnx/kev_types.h"

/* ---- kev_rules.c: rules from a trace's header and from options ---- */

/* Attributes of a header are names and values, in turn, each with a NUL.  Returns the value of the
 * first one of that name, or NULL. */
const char *pt_kev_attribute(const char *attributes, size_t bytes, const char *name);
/* Sets the rules by SYS_RELEASE, and by the options of the import, which its log keeps as
 * POSIXTRACE_RELEASE and POSIXTRACE_STATE_n. */
void pt_kev_rules_take(struct pt_kev_rules *rules, const char *attributes, size_t bytes);
/* --state=NUMBER=NAME and --release=R become such attributes, by a function that puts
 * them in front of others.  False: job->error is set. */
bool pt_kev_rules_options(struct pt_job *job,
                          bool (*put)(void *context, const char *name, const char *value),
                          void *context);

#define PT_KEV_ATTRIBUTE    "POSIXTRACE" /* of a header that is ours: kev_roundtrip.h */
#define PT_KEV_HEADER_EVENT "qnx:HEADER"
#define PT_KEV_LOST_EVENT   "qnx:LOST"
#define PT_KEV_OTHER_EVENT  "qnx:OTHER" /* of more types than a log can have */

/* ---- kev_clock.c ---- */

struct pt_kev_clock {
    uint64_t rate;  /* cycles a second */
    int64_t base;   /* of cycle 0, ns since 1970 */
    bool signed_ns; /* cycles are ns since 1970, before that negative ones */
    bool has_start, started;
    int64_t start; /* of the first event, asked for */
    uint64_t last; /* cycles, of any processor */
    struct {
        uint32_t high, low;
        bool known;
    } cpu[PT_KEV_CPUS];
};

/* A CONTROL TIME of that processor. */
void pt_kev_clock_set(struct pt_kev_clock *clock, unsigned cpu, uint32_t high, uint32_t low);
/* The time of a record with that low half; ns beyond 2262 are INT64_MAX. */
int64_t pt_kev_clock_ns(struct pt_kev_clock *clock, unsigned cpu, uint32_t low);
/* "Tue Jun 23 11:47:46 2009"; false: no such date. */
bool pt_kev_date(const char *text, int64_t *ns);

/* kev.c: of both formats; ends with a name of NULL. */
extern const struct posixtrace_format_option pt_kev_options[];

#endif
