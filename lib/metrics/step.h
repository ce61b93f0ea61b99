/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What entering a state does: the paper's rules for measurements and segments. */
#ifndef PT_METRICS_STEP_H
#define PT_METRICS_STEP_H

#include "metrics/engine.h"

/* Into another state, and into its list. */
void pt_step_place(struct pt_machine *m, struct pt_automaton *a, int state);
/* It has entered its state. */
void pt_step_enter(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
                   int64_t stamp);
/* Fills in whose it is, and hands it over. */
void pt_step_report(struct pt_engine *e, const struct pt_machine *m,
                    const struct pt_automaton *a, struct posixtrace_measurement *measurement);

#endif
