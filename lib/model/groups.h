/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Groups of the system event types of posixtrace/system.h, by the names of
 * posixtrace_eventset_system().
 */
#ifndef PT_MODEL_GROUPS_H
#define PT_MODEL_GROUPS_H

#include "model/set.h"

/* The types of the groups in a list with commas; false: another word is in it. */
bool pt_groups_read(const char *list, struct pt_set *set);

#endif
