/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The observer of the report engine: states of threads, locks, flows. */
#include "analysis/html/html_state.h"

void pt_html_states_pass(struct pt_html *h)
{
    (void)h;
}
