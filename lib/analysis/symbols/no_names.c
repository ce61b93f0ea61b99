/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Without libdw; see names.h. */
#include "analysis/symbols/names.h"

bool posixtrace_symbols_have_names(void)
{
    return false;
}

struct pt_symbol_module *pt_symbol_module_new(const struct pt_symbol_file *file,
                                              const char *debug_dir)
{
    (void)file;
    (void)debug_dir;
    return NULL;
}

void pt_symbol_module_free(struct pt_symbol_module *m)
{
    (void)m;
}

void pt_symbol_module_find(struct pt_symbol_module *m, uint64_t offset,
                           enum posixtrace_address kind, struct posixtrace_symbol *symbol)
{
    (void)m;
    (void)offset;
    (void)kind;
    (void)symbol;
}
