/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stacks of calls that have waited: POSIXTRACE_RECORD_STACKS has the number of addresses, at most.
 *
 * The event follows that of the call's end, by the same thread.  The unwinder is that of the
 * compiler (libgcc), by the tables that C++ exceptions and pthread_cancel() use too, since
 * Debian's programs are compiled without frame pointers.  It allocates nothing and, with
 * _dl_find_object() of glibc 2.35, takes no lock but one for code that the program has registered
 * itself; calls by it are not traced.  Its functions are looked up in its library: a program
 * may have others of their names, as those of libunwind, which lock mutexes.  The first call is
 * made by the constructor.  A function without such tables ends the stack.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <posixtrace/mapping.h>
#include <unwind.h>
#include "preload/preload.h"

unsigned preload_frames;

static _Unwind_Reason_Code (*unwind)(_Unwind_Trace_Fn visit, void *context);
static __typeof__(_Unwind_GetIP) *address_of;

struct stack {
    unsigned most, count;
    struct __attribute__((packed)) {
        uint16_t count;
        uint64_t at[POSIXTRACE_STACK_MAX];
    } data;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument)
{
    uintptr_t address = address_of(context);
    struct stack *s = argument;

    if (preload_is_ours((const void *)address))
        return _URC_NO_REASON;
    if (address == 0)
        return _URC_END_OF_STACK;
    posixtrace_mapping_note((const void *)address);
    s->data.at[s->count++] = address;
    return s->count < s->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void preload_stack_now(void)
{
    struct stack s;

    if (!posixtrace_system_wants(POSIXTRACE_STACK, POSIXTRACE_STACK))
        return;
    s.most = preload_frames;
    s.count = 0;
    unwind(take_frame, &s);
    s.data.count = (uint16_t)s.count;
    posixtrace_system_event(POSIXTRACE_STACK, &s.data,
                            sizeof s.data.count + s.count * sizeof s.data.at[0]);
}

static _Unwind_Reason_Code stop(struct _Unwind_Context *context, void *argument)
{
    (void)context;
    (void)argument;
    return _URC_END_OF_STACK;
}

void preload_stacks_begin(void)
{
    const char *text = secure_getenv("POSIXTRACE_RECORD_STACKS");
    void *library;
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;

    if (value <= 0 || *end)
        return;
    library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&unwind = dlsym(library, "_Unwind_Backtrace");
    *(void **)&address_of = dlsym(library, "_Unwind_GetIP");
    if (!unwind || !address_of)
        return;
    unwind(stop, NULL);
    preload_frames = value < POSIXTRACE_STACK_MAX ? (unsigned)value : POSIXTRACE_STACK_MAX;
}
