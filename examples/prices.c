/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Prints the field "price" of all events of a log that have it.  posixtrace_event_field(3)
 * shows the same; a test compares the two. */
#include <posixtrace/log.h>
#include <posixtrace/typed.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct posixtrace_event e;
    struct posixtrace_field_value v;
    trace_id_t trid;
    int end = 0, error;

    if (argc != 2)
        return 2;
    error = posixtrace_open_path(argv[1], &trid);
    if (error) {
        fprintf(stderr, "%s: %s\n", argv[1], posixtrace_error_text(error));
        return 1;
    }
    while (!error && !end) {
        error = posixtrace_next_event(trid, &e, sizeof e, &end);
        if (error || end)
            break;
        if (posixtrace_event_field(trid, &e, "price", &v, sizeof v) == 0)
            printf("%s %g\n", e.name, v.number);
    }
    posix_trace_close(trid);
    if (error)
        fprintf(stderr, "%s: %s\n", argv[1], posixtrace_error_text(error));
    return error != 0;
}
