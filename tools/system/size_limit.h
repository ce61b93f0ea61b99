/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A write beyond the limit of file sizes (RLIMIT_FSIZE) is an error, as one to a full disk is,
 * instead of the end of the program by SIGXFSZ with its temporary files left. */
#ifndef SIZE_LIMIT_H
#define SIZE_LIMIT_H

void size_limit_is_error(void);
/* As it was before; for a program that is executed. */
void size_limit_restore(void);

#endif
