/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The names of system events: the tool's are the library's, but for those that metrics never
 * get. */
#include <check.h>
#include <string.h>
#include "measure/metrics_names.h"
#include "model/event.h"
#include "support/run_suite.h"

START_TEST(as_the_library)
{
    size_t listed = 0, known = 0;

    for (uint32_t id = 1; id <= POSIX_TRACE_UNNAMED_USEREVENT; id++) {
        const char *name = pt_event_system_name(id);

        if (!name)
            continue;
        ck_assert_msg(metrics_name_is_wrong(name) == (id <= POSIX_TRACE_ERROR), "%s", name);
        known += id > POSIX_TRACE_ERROR;
    }
    while (metrics_system_names()[listed])
        listed++;
    ck_assert_uint_eq(listed, known);
    ck_assert(!metrics_name_is_wrong("begin"));
    ck_assert(metrics_name_is_wrong("posixtrace_mutex_lck"));
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, as_the_library);
}

int main(void)
{
    return run_suite("tools", "names", NULL, add);
}
