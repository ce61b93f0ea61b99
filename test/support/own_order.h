/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The start of descriptions of data that a test writes as numbers of the machine. */
#ifndef SUPPORT_OWN_ORDER_H
#define SUPPORT_OWN_ORDER_H

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OWN_ORDER "be; "
#else
#define OWN_ORDER ""
#endif

#endif
