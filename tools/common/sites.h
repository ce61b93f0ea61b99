/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Addresses in events as functions and lines, or variables, for all verbs that show them: by the
 * mappings in the trace and the files on this machine (posixtrace/symbols.h).
 *
 *   struct sites sites = { 0 };                  options: sites_is_option(), sites_take_option()
 *   sites_open(&sites, trid);
 *   sites_code(&sites, e->pid, e->ns, caller)    "work (app.c:12)"
 *   sites_close(&sites);
 */
#ifndef SITES_H
#define SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace/symbols.h>

enum { SITES_TEXT = 240, SITES_NONE = 800, SITES_DEBUG_DIR };

/* For the options of a verb, and its help. */
#define SITES_OPTIONS                      \
    { "no-symbols", false, SITES_NONE },   \
    {                                      \
        "debug-dir", true, SITES_DEBUG_DIR \
    }
#define SITES_HELP "  --debug-dir=DIR --no-symbols  names at addresses: by files in DIR too; none\n"

struct sites {
    posixtrace_symbols_t *symbols; /* NULL: addresses stay as they are */
    trace_id_t trid;
    const char *debug_dir;
    bool off;
    struct posixtrace_thread_info *threads; /* for sites_thread(), which reads the list once */
    size_t thread_count;
};

static inline bool sites_is_option(int code)
{
    return code == SITES_NONE || code == SITES_DEBUG_DIR;
}

/* The exit status, as of other options. */
int sites_take_option(struct sites *s, int code, const char *value);

/* Does nothing where it is open for that stream. */
void sites_open(struct sites *s, trace_id_t trid);
void sites_close(struct sites *s);

/*
 * The place of a call, by the address to which it returns, or a variable; "0x7f0012345678" where
 * nothing is known.  Printable ASCII only.  One of eight static buffers, reused in turn.
 */
const char *sites_code(struct sites *s, pid_t pid, int64_t ns, uint64_t address);
const char *sites_data(struct sites *s, pid_t pid, int64_t ns, uint64_t address);
/* The object of a metric: small numbers, as descriptors are, in decimal, others as sites_data(). */
const char *sites_object(struct sites *s, pid_t pid, int64_t ns, uint64_t object);

/* The threads of a process that have had that pthread_t, "worker/12 and 3 more", into to, by the
 * thread list of the stream, which was read; the length, 0: there was none. */
size_t sites_thread(struct sites *s, pid_t pid, uint64_t thread_id, char to[SITES_TEXT]);

/* The same into to, "" where nothing is known; the length. */
size_t sites_find(struct sites *s, pid_t pid, int64_t ns, uint64_t address,
                  enum posixtrace_address kind, char to[SITES_TEXT]);

/* The addresses of a POSIXTRACE_STACK, the innermost first: how many; false, its data has another
 * form. */
struct posixtrace_event;
bool sites_stack(const struct posixtrace_event *e, size_t *count);
uint64_t sites_stack_address(const struct posixtrace_event *e, size_t i); /* i below count */

/* What sites_code() says, cut to size bytes only; and what it is made of, false: nothing. */
void sites_text(struct sites *s, pid_t pid, int64_t ns, uint64_t address, char *to, size_t size);
bool sites_symbol(struct sites *s, pid_t pid, int64_t ns, uint64_t address,
                  struct posixtrace_symbol *symbol);

#endif
