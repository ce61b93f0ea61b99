/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sites.h. */
#include "analysis/format/common/sites.h"

#include <errno.h>

bool pt_sites_open(struct pt_sites *s, struct pt_job *job)
{
    s->job = job;
    s->symbols = NULL;
    if (pt_job_option(job, "no-symbols", 0) ||
        posixtrace_symbols_create(pt_job_option(job, "debug-dir", 0), &s->symbols) == 0)
        return true;
    pt_job_fail(job, ENOMEM, "no memory for the names of addresses");
    return false;
}

void pt_sites_close(struct pt_sites *s)
{
    posixtrace_symbols_free(s->symbols);
    s->symbols = NULL;
}

size_t pt_sites_text(struct pt_sites *s, const struct posixtrace_event *e, uint64_t address,
                     enum posixtrace_address kind, char to[PT_SITES_TEXT])
{
    if (!s->symbols || posixtrace_symbols_update(s->symbols, s->job->trid) != 0)
        return 0;
    return posixtrace_symbols_text(s->symbols, e->pid, e->ns, address, kind, to, PT_SITES_TEXT);
}

bool pt_sites_find(struct pt_sites *s, const struct posixtrace_event *e, uint64_t address,
                   enum posixtrace_address kind, struct posixtrace_symbol *symbol)
{
    return s->symbols && posixtrace_symbols_update(s->symbols, s->job->trid) == 0 &&
           posixtrace_symbols_find(s->symbols, e->pid, e->ns, address, kind, symbol,
                                   sizeof *symbol);
}
