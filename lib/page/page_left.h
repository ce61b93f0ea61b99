/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pages of processes that have ended, and the name maps that only those used.
 *
 * exit() removes a process's page.  If a process ends by _exit, a signal or exec of another
 * program, the next process that makes a page removes it first: it takes a step through the
 * directory (dir_step.h).  So the number of pages of ended processes is at most about that of
 * living ones, and the cost for a child does not depend on the number of processes that have ended.
 *
 * A name map counts the pages that name it.  The count is incremented before the page is marked as
 * counted, and decremented after the page is removed.  A process killed in between leaves the count
 * too high, and the map stays until a scan of the whole directory (directory/reap.h).  A process
 * that is making its page is counted, too, so that its map is not removed with its parent's page
 * (process/exec.h); the map tells if that is its maker, whose count ends with it (names.h).
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
/* Is the file "p-<pid>-<start>-<namespace>" the page of an ended process in our namespace?  In
 * another namespace the process has another pid, and its state is unknown. */
bool pt_page_is_left(const char *file, uint64_t pid_ns, unsigned *asks);

/* One step through the directory, opened just now.  If the step reads all its names, dir->seen has
 * what it has found. */
void pt_page_sweep_step(struct pt_page_dir *dir, const struct pt_page_names *kept);

#endif
