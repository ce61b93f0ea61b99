/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The mappings of this process in its name map (page/mapping_list.h): for tools, which show the
 * addresses of its events as functions and lines.
 *
 * A caller notes an address before it records it.  Where no mapping with the address is known, the
 * mappings are read again, and what has changed is added.  So libraries of dlopen() are found
 * without a wrapper of it.  Pages with known addresses are in a table that fork wipes, so a child
 * adds a line with its parent before its first address.
 *
 * One thread at a time has the state; another one, or a handler, that finds it in use leaves
 * without waiting, and the next note of the address tries again.  In a forked child a state that a
 * thread of the parent had then is made again.
 */
#ifndef PT_MAPPING_MAPPINGS_H
#define PT_MAPPING_MAPPINGS_H

#include <stdint.h>

/* Async-signal-safe, leaves errno alone. */
void pt_mappings_note(uintptr_t address);
/* Some may be gone: the next note reads them again. */
void pt_mappings_changed(void);

#endif
