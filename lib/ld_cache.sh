#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# ld_cache.sh LIBDIR, at the end of 'meson install' (not with DESTDIR): lets ld.so learn of
# libraries that were installed into one of its folders.  For any other folder, and for
# a user who may not write the cache, README says what a program needs.

export PATH="$PATH:/usr/sbin:/sbin"
[ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null || exit 0
real=$(cd "$1" && pwd -P) || exit 0
for folder in $(ldconfig -v -N -X 2>/dev/null | sed -n 's/^\(\/[^:]*\):.*/\1/p'); do
    if [ "$(cd "$folder" 2>/dev/null && pwd -P)" = "$real" ]; then
        ldconfig || echo "ldconfig: the cache of libraries is as it was; run 'ldconfig'"
        exit 0
    fi
done
