/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* In place of ctf_read.c where libbabeltrace2 is missing: export only. */
#include "analysis/format/ctf/ctf.h"

const struct pt_format pt_format_ctf = {
    .about = { CTF_ABOUT, .unavailable = "built without libbabeltrace2" },
    .write = pt_ctf_write,
};
