/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Names of C++ as its source has them.
 */
#ifndef PT_SYMBOLS_DEMANGLE_H
#define PT_SYMBOLS_DEMANGLE_H

/* "cache::evict(int)" for "_ZN5cache5evictEi", also with "@VERSION" after it, which is left out; to
 * be freed.  NULL: it is no such name, or the library is built without libstdc++. */
char *pt_demangle(const char *name);

#endif
