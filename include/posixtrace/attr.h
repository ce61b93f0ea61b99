/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stream attributes that the standard does not have.
 */
#ifndef POSIXTRACE_ATTR_H
#define POSIXTRACE_ATTR_H

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

enum posixtrace_compression {
    POSIXTRACE_COMPRESSION_NONE,   /* the default */
    POSIXTRACE_COMPRESSION_ZSTD    /* each packet by itself */
};

/*
 * How the events of a log are compressed.  The thread that writes the log does
 * it; tracing threads pay nothing.  A stream without a log ignores it.  The
 * log-max-size counts what is in the file, compressed.  Older versions of this
 * library refuse such a log, as do builds without zstd.
 *
 * EINVAL   attr is no attributes object, compression is no value of the enum,
 *          or the result pointer is NULL
 * ENOTSUP  (set) the library was built without zstd
 */
int posixtrace_attr_setcompression(trace_attr_t *attr, int compression);
int posixtrace_attr_getcompression(const trace_attr_t *attr, int *compression);

#ifdef __cplusplus
}
#endif
#endif
