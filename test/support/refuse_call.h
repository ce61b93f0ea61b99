/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A filter of system calls, like in a container or an older kernel: from now on a call of this
 * thread, and of its children and programs, fails with an error.  False: there are no filters here
 * (an emulator); the caller has to report that.
 */
#ifndef SUPPORT_REFUSE_CALL_H
#define SUPPORT_REFUSE_CALL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

enum { REFUSE_ANY = -1 };

/* Only if its third argument is that, of 32 bits, or REFUSE_ANY.  action: SECCOMP_RET_* */
static inline bool filter_call(int call, int64_t third, unsigned action)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    enum { LOW = 0 };
#else
    enum { LOW = 4 };
#endif
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, third == REFUSE_ANY ? 1 : 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + LOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)third, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof program / sizeof program[0], program };

    if (third == REFUSE_ANY) {
        program[2] = program[4];
        program[3] = program[5];
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static inline bool refuse_call_with(int call, int64_t third, int error)
{
    return filter_call(call, third, SECCOMP_RET_ERRNO | (unsigned)error);
}

static inline bool refuse_call(int call, int error)
{
    return refuse_call_with(call, REFUSE_ANY, error);
}

#endif
