/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Doing the slow parts of a thread's first event ahead of time. */
#ifndef PT_WRITER_PREPARE_H
#define PT_WRITER_PREPARE_H

/* The calling thread; 0 or -ENOMEM. */
int pt_prepare(void);

#endif
