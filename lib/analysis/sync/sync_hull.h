/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which messages from one clock to another can matter: the convex hull (Duda, Harrus, Haddad and
 * Bernard 1987; Jabbarifar, Dagenais and Shameli-Sendi 2015).  Where both clocks run evenly, a line
 * that keeps the order of the messages at the vertices of the lower hull, over the time of sending,
 * keeps that of all.
 */
#ifndef PT_SYNC_HULL_H
#define PT_SYNC_HULL_H

#include <stddef.h>
#include <stdint.h>

/* A message: sent at a time of one clock, received at one of another. */
struct pt_sync_message {
    int64_t sent, received;
};

/* Sorts by the time of sending. */
void pt_sync_sort(struct pt_sync_message *messages, size_t count);
/* Of sorted messages: moves the vertices of the hull to the front, and returns how many. */
size_t pt_sync_hull(struct pt_sync_message *messages, size_t count);

#endif
