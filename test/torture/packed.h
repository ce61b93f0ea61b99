/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The same torture with compressed logs, where the environment asks for it.
 */
#ifndef TORTURE_PACKED_H
#define TORTURE_PACKED_H

#include <posixtrace/attr.h>
#include <stdlib.h>
#include "torture/demand.h"

static inline void pack_if_asked(trace_attr_t *attr)
{
    if (getenv("POSIXTRACE_TEST_PACKED"))
        DEMAND_OK(posixtrace_attr_setcompression(attr, POSIXTRACE_COMPRESSION_ZSTD));
}

#endif
