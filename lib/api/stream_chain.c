/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_chain(). */
#include <posixtrace/stream.h>
#include "api/guard.h"
#include "control/set_chain.h"

PT_PUBLIC int posixtrace_chain(trace_id_t trid, trace_id_t next)
{
    struct pt_stream *successor;
    struct pt_guard g;
    int r = -EINVAL;

    if (!pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    if (trid == next) {
        r = pt_chain_unlink(g.s);
    } else if ((successor = pt_handle_get(next, PT_OWN_STREAMS))) {
        r = pt_chain_link(g.s, successor, next);
        pt_handle_put(successor);
    }
    return pt_guard_leave(&g, r);
}
