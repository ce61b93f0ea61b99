#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
#
# usage: sysroot.sh ARCHITECTURE FOLDER
#
# Unpacks into FOLDER what building and running the tests needs of Debian's
# ARCHITECTURE (i386, arm64, s390x): the C library, liburcu, check, zlib, zstd, uthash, and
# what they depend on.
#
# apt does the choosing and the fetching, with a state of its own in FOLDER.apt:
# the system's sources and keys are used, its list of architectures and its
# installed packages are neither changed nor looked at, and root is not needed.
# Nothing is installed: the packages' own scripts never run.
set -u
architecture=$1
folder=$2
packages=(libc6-dev linux-libc-dev liburcu-dev check zlib1g-dev libzstd-dev uthash-dev)
state=$folder.apt

die() {
    printf 'sysroot.sh: %s: %s\n' "$architecture" "$*" >&2
    exit 1
}

[ ! -e "$folder/complete" ] || exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    die "needs apt-get and dpkg-deb, which are not here"
mkdir -p "$folder" "$state/lists/partial" "$state/archives/partial" || exit 1
: >"$state/status"
options=(
    -q -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
    -o "Dir::State=$state" -o "Dir::State::status=$state/status"
    -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state"
    -o "Dir::Cache::Archives=$state/archives" -o APT::Sandbox::User=root
    -o Debug::NoLocking=true
)
# An index that a mirror has just replaced is a failure here and no loss: what
# counts is whether the packages can be had.
apt-get "${options[@]}" update >"$state/log" 2>&1
apt-get "${options[@]}" install --yes --download-only --no-install-recommends \
    "${packages[@]}" >>"$state/log" 2>&1 ||
    die "cannot fetch ${packages[*]}: $(grep '^E:' "$state/log" | head -n 1) (see $state/log)"
for package in "$state"/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder" || die "cannot unpack $package into $folder"
done
: >"$folder/complete"
