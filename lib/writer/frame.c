/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See frame.h.  Stacks grow down: a frame that still exists is above the current one if both are on
 * the same stack.  If they are on different stacks, sigaltstack() tells which of the two is the
 * current one; a frame on the alternate stack has ended when the thread is not on it.  In doubt a
 * frame counts as alive: then the event is written at the next level, and the next event checks
 * again.
 *
 * In a handler on an alternate stack with SS_AUTODISARM, and after siglongjmp() out of such a
 * handler, sigaltstack() reports no stack.  An address beyond the upper end of the thread's own
 * stack is on an alternate one.  An alternate stack below the own one makes no difference: a frame
 * that its handler has interrupted is above.  One inside the own stack, such as an array of main(),
 * is above the frames that its handler interrupts, which would seem to have ended.  The kernel has
 * stored the stack's range in the handler's context (uc_stack), and the context is on that stack
 * between the current frame and the stack's end.  So an event that finds a frame below its own
 * searches the context there.  If the kernel refuses process_vm_readv(), such a frame counts as
 * ended: siglongjmp() out of a handler is much more frequent than a disarmed stack inside the
 * thread's own.  On 32-bit x86 a handler without SA_SIGINFO has no such context.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/sys.h"
#include "writer/frame.h"

#if !defined SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif
#define PIECE 1024u      /* bytes, on the stack of a handler */
#define REACH (1u << 20) /* bytes of a handler's frames: beyond that its context is not found */

/* Copies by a system call, because the address may not be mapped, or the memory not initialised. */
static bool copy_stack(uintptr_t *to, uintptr_t from, size_t bytes)
{
    struct iovec here = { to, bytes }, there = { (void *)from, bytes };

    return syscall(SYS_process_vm_readv, (long)pt_sys_pid(), &here, 1L, &there, 1L, 0L) ==
           (long)bytes;
}

/* How a handler's context begins, ucontext_t, as the kernel writes it: uc_flags are few low bits,
 * uc_link is NULL. */
struct context {
    unsigned long flags;
    void *link;
    stack_t stack;
};

/* Is c the context of a handler on a disarmed stack that contains both c and the frame at now?  Any
 * words may be between the two, so each member must fit. */
static bool is_context(const struct context *c, uintptr_t at, uintptr_t now, uintptr_t top)
{
    uintptr_t low = (uintptr_t)c->stack.ss_sp, size = c->stack.ss_size;

    return c->flags < 256 && !c->link && low &&
           ((unsigned)c->stack.ss_flags & ~(unsigned)SS_ONSTACK) == (unsigned)SS_AUTODISARM &&
           low < top && size <= top - low && now - low < size && at - low < size;
}

/* Sets *ss to the disarmed alternate stack inside the thread's own on which now is, if it is. */
static void find_disarmed(stack_t *ss, uintptr_t now, uintptr_t top)
{
    const size_t words = sizeof(struct context) / sizeof(uintptr_t);
    const size_t count = PIECE / sizeof(uintptr_t);
    uintptr_t piece[PIECE / sizeof(uintptr_t)], end = top - now < REACH ? top : now + REACH;

    for (uintptr_t at = now; end - at > sizeof(struct context);
         at += PIECE - sizeof(struct context)) {
        size_t n = end - at < PIECE ? (end - at) / sizeof(uintptr_t) : count;

        if (!copy_stack(piece, at, n * sizeof(uintptr_t)))
            return;
        for (size_t i = 0; i + words <= n; i++) {
            struct context found;

            __builtin_memcpy(&found, &piece[i], sizeof found);
            if (is_context(&found, at + i * sizeof(uintptr_t), now, top)) {
                *ss = (stack_t){ .ss_sp = found.stack.ss_sp,
                                 .ss_size = found.stack.ss_size,
                                 .ss_flags = SS_ONSTACK };
                return;
            }
        }
        if (n < count)
            return;
    }
}

static bool frame_is_dead(uintptr_t saved, uintptr_t now, const stack_t *ss, uintptr_t top)
{
    uintptr_t low = (uintptr_t)ss->ss_sp, size = ss->ss_size;
    bool known = !(ss->ss_flags & SS_DISABLE);
    bool saved_alt = known ? saved - low < size : saved >= top;
    bool now_alt = known ? (ss->ss_flags & SS_ONSTACK) != 0 : now >= top;

    if (saved_alt != now_alt)
        return saved_alt;
    return saved <= now;
}

uint64_t pt_frame_living_word(const struct pt_thread *t, uint64_t word, uintptr_t now)
{
    stack_t ss = { .ss_flags = SS_DISABLE };
    int saved_errno = errno;
    bool searched = false;

    sigaltstack(NULL, &ss);
    while (word & PT_THREAD_LEVEL) {
        uintptr_t saved = (uintptr_t)word & ~(uintptr_t)15;
        unsigned below = (unsigned)(word & PT_THREAD_LEVEL) - 1;

        if (!searched && (ss.ss_flags & SS_DISABLE) && saved <= now && now < t->stack_top) {
            find_disarmed(&ss, now, t->stack_top);
            searched = true;
        }
        if (!frame_is_dead(saved, now, &ss, t->stack_top))
            break;
        word = below ? t->outer[below] : PT_THREAD_IDLE;
    }
    errno = saved_errno;
    return word;
}
