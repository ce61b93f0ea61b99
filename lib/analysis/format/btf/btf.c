/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Best Trace Format as a format of `posixtrace export` and `import`; see btf.h. */
#include "analysis/format/btf/btf.h"
#include "analysis/format/common/format.h"

static const struct posixtrace_format_option options[] = {
    { "version", "export: 2.1.5, 2.2.1 or 2.3.0 (that of an imported file, or 2.2.1)" },
    { "exclude", "export: leaves out an entity type, such as EVENT; may be repeated" },
    { "strict", "import: yes stops at the first bad line, no passes over it" },
    { NULL, NULL }
};

const struct pt_format pt_format_btf = {
    .about = { .name = "btf",
               .about = "Best Trace Format 2.1 to 2.3 (Trace Compass, APP4MC)",
               .exports = true,
               .imports = true,
               .options = options },
    .write = pt_btf_write,
    .read = pt_btf_read,
};
