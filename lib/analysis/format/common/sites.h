/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Names of addresses, for formats that show them: by the options debug-dir and no-symbols. */
#ifndef PT_FORMAT_SITES_H
#define PT_FORMAT_SITES_H

#include <posixtrace/symbols.h>
#include "analysis/format/common/format.h"

enum { PT_SITES_TEXT = 240 };

struct pt_sites {
    struct pt_job *job;
    posixtrace_symbols_t *symbols; /* NULL: addresses stay as they are */
};

#define PT_SITES_OPTIONS                                                                     \
    { "debug-dir", "DIR: also look there for programs of addresses and their debug files" }, \
    {                                                                                        \
        "no-symbols", "addresses, not functions"                                             \
    }

/* False: job->error. */
bool pt_sites_open(struct pt_sites *s, struct pt_job *job);
void pt_sites_close(struct pt_sites *s);
/* The name, as posixtrace_symbols_text(), of an address in an event; 0: it is not known. */
size_t pt_sites_text(struct pt_sites *s, const struct posixtrace_event *e, uint64_t address,
                     enum posixtrace_address kind, char to[PT_SITES_TEXT]);

/* The same in parts; false: nothing is known of the address. */
bool pt_sites_find(struct pt_sites *s, const struct posixtrace_event *e, uint64_t address,
                   enum posixtrace_address kind, struct posixtrace_symbol *symbol);

#endif
