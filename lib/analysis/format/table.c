/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The formats: one line each, in the order of `posixtrace export --help`. */
#include <string.h>
#include "analysis/format/common/format.h"

const struct pt_format *const pt_formats[] = { &pt_format_btf,
                                               &pt_format_chrome,
                                               &pt_format_csv,
                                               &pt_format_ctf,
                                               &pt_format_folded,
                                               &pt_format_jsonl,
                                               &pt_format_kev,
                                               &pt_format_kiwi,
                                               &pt_format_otlp,
                                               &pt_format_parquet,
                                               &pt_format_perfetto,
                                               &pt_format_rkh,
                                               &pt_format_shark,
                                               &pt_format_traceprinter,
                                               &pt_format_trazer,
                                               &pt_format_tree,
                                               NULL };

const struct posixtrace_format *posixtrace_format_get(size_t i)
{
    size_t n = 0;

    while (n < i && pt_formats[n])
        n++;
    return pt_formats[n] ? &pt_formats[n]->about : NULL;
}

const struct posixtrace_format *posixtrace_format_find(const char *name)
{
    const struct posixtrace_format *f;

    for (size_t i = 0; (f = posixtrace_format_get(i)); i++)
        if (name && strcmp(f->name, name) == 0)
            return f;
    return NULL;
}
