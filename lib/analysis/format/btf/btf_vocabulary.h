/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Pairs of event names, for the export of BTF. */
#ifndef PT_FORMAT_BTF_VOCABULARY_H
#define PT_FORMAT_BTF_VOCABULARY_H

#include <trace.h>

/*
 * Does name begin (1) or end (-1) a pair, by its last word?  0: neither.  partner: the name of the
 * other one; there may be several, for i from 0 on.  Both texts have room for TRACE_EVENT_NAME_MAX
 * + 1 bytes.
 */
int pt_btf_pair(const char *name, unsigned i, char *stem, char *partner);

#endif
