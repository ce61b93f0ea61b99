/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/environment.h.  The struct is filled as this version knows it and
 * then handed over in the caller's size, so that either may be the newer one.
 */
#include <errno.h>
#include <string.h>
#include <posixtrace/environment.h>
#include <posixtrace/info.h>
#include "api/guard.h"
#include "base/clock.h"
#include "model/attr.h"
#include "place/dir.h"
#include "startup/self_record.h"

_Static_assert((int)PT_DIR_VARIABLE == POSIXTRACE_DIRECTORY_VARIABLE &&
                   (int)PT_DIR_SHM == POSIXTRACE_DIRECTORY_SHM &&
                   (int)PT_DIR_RUNTIME == POSIXTRACE_DIRECTORY_RUNTIME,
               "directory_choice");
_Static_assert((int)PT_CLOCK_TRUSTED == POSIXTRACE_CLOCK_CHOICE_TRUSTED &&
                   (int)PT_CLOCK_NOT_INVARIANT == POSIXTRACE_CLOCK_CHOICE_NOT_INVARIANT &&
                   (int)PT_CLOCK_KERNEL_AVOIDS == POSIXTRACE_CLOCK_CHOICE_KERNEL_AVOIDS &&
                   (int)PT_CLOCK_WISHED == POSIXTRACE_CLOCK_CHOICE_WISHED,
               "clock_choice");

PT_PUBLIC int posixtrace_get_environment(struct posixtrace_environment *environment, size_t size)
{
    struct posixtrace_environment e;
    enum pt_dir_choice choice;
    int saved = errno, cancel;

    if (!environment || size == 0)
        return EINVAL;
    cancel = pt_cancel_off();
    memset(&e, 0, sizeof e);
    strcpy(e.version, PT_GEN_VERSION);
    e.directory_error = -pt_dir_look(e.directory, sizeof e.directory, &choice);
    e.directory_choice = (int)choice;
    e.clock = pt_clock_choose();
    e.clock_choice = (int)pt_clock_why();
    memset(environment, 0, size);
    memcpy(environment, &e, size < sizeof e ? size : sizeof e);
    pt_cancel_restore(cancel);
    errno = saved;
    return 0;
}

PT_PUBLIC int posixtrace_get_self_record(char *log, size_t size, int *why)
{
    int saved = errno, cancel;

    if (!log || !why || size == 0)
        return EINVAL;
    cancel = pt_cancel_off();
    *why = pt_self_record_look(log, size);
    pt_cancel_restore(cancel);
    errno = saved;
    return 0;
}

PT_PUBLIC int posixtrace_get_self_record_fault(char *fault, size_t size)
{
    if (!fault || size == 0)
        return EINVAL;
    *fault = '\0';
    strncat(fault, pt_self_record_fault(), size - 1);
    return 0;
}
