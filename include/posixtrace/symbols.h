/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Addresses in events as functions, lines and variables: by the mappings of the processes that a
 * stream has (posixtrace/mapping.h), and the files of these mappings.
 *
 * A file is used if it has the build id of the mapping, and belongs to root or to the user: the
 * one at the path of the mapping, and one with its debug information,
 * /usr/lib/debug/.build-id/NN/REST.debug.  With a folder DIR for files of another machine also
 * DIR/.build-id/NN/REST.debug, DIR/PATH and DIR/NAME, of any owner.  Nothing is asked of the
 * network.  Without a file, and in a build without libdw, an address is an offset in its file; so
 * it is where the file has no build id.
 *
 * Link with -lposixtrace-analysis.  Symbols belong to one thread at a time: thread-safe for
 * different ones.  Nothing here is async-signal-safe.  Functions of type int return 0 or an error
 * number.
 */
#ifndef POSIXTRACE_SYMBOLS_H
#define POSIXTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct posixtrace_symbols posixtrace_symbols_t;

/* debug_dir: the folder of files of another machine, or NULL.  ENOMEM, EINVAL. */
int posixtrace_symbols_create(const char *debug_dir, posixtrace_symbols_t **symbols);
void posixtrace_symbols_free(posixtrace_symbols_t *symbols); /* or NULL */

/* Reads the mappings of a stream that were not read before, all of the same stream.  Costs next to
 * nothing where there are none.  EINVAL: NULL, or trid is not a stream; ENOMEM. */
int posixtrace_symbols_update(posixtrace_symbols_t *symbols, trace_id_t trid);
/* The same of one text of posixtrace_mapping_text() and its number.  EINVAL: it has another form,
 * or there are too many; its parts before that are used. */
int posixtrace_symbols_add(posixtrace_symbols_t *symbols, uint32_t number, const char *text);

enum posixtrace_address {
    POSIXTRACE_ADDRESS_RETURN, /* after a call: it stands for the call */
    POSIXTRACE_ADDRESS_CODE,   /* of an instruction */
    POSIXTRACE_ADDRESS_DATA    /* of a variable */
};

/* Texts are those of the file, and belong to the symbols: any bytes but NUL. */
struct posixtrace_symbol {
    /* Of the function or variable; that of C++ as in its source, where libstdc++ was there when the
     * library was built, others with their version after '@'.  NULL: unknown. */
    const char *name;
    uint64_t in_name;   /* bytes after its start */
    const char *source; /* file of the source; NULL: unknown, or a variable */
    int line;           /* 0: unknown */
    const char *path;   /* of the program or library */
    uint64_t in_path;   /* bytes after its first byte in memory */
};

/*
 * Finds the function or variable at an address of a process at a time, in ns since 1970.  False:
 * nothing is known of it, and *symbol is not changed.  A call in an inlined function has the name
 * of the function that contains it, and the line in the inlined one.
 */
bool posixtrace_symbols_find(posixtrace_symbols_t *symbols, pid_t pid, int64_t ns, uint64_t address,
                             enum posixtrace_address kind, struct posixtrace_symbol *symbol,
                             size_t size);

/*
 * The same as a text, cut to size bytes with its NUL: "function (file.c:12)", "function+0x1c
 * (libfoo.so.1)" without a line, "libfoo.so.1+0x1234" without a function; "variable",
 * "variable+0x8", "libfoo.so.1+0x1234" of data.  Characters that are not printable ASCII are '?'.
 * Returns its length; 0: nothing is known of the address, and the text is "".
 */
size_t posixtrace_symbols_text(posixtrace_symbols_t *symbols, pid_t pid, int64_t ns,
                               uint64_t address, enum posixtrace_address kind, char *text,
                               size_t size);

/* Is the library built with libdw, so that it finds names and lines?  Constant. */
bool posixtrace_symbols_have_names(void);

#ifdef __cplusplus
}
#endif
#endif
