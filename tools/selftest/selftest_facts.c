/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Facts about the machine for readers of the report.
 */
#include "selftest/selftest.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <posixtrace/environment.h>
#include <posixtrace/info.h>

#include "common/units.h"
#include "system/place.h"
#include "common/tool.h"

/* The first "model name" of /proc/cpuinfo; x86 has it, others may not. */
static void processor_model(char *to, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];

    snprintf(to, size, "model not known");
    while (f && fgets(line, sizeof line, f)) {
        char *value = strstr(line, ": ");

        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(to, size, "%s", value + 2);
        break;
    }
    if (f)
        fclose(f);
}

static void tell_processor(void)
{
    char model[256];
    cpu_set_t set;

    processor_model(model, sizeof model);
    report_fact("processor", "%s; %d of %ld usable", model,
                sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0,
                sysconf(_SC_NPROCESSORS_ONLN));
}

static void tell_huge_pages(char *to, size_t size)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "re");
    char line[128] = "", *bracket;

    if (f && !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        fclose(f);
    bracket = strchr(line, '[');
    snprintf(to, size, "%.*s", bracket ? (int)strcspn(bracket + 1, "]") : 7,
             bracket ? bracket + 1 : "unknown");
}

static void tell_place(const char *what, const char *path)
{
    struct file_system p;

    if (place_look(path, &p))
        report_fact(what, "%s, %s, %s free", quote(path), p.type, units_bytes(p.space));
    else
        report_fact(what, "%s", quote(path));
}

void selftest_facts(const struct selftest *t)
{
    struct posixtrace_environment e;
    struct utsname u;
    char huge[32];
    double load;

    posixtrace_get_environment(&e, sizeof e);
    tell_huge_pages(huge, sizeof huge);
    report_fact("library", "%s; this tool %s", e.version, POSIXTRACE_VERSION);
    if (uname(&u) == 0)
        report_fact("kernel", "%s %s, %s", u.sysname, u.release, u.machine);
    tell_processor();
    if (getloadavg(&load, 1) == 1)
        report_fact("load", "%.1f threads wanted to run in the minute before%s", load,
                    load > 0.5 ? ": figures are not what this machine can do" : "");
    report_fact("clock", "%s",
                e.clock == POSIXTRACE_CLOCK_TSC ? "time stamp counter" : "CLOCK_MONOTONIC");
    report_fact("pages", "%s; huge ones for shared memory: %s",
                units_bytes((uint64_t)sysconf(_SC_PAGESIZE)), huge);
    if (t->streams_named)
        tell_place("streams", t->streams.path);
    else
        report_fact("streams", "in memory without a name: %s cannot be used", quote(e.directory));
    tell_place("logs", t->folder);
}
