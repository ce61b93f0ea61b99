/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Functions of a program that was compiled with -finstrument-functions (gcc, clang), which calls
 * these two before and after the body of each; the C library has empty ones.  They record where
 * POSIXTRACE_RECORD_FUNCTIONS is set, and are two loads and two tests elsewhere.
 *
 * A function that is left by longjmp() has no exit; C++ exceptions call it.
 */
#include <posixtrace/mapping.h>
#include <stdlib.h>
#include "preload/preload.h"

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static bool wanted;

void preload_functions_begin(void)
{
    const char *text = secure_getenv("POSIXTRACE_RECORD_FUNCTIONS");

    wanted = text && *text;
}

PRELOAD_PUBLIC void __cyg_profile_func_enter(void *function, void *caller)
{
    uint64_t data[] = { (uintptr_t)function, (uintptr_t)caller };

    if (!wanted || preload_quiet_thread)
        return;
    posixtrace_mapping_note(function);
    posixtrace_system_event(POSIXTRACE_FUNCTION_ENTER, data, sizeof data);
}

PRELOAD_PUBLIC void __cyg_profile_func_exit(void *function, void *caller)
{
    uint64_t data = (uintptr_t)function;

    (void)caller;
    if (wanted && !preload_quiet_thread)
        posixtrace_system_event(POSIXTRACE_FUNCTION_EXIT, &data, sizeof data);
}
