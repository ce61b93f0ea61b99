/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A program that records through all three interfaces, for needed.py; it is not run. */
#include <posixtrace/qnx.h>
#include <posixtrace/rkh.h>
#include <posixtrace/shark.h>

int main(void)
{
    struct posixtrace_rkh_user user;

    posixtrace_shark_log(0, 0, 0);
    if (posixtrace_rkh_user_begin(&user, 0))
        posixtrace_rkh_user_end(&user);
    return posixtrace_qnx_logi(1, 2, 3) ? 1 : 0;
}
