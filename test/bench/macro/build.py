# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The posixtrace authors
"""The programs of the macro benchmark: Debian's source packages with the trace points of points.h,
each built three times: without points, for posixtrace and for LTTng-UST.

A folder of builds has src/ (sources as they are), and PROGRAM-VARIANT/.
"""

import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = ("memcached", "redis", "leveldb")
VARIANTS = ("untraced", "posixtrace", "lttng")
SOURCES = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " \
          "http://deb.debian.org/debian bookworm main\n"
LEVELDB_DEFINES = ("-DLEVELDB_PLATFORM_POSIX=1", "-DHAVE_FDATASYNC=1", "-DHAVE_O_CLOEXEC=1",
                     "-DHAVE_CRC32C=0", "-DHAVE_SNAPPY=0", "-DHAVE_FULLFSYNC=0")


def run(*command, cwd=None, log=None):
    """Runs a command whose output goes to the file log; a failure shows its last lines."""
    with open(log, "a", encoding="utf-8") as out:
        done = subprocess.run(list(map(str, command)), cwd=cwd, stdout=out, stderr=out, check=False)
    if done.returncode:
        tail = "".join(pathlib.Path(log).read_text(errors="replace").splitlines(True)[-15:])
        raise SystemExit(f"{command[0]} failed in {cwd}, see {log}:\n{tail}")


def fetch(folder):
    """The source packages, by an apt of their own: the machine's list of sources stays as it is."""
    src = folder / "src"
    if all(list(src.glob(f"{p}-*/")) for p in PROGRAMS):
        return
    (src / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (src / "sources.list").write_text(SOURCES)
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={src}/sources.list",
           "-o", "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::State::Lists={src}/lists"]
    run(*apt, "update", cwd=src, log=src / "log")
    run(*apt, "source", "--download-only", *PROGRAMS, cwd=src, log=src / "log")
    for archive in src.glob("*.orig.tar.*"):
        run("tar", "xf", archive, cwd=src, log=src / "log")


def flags(variant, build):
    """Flags of the compiler and of the linker."""
    compiler = ["-O2", "-g", f"-I{HERE}"]
    if variant == "posixtrace":
        return (compiler + ["-DMACRO_POSIXTRACE", f"-I{ROOT}/include"],
                [f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-Wl,--no-as-needed", "-lposixtrace"])
    if variant == "lttng":
        return (compiler + ["-DMACRO_LTTNG"],
                [f"{build}/macro-lttng-points.o", "-Wl,--no-as-needed", "-llttng-ust", "-ldl"])
    return compiler, []


def build_memcached(at, compiler, linker, log):
    run("./configure", "--disable-extstore", "--disable-docs", "--disable-coverage",
        f"CFLAGS={' '.join(compiler)}", f"LIBS={' '.join(linker)}", cwd=at, log=log)
    run("make", "-j2", "memcached", cwd=at, log=log)
    return at / "memcached"


def build_redis(at, compiler, linker, log):
    run("make", "-j2", "-C", "src", "redis-server", "MALLOC=libc", "OPTIMIZATION=-O2",
        f"REDIS_CFLAGS={' '.join(compiler)}", f"REDIS_LDFLAGS={' '.join(linker)}", cwd=at, log=log)
    return at / "src" / "redis-server"


def build_leveldb(at, compiler, linker, log):
    files = [f for part in ("db", "table", "util") for f in sorted((at / part).glob("*.cc"))
             if not f.stem.endswith("_test") and f.stem not in ("leveldbutil", "env_windows")]
    files += [at / "helpers/memenv/memenv.cc", at / "benchmarks/db_bench.cc"]
    (at / "include/port").mkdir(exist_ok=True)
    (at / "include/port/port_config.h").write_text("")
    run("g++", "-std=c++14", "-DNDEBUG", "-w", *compiler, *LEVELDB_DEFINES, f"-I{at}",
        f"-I{at}/include", *files, *linker, "-lgtest", "-lpthread", "-o", at / "db_bench",
        cwd=at, log=log)
    return at / "db_bench"


def build_all(folder, build):
    """Makes the builds that are missing; {(program, variant): path of the program}."""
    built = {}
    fetch(folder)
    run("gcc", "-O2", f"-I{HERE}", "-c", HERE / "lttng_points.c", "-o",
        build / "macro-lttng-points.o", cwd=folder, log=folder / "log")
    run("gcc", "-O2", HERE / "load.c", "-o", folder / "load", cwd=folder, log=folder / "log")
    for program in PROGRAMS:
        source = next(p for p in (folder / "src").glob(f"{program}-*") if p.is_dir())
        for variant in VARIANTS:
            at = folder / f"{program}-{variant}"
            mark = at / ".path"
            if not mark.exists():
                print(f"building {program}, {variant}", flush=True)
                shutil.rmtree(at, ignore_errors=True)
                shutil.copytree(source, at, symlinks=True)
                run("patch", "-p1", "-i", HERE / f"{program}.patch", cwd=at, log=folder / "log")
                path = globals()[f"build_{program}"](at, *flags(variant, build), folder / "log")
                mark.write_text(os.fspath(path))
            built[program, variant] = pathlib.Path(mark.read_text())
    return built
