/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* How many system types posixtrace/system.h has, and the last of them. */
#ifndef TEST_SUPPORT_SYSTEM_TYPES_H
#define TEST_SUPPORT_SYSTEM_TYPES_H

#include <posixtrace/system.h>

enum { OWN_TYPES = POSIXTRACE_CONTEXT - POSIXTRACE_SWITCH_IN + 1, OWN_LAST = POSIXTRACE_CONTEXT };

#endif
