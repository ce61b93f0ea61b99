/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * CRC-32C (Castagnoli, reflected), the checksum of log packets: processors
 * compute it, so that checking costs less than copying.  Thread-safe and
 * async-signal-safe.
 */
#ifndef PT_BASE_CRC_H
#define PT_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Continues crc (0 to begin) over bytes: pieces give the same as the whole. */
uint32_t pt_crc32c(uint32_t crc, const void *at, size_t bytes);
/* The same without the processor's help; for the test that compares both. */
uint32_t pt_crc32c_table(uint32_t crc, const void *at, size_t bytes);

#endif
