/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Times, shares and remarks in words; see jobs.h. */
#include "jobs/jobs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/stdout_buffer.h"
#include "common/units.h"

enum { LINE = 512 };

const char *jobs_when(const struct jobs_view *v, int64_t ns)
{
    static char texts[2][48];
    static unsigned next;
    char *text = texts[next++ % 2];
    int64_t since = 0;

    if (!__builtin_sub_overflow(ns, v->origin, &since) && since >= 0)
        snprintf(text, sizeof texts[0], "+%" PRId64 ".%09" PRId64 "s", since / 1000000000,
                 since % 1000000000);
    else
        snprintf(text, sizeof texts[0], "%" PRId64, ns);
    return text;
}

const char *jobs_words(const double shares[JOBS_SHARES], double whole)
{
    static char text[LINE];
    bool shown[JOBS_SHARES] = { false };
    size_t used = 0;

    text[0] = '\0';
    for (;;) {
        unsigned best = JOBS_SHARES;

        for (unsigned i = 0; jobs_share_name(i); i++)
            if (!shown[i] && shares[i] > 0 && (best == JOBS_SHARES || shares[i] > shares[best]))
                best = i;
        if (best == JOBS_SHARES || used >= sizeof text - 64)
            return text;
        shown[best] = true;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s ", used ? ", " : "",
                                 jobs_share_name(best));
        if (whole > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     units_percent(shares[best], whole));
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     units_time((int64_t)shares[best]));
    }
}

const char *jobs_words_of(const struct posixtrace_job *job)
{
    double shares[JOBS_SHARES] = { 0 };

    for (unsigned i = 0; jobs_share_name(i); i++)
        shares[i] = (double)jobs_share(job, i);
    return jobs_words(shares, 0);
}

const char *jobs_switches(const struct posixtrace_job *job)
{
    static char text[96];

    text[0] = '\0';
    if (job->by_switches)
        snprintf(text, sizeof text, "; %s switch%s, %s preempted", units_count(job->switches),
                 job->switches == 1 ? "" : "es", units_count(job->preemptions));
    return text;
}

void jobs_remark(const struct jobs_view *v, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    out_remark(v->request->form.format == OUTPUT_TEXT, format, args);
    va_end(args);
}
