/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Is a segment among the mappings of a process?  The text is that of /proc/PID/maps:
 *
 *     7f0c2e000000-7f0c2e400000 rw-s 00000000 00:1b 4711      /dev/shm/posixtrace-0/s-0f3a.seg
 *
 * The device is that of the file system as a whole.  stat() has another number where each
 * subvolume or layer has one of its own (btrfs, bcachefs, overlayfs), so the device alone proves
 * nothing: a mapping is the segment's if device and inode are the same, or if the file's name is,
 * which is a random number of 128 bits.  The same inode on another device is a question that
 * stays open.
 *
 * Async-signal-safe.
 */
#ifndef PT_SHM_MAPS_H
#define PT_SHM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The state of a search in a text that comes in pieces. */
struct pt_maps {
    dev_t dev;
    ino_t ino;
    char name[40];  /* of the segment's file */
    unsigned field; /* of the line; 5: the path */
    unsigned major, minor;
    bool colon;
    unsigned long long inode;
    int matched; /* characters of the last part of the path; -1: another name */
    bool named;  /* all of them, and " (deleted)" may follow */
    bool found;  /* a line is that of the segment */
    bool alike;  /* a line has its inode on another device */
};

/* dev and ino as from stat(); id: of the segment. */
void pt_maps_begin(struct pt_maps *m, dev_t dev, ino_t ino, const uint8_t id[16]);
/* The next piece; true: it is found. */
bool pt_maps_take(struct pt_maps *m, const char *text, size_t bytes);

/* -1: it is none of the kernel's. */
static inline int pt_maps_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
