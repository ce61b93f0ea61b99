/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Names and lines in a program or library, through libdw; without it there are none. */
#ifndef PT_SYMBOLS_NAMES_H
#define PT_SYMBOLS_NAMES_H

#include <posixtrace/symbols.h>
#include "analysis/symbols/mapped.h"

struct pt_symbol_module;

/* Opens the file and its debug information.  NULL: no memory, or no libdw. */
struct pt_symbol_module *pt_symbol_module_new(const struct pt_symbol_file *file,
                                              const char *debug_dir);
void pt_symbol_module_free(struct pt_symbol_module *m);
/* Fills in name, in_name, source and line, as far as they are known; texts belong to the module. */
void pt_symbol_module_find(struct pt_symbol_module *m, uint64_t offset,
                           enum posixtrace_address kind, struct posixtrace_symbol *symbol);

#endif
