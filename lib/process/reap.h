/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Taking away what dead processes left in the stream directory: segments, process
 * pages, name maps.  A segment whose log is not complete is kept until its events
 * are in the log.
 */
#ifndef PT_PROCESS_REAP_H
#define PT_PROCESS_REAP_H

enum pt_reap_how {
    PT_REAP_QUICK,    /* touches no log: segments that need one completed stay */
    PT_REAP_SETTLE,   /* completes logs that can be completed */
    PT_REAP_FORCE     /* and removes what cannot */
};
int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept);
/* The first time in a process, quickly: what earlier programs left. */
void pt_reap_once(void);

#endif
