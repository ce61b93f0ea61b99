/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The per-user directory of segments, process pages and name maps:
 * $POSIXTRACE_DIR, else /dev/shm/posixtrace-<uid>, else
 * $XDG_RUNTIME_DIR/posixtrace.  It must be a real directory, mode 0700, owned by
 * the user.  Without one, callers fall back to a memfd.  It stays the same when the program changes
 * its working directory (place.h).
 *
 * A set-id program (AT_SECURE) uses no directory: the user that started it could put files there
 * that control it, and read the files that it writes.
 *
 * Root works in the directory of the user whose process it traces.  A function that takes a
 * uid means the directory of that user: files that it makes belong to that user, and it
 * accepts files of no other.
 *
 * Files in the directory are input that is not trusted.  Every reader opens them with
 * O_NOFOLLOW and O_NONBLOCK (open() of a FIFO would wait for a writer), and checks kind, owner
 * and size.
 */
#ifndef PT_PLACE_DIR_H
#define PT_PLACE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The file with the losses of removed streams: consumer/tombstone.h. */
#define PT_DIR_LOST_FILE "lost"

/* A descriptor of the directory (close it), or a negative errno.  create: make it if missing. */
int pt_dir_open(bool create);
int pt_dir_open_of(uid_t uid, bool create);

/* The directory, opened once for several of its files.  Of one thread. */
struct pt_dir {
    int fd; /* or a negative errno */
    uid_t uid;
    uid_t maker;   /* the effective user id of the caller */
    uint64_t most; /* bytes that a new file may have; 0: not asked yet */
    struct pt_dir_seen {
        bool is_new; /* made just now */
        off_t size;
    } seen;
    unsigned ids; /* that are left */
    uint8_t id[2][16];
};
void pt_dir_begin(struct pt_dir *dir, uid_t uid, uid_t maker, bool create);
void pt_dir_end(struct pt_dir *dir);
/* Random bytes for the name of a file. */
void pt_dir_id(struct pt_dir *dir, uint8_t id[16]);

/* Is it the directory that was opened last, or a file on the same device? */
bool pt_dir_is_latest(const struct stat *st);
/* Its path, as pt_dir_open would choose it; at most size bytes. */
void pt_dir_path(char *to, size_t size);
/* The same, and which of the candidates it is (values as enum posixtrace_directory_choice); 0, or
 * why it cannot be used in its present state. */
enum pt_dir_choice { PT_DIR_VARIABLE, PT_DIR_SHM, PT_DIR_RUNTIME };
int pt_dir_look(char *to, size_t size, enum pt_dir_choice *choice);

/*
 * A new file of that name in the directory, or a memfd where there is no
 * usable directory or it has no room: size bytes long, reserve of them backed
 * by memory.  *named tells which.  A descriptor, or a negative errno.
 * -EMFILE, -ENFILE: there is none now; other processes would not find a memfd.
 * -EFBIG: RLIMIT_FSIZE forbids a file of that size; asking the kernel would
 * bring SIGXFSZ.  Shared anonymous memory (pt_dir_map) is not a file.
 */
int pt_dir_new_file(uid_t uid, const char *name, uint64_t size, uint64_t reserve, bool *named);
int pt_dir_new_file_in(struct pt_dir *dir, const char *name, uint64_t size, uint64_t reserve,
                       bool *named);
/* Maps fd shared, or shared anonymous memory if fd is -EFBIG; NULL and *error. */
void *pt_dir_map(int fd, uint64_t size, int protection, int *error);
/* The same, from that byte of the file, in place of the pages that are mapped there. */
void *pt_dir_map_at(void *at, int fd, uint64_t from, uint64_t size, int protection, int *error);
void pt_dir_remove(uid_t uid, const char *name);
/* Gives the file a second, final name and removes the first.  -EEXIST: there is such a file; only
 * the first name is removed. */
int pt_dir_publish(const struct pt_dir *dir, const char *name, const char *final_name);
/* Is name, found in a shared file, that of a file in the directory itself? */
bool pt_dir_is_plain(const char *name, size_t size);

/* "s-" + hex of id + ".seg" and the like; size >= 40 */
void pt_dir_hex_name(char *to, size_t size, char prefix, const uint8_t id[16], const char *suffix);

#endif
