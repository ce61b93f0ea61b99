/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The two directions of the format shark. */
#ifndef PT_FORMAT_SHARK_FORMAT_H
#define PT_FORMAT_SHARK_FORMAT_H

struct pt_job;
int pt_shark_read(struct pt_job *job);
int pt_shark_write(struct pt_job *job);

#endif
