/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* An export to BTF under way. */
#ifndef PT_FORMAT_BTF_WRITE_H
#define PT_FORMAT_BTF_WRITE_H

#include "analysis/format/btf/btf_tasks.h"

enum { PT_BTF_EXPORT_TYPES = 4096, PT_BTF_NOTE = 16 << 10, PT_BTF_PARAMETER_BYTES = 16 << 10 };

enum pt_btf_use {
    PT_BTF_UNSEEN,
    PT_BTF_PLAIN,
    PT_BTF_BEGINS,
    PT_BTF_ENDS,
    PT_BTF_A_LINE,
    PT_BTF_LINE_OTHER,
    PT_BTF_A_PARAMETER
};

struct pt_btf_type_use {
    uint8_t use;         /* enum pt_btf_use */
    uint32_t seen, look; /* events of a PLAIN one, and at which a partner is looked for */
    uint32_t runnable;
    uint32_t signal, stimulus; /* names + 1; 0: not needed yet */
};

struct pt_btf_export {
    struct pt_btf_writer w;
    struct pt_btf_type_use types[PT_BTF_EXPORT_TYPES];
    struct pt_btf_names stems; /* of pairs */
    uint32_t *runnables;       /* by stem: name + 1 */
    char parameters[PT_BTF_PARAMETER_BYTES];
    size_t parameter_bytes;
    char creator[200];
    char version[32]; /* of the imported file, if none was asked for; or "" */
    bool version_given, has_base, began, from_btf, told_due;
    char note[PT_BTF_NOTE];
};

/* btf_write_types.c: the mapping of an event's type. */
struct pt_btf_type_use *pt_btf_type_of(struct pt_btf_export *x, const struct posixtrace_event *e);
/* Writes the header; ns: of the first event. */
void pt_btf_begin(struct pt_btf_export *x, int64_t ns);
/* Parameters and lines of an imported file; false: not written by an import. */
void pt_btf_passthrough_parameter(struct pt_btf_export *x, const struct posixtrace_event *e);
bool pt_btf_passthrough_line(struct pt_btf_export *x, const struct posixtrace_event *e, bool other);

#endif
