/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The files of a folder: TABLE/LOG.parquet, or with partitions by host and date, as Hive has them,
 * TABLE/host=HOST/date=DATE/LOG.parquet.  LOG is the id of the log, and the number of its piece.
 */
#ifndef PT_PARQUET_FOLDER_H
#define PT_PARQUET_FOLDER_H

#include "analysis/format/parquet/table.h"

/* Makes the folders and the file; NULL: job->error.  date: days since 1970. */
FILE *pt_parquet_folder_open(struct pt_job *job, const struct pt_parquet_options *o, bool hive,
                             unsigned table, int64_t date);
/* 0 or job->error; file may be NULL. */
int pt_parquet_folder_close(struct pt_job *job, FILE *file);
/* The date of a time, in days since 1970. */
int64_t pt_parquet_folder_date(int64_t ns);

#endif
