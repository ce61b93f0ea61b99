/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A writer that continues a log which a reader has read; for recovery. */
#ifndef PT_LOG_WRITER_RESUME_H
#define PT_LOG_WRITER_RESUME_H

#include "log/reader/reader.h"
#include "log/writer/output.h"
#include "log/writer/writer.h"

int pt_log_writer_resume(struct pt_log_writer **writer, int fd, struct pt_log_reader *r,
                         const struct pt_output_gate *gate);

/*
 * The same for a writer that writes nothing and computes the length that the file will reach.
 * The writer that is resumed after it makes the file that long before it overwrites packets in
 * the ring of a LOOP log.  So a full disk, a quota or a file size limit fails before the log
 * has lost anything.
 */
int pt_log_writer_rehearse(struct pt_log_writer **writer, int fd, struct pt_log_reader *r);

uint64_t pt_log_writer_reach(const struct pt_log_writer *w);

int pt_log_writer_extend(struct pt_log_writer *w, uint64_t size);

#endif
