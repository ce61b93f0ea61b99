/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The variables that make programs record themselves, as the library reads them.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <posixtrace/environment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

static const char *reason(int error, const char *fault)
{
    if (*fault)
        return fault;
    switch (error) {
    case EEXIST: return "there is something of that name that is not a file for a log";
    default: return strerror(error);
    }
}

/* The library leaves it where the log's folder takes no file (lib/startup/self_record_error.h). */
static void last_note(void)
{
    struct posixtrace_environment e;
    char *path, line[2048] = "";
    FILE *f;

    if (posixtrace_get_environment(&e, sizeof e) != 0 || e.directory_error ||
        asprintf(&path, "%s/record.error", e.directory) < 0)
        return;
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        line[strcspn(line, "\n")] = '\0';
    if (*line) {
        doctor_add(NOTE, "not recorded",
                   "the last program that could leave no note beside its "
                   "log: %s",
                   unquoted(line));
        doctor_means("it ran without; the file has the notes of all such programs");
        doctor_remedy("remove %s", quote(path));
    }
    if (f)
        fclose(f);
    free(path);
}

void doctor_record(void)
{
    char log[512], fault[512];
    int error;

    last_note();
    if (posixtrace_get_self_record(log, sizeof log, &error) != 0 || !log[0] ||
        posixtrace_get_self_record_fault(fault, sizeof fault) != 0)
        return;
    if (error == 0) {
        doctor_add(FINE, "POSIXTRACE_RECORD", "programs record themselves into %s", quote(log));
        return;
    }
    doctor_add(NOTE, "POSIXTRACE_RECORD", "programs cannot record themselves into %s: %s",
               quote(log), unquoted(reason(error, fault)));
    doctor_means("they run as they would without it; why a program was not recorded is in a file "
                 "whose name is that of the log and .error, or record.error in the directory "
                 "of streams");
    doctor_remedy(
        error == EINVAL
            ? "POSIXTRACE_RECORD_POLICY is flush, loop or until-full; _SIZE and _LOG_SIZE "
              "are as 65536, 64K or 1M; _FILTER is what posixtrace record --where takes, "
              "with commas between; _SYSTEM is calls, switches or all"
            : "name a log in a directory that can be written in");
}
