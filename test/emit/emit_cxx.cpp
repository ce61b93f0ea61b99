/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The C++ form of posixtrace/emit.h: the same lines, the same events. */
extern "C" {
#include <check.h>
}
#include <string>
#include <string_view>
#include "emit.c"
