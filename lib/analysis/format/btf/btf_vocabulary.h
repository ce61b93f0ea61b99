/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Pairs of event names, for the export of BTF. */
#ifndef PT_FORMAT_BTF_VOCABULARY_H
#define PT_FORMAT_BTF_VOCABULARY_H

#include <trace.h>

/*
 * Whether name is the begin (1) or the end (-1) of a pair, by its last word; 0: of none.
 * For i, from 0, the name that the other one has then: there are several for one.
 * Both texts have room for TRACE_EVENT_NAME_MAX + 1 bytes.
 */
int pt_btf_pair(const char *name, unsigned i, char *stem, char *partner);

#endif
