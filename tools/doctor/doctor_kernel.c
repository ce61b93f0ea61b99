/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Features of the kernel, and refusals by a filter of system calls, each tried in a child; the
 * clock.  The trial judges the membarrier, because the library's own result counts.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/environment.h>
#include <posixtrace/info.h>

#include "system/child.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 65536 }; /* a multiple of every page size in use */

static int advise(int advice)
{
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED || madvise(p, PAGE, advice) < 0 ? errno : 0;
}

static int try_wipe(void *unused)
{
    (void)unused;
    return advise(MADV_WIPEONFORK);
}

static int try_populate(void *unused)
{
    (void)unused;
    return advise(MADV_POPULATE_WRITE);
}

/* A range that holds no descriptor: nothing is closed. */
static int try_close_range(void *unused)
{
    (void)unused;
    return syscall(SYS_close_range, ~0u, ~0u, CLOSE_RANGE_UNSHARE) < 0 ? errno : 0;
}

static int try_memfd(void *unused)
{
    (void)unused;
    return memfd_create("posixtrace-doctor", MFD_CLOEXEC) < 0 ? errno : 0;
}

static const struct offer {
    const char *what;
    int (*body)(void *);
    const char *means, *remedy;
} offers[] = {
    { "MADV_WIPEONFORK", try_wipe,
      "a child made by _Fork() or clone() is taken for its parent: do not trace in one",
      "Linux 4.14 or later, or allow it in the filter of system calls" },
    { "MADV_POPULATE_WRITE", try_populate,
      "new memory is touched page by page instead: a thread's first events, and the growth of a "
      "stream, are slower",
      "Linux 5.14 or later" },
    { "close_range", try_close_range,
      "a new log's thread closes each possible descriptor by itself: making a stream with a log "
      "takes longer",
      "Linux 5.9 or later, or allow it in the filter of system calls" },
    { "memfd_create", try_memfd,
      "where the stream directory fails there is nothing to fall back to",
      "allow it in the filter of system calls" },
};

static void judge_offer(const struct offer *o)
{
    int result = child_run(o->body, NULL);

    if (result == 0) {
        doctor_add(FINE, o->what, "works");
        return;
    }
    if (result < 0) {
        doctor_add(FINE, o->what, "not tried: %s", child_text(result));
        return;
    }
    doctor_add(NOTE, o->what, "%s", child_text(result));
    doctor_means("%s", o->means);
    doctor_remedy("%s", o->remedy);
}

/* The value of a line "NAME:\tvalue" of /proc/self/status. */
static int process_status(const char *name)
{
    FILE *f = fopen("/proc/self/status", "re");
    size_t length = strlen(name);
    char line[256];
    int value = -1;

    while (f && value < 0 && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, length) == 0 && line[length] == ':' &&
            sscanf(line + length + 1, "%d", &value) != 1)
            break;
    }
    if (f)
        fclose(f);
    return value;
}

static void judge_seccomp(void)
{
    switch (process_status("Seccomp")) {
    case 0: doctor_add(FINE, "seccomp", "no filter of system calls"); break;
    case 2:
        doctor_add(FINE, "seccomp",
                   "a filter of system calls is in force; what it refuses is "
                   "the trial and the calls below show it");
        break;
    default: doctor_add(FINE, "seccomp", "not known"); break;
    }
}

/* The option huge= of the file system that path is on; false: it has none. */
static bool mount_huge(const char *path, char *to, size_t size)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    bool found = false;
    struct stat st;
    char line[1024];

    while (f && !found && stat(path, &st) == 0 && fgets(line, sizeof line, f)) {
        unsigned major_number, minor_number;
        const char *option = strstr(line, "huge=");

        if (sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) != 2 || !option ||
            major(st.st_dev) != major_number || minor(st.st_dev) != minor_number)
            continue;
        snprintf(to, size, "%.*s", (int)strcspn(option + 5, ",\n "), option + 5);
        found = true;
    }
    if (f)
        fclose(f);
    return found;
}

/* The word in brackets of the kernel's setting; "" where it has none. */
static void kernel_huge(char *to, size_t size)
{
    char line[200];
    char *open_bracket = NULL;

    to[0] = '\0';
    if (doctor_read_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled", line, sizeof line))
        open_bracket = strchr(line, '[');
    if (open_bracket)
        snprintf(to, size, "%.*s", (int)strcspn(open_bracket + 1, "]"), open_bracket + 1);
}

/* "deny" and "force" go before the option of the mount. */
static void judge_huge_pages(void)
{
    char setting[32], option[32] = "never";
    struct posixtrace_environment e;

    posixtrace_get_environment(&e, sizeof e);
    kernel_huge(setting, sizeof setting);
    mount_huge(e.directory, option, sizeof option);
    if (strcmp(setting, "force") != 0 &&
        (strcmp(setting, "deny") == 0 || strcmp(option, "always") != 0)) {
        doctor_add(FINE, "huge pages", "%s for the stream directory", option);
        return;
    }
    doctor_add(NOTE, "huge pages", "always for the stream directory");
    doctor_means("each stream takes a multiple of a huge page, 2 MiB or more, however small it is");
    if (strcmp(setting, "force") == 0)
        doctor_remedy("echo never > /sys/kernel/mm/transparent_hugepage/shmem_enabled");
    else
        doctor_remedy("mount -o remount,huge=never, for the file system of the stream directory");
}

/* An event as 'record --system=switches' needs it, with the smallest of rings. */
static int try_perf(void *unused)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_event_attr attr;
    int fd;

    (void)unused;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.context_switch = 1;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    return mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? errno
                                                                                         : 0;
}

static void tell_perf(void)
{
    int result = child_run(try_perf, NULL);
    char setting[32] = "not known";

    doctor_read_line("/proc/sys/kernel/perf_event_paranoid", setting, sizeof setting);
    if (result <= 0) {
        doctor_add(FINE, "perf events", "perf_event_paranoid is %s; %s%s", setting,
                   result == 0 ? "context switches can be recorded" : "not tried: ",
                   result == 0 ? "" : child_text(result));
        return;
    }
    doctor_add(NOTE, "perf events", "refused: %s (perf_event_paranoid is %s)", child_text(result),
               setting);
    doctor_means("streams do not record the context switches of threads, but for how long those "
                 "ran: metrics that leave out the time without a processor are bounds");
    if ((result == EACCES || result == EPERM) && atoi(setting) > 2)
        doctor_remedy("as root: sysctl kernel.perf_event_paranoid=2");
    else
        doctor_remedy("allow perf_event_open() in the filter of system calls, for a container "
                      "--cap-add=PERFMON or a seccomp profile; or a kernel with perf events");
}

void doctor_kernel(void)
{
    judge_seccomp();
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++)
        judge_offer(&offers[i]);
    judge_huge_pages();
    tell_perf();
}

void doctor_clock(void)
{
    char source[64] = "not known";
    struct posixtrace_environment e;

    posixtrace_get_environment(&e, sizeof e);
    doctor_read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                     sizeof source);
    switch (e.clock_choice) {
    case POSIXTRACE_CLOCK_CHOICE_TRUSTED:
        doctor_add(FINE, "clock", "time stamp counter: invariant, and used by the kernel");
        return;
    case POSIXTRACE_CLOCK_CHOICE_WISHED:
        doctor_add(NOTE, "clock", "CLOCK_MONOTONIC, as POSIXTRACE_CLOCK says");
        break;
    case POSIXTRACE_CLOCK_CHOICE_KERNEL_AVOIDS:
        doctor_add(NOTE, "clock", "CLOCK_MONOTONIC, as the kernel uses the clock source %s",
                   source);
        break;
    default:
        doctor_add(NOTE, "clock",
                   "CLOCK_MONOTONIC, as the processor has no invariant time stamp "
                   "counter; the kernel uses %s",
                   source);
        break;
    }
    doctor_means("an event costs more by one clock_gettime(), 20 ns where the vDSO answers it, and "
                 "ten times that where it does not");
    if (e.clock_choice == POSIXTRACE_CLOCK_CHOICE_WISHED)
        doctor_remedy("leave POSIXTRACE_CLOCK unset");
    else if (e.clock_choice == POSIXTRACE_CLOCK_CHOICE_KERNEL_AVOIDS)
        doctor_remedy("see dmesg for why; on a virtual machine that has a stable counter: the "
                      "kernel parameter clocksource=tsc");
}
