/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Bytes into the file, and the errors of that; see file.h. */
#include <errno.h>
#include "analysis/format/parquet/file.h"

int pt_parquet_file_no_memory(struct pt_parquet_file *f)
{
    return pt_job_fail(f->job, ENOMEM, "no memory");
}

int pt_parquet_file_write(struct pt_parquet_file *f, const void *at, size_t size)
{
    errno = 0;
    f->at += size;
    return fwrite_unlocked(at, 1, size, f->to) == size ? 0 : pt_job_fail_file(f->job);
}

int pt_parquet_file_put(struct pt_parquet_file *f, const struct pt_bytes *bytes)
{
    if (bytes->failed)
        return pt_parquet_file_no_memory(f);
    return bytes->used ? pt_parquet_file_write(f, bytes->at, bytes->used) : 0;
}
