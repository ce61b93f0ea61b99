/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
#include "base/brief_files.h"

struct pt_brief_files pt_brief_files;
_Thread_local unsigned pt_brief_files_own __attribute__((tls_model("initial-exec")));
