/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How our export encodes any event as RKH's user events, so that our import gives the same event
 * again; other readers see user events.
 *
 * User event 31, called "posixtrace", defines what the others refer to; its first argument is a
 * string:
 *   "begin"   UI8 version, UI32 ticks a second
 *   "type"    UI16 number, UI8 user event, STR name, STR description ("": none)
 *   "thread"  OBJ number, UI32 pid, UI32 tid, MEM thread_id (8 bytes), STR name
 *   "time"    MEM (8 bytes), the time of this record, ns since 1970
 *   "cut"     UI8, the truncation of the next event
 * User events 29 down to 0 are one type each, 30 is all others: there the first
 * argument is the type's number, UI16.  Then follow OBJ thread, FUN place (FWK_FUN names
 * its address "0x..."; 0: none), and arguments whose bytes, one after the other, are the
 * event's data; in the byte order of the type's description.
 */
#ifndef PT_FORMAT_RKH_ROUNDTRIP_H
#define PT_FORMAT_RKH_ROUNDTRIP_H

#include "compat/rkh/rkh.h"

enum pt_rkh_user_format {
    PT_RKH_I8,
    PT_RKH_UI8,
    PT_RKH_I16,
    PT_RKH_UI16,
    PT_RKH_I32,
    PT_RKH_UI32,
    PT_RKH_X32,
    PT_RKH_STR,
    PT_RKH_MEM,
    PT_RKH_OBJ,
    PT_RKH_FUN,
    PT_RKH_SIG
};

enum { PT_RKH_USER_META = 31, PT_RKH_USER_MORE = 30, PT_RKH_USER_FIRST = 29 };

#define PT_RKH_META_NAME   "posixtrace"
#define PT_RKH_MORE_NAME   "posixtrace-more"
#define PT_RKH_OURS        ((uint32_t)1 << 31) /* of the configuration's bits */
#define PT_RKH_VERSION     1u
#define PT_RKH_THREADS     1024u
#define PT_RKH_PLACES      4096u
#define PT_RKH_THREAD_BASE 0xfffe0000u /* pointers that no object has */
#define PT_RKH_PLACE_BASE  0xffff0000u
#define PT_RKH_TYPES       (TRACE_USER_EVENT_MAX + 64)

#endif
