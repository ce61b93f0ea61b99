/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pages of processes that have ended, and the name maps that only those used.
 *
 * exit() removes a process's page.  Of those that end by _exit, a signal or exec of another
 * program it is removed by whichever process makes a page next, before it makes it: it takes
 * a step through the directory (dir_step.h).  So there are at most about as many pages of
 * ended processes as of living ones, and a child's cost does not depend on how many there were.
 *
 * A name map counts the pages that name it.  The count goes up before the page says that it is
 * counted, and down after the page is removed: whoever is killed in between leaves it too
 * high, and the map stays until a whole look at the directory (directory/reap.h).  A process
 * that is about to make its page is counted meanwhile, so that its map does not go with the
 * page of its parent (process/exec.h).
 */
#ifndef PT_PAGE_PAGE_LEFT_H
#define PT_PAGE_PAGE_LEFT_H

#include "page/page.h"

bool pt_page_is_counted(const struct pt_page *page);
/* The page names that map: counts it, once. */
void pt_page_hold_names(struct pt_page *page, struct pt_names *names);
/* A map that the caller has, and is itself counted for; both may be NULL. */
struct pt_page_names {
    const char *file;
    struct pt_names *names;
};
/* Removes the page of that name, and its map, if not the kept one, where that was its last page. */
void pt_page_remove(int dir, const char *file, const struct pt_page_names *kept);

/* Has that process ended?  Zombies and later processes of the same number are found where
 * *asks allows it: each time one less. */
bool pt_page_process_is_gone(uint32_t pid, uint64_t start, unsigned *asks);
/* "p-<pid>-<start>-<namespace>": the page of a process in that namespace, ours, that has ended.
 * In another namespace the process has another pid, and nothing can be said of it. */
bool pt_page_is_left(const char *file, uint64_t pid_ns, unsigned *asks);

/* One step through the directory of this user. */
void pt_page_sweep_step(const struct pt_page_names *kept);

#endif
