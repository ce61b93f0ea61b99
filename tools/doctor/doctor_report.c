/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The findings of doctor, kept and printed; see doctor.h.
 */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { FINDINGS = 48, TEXT = 700, INDENT = 27, INDENT_MORE = 15 };

static struct finding {
    enum level level;
    const char *what;
    char found[TEXT], means[TEXT], remedy[TEXT];
} findings[FINDINGS];
static size_t count;

static const char *const levels[] = { "ok", "note", "BAD" };

void doctor_add(enum level level, const char *what, const char *format, ...)
{
    struct finding *f = &findings[count < FINDINGS ? count++ : FINDINGS - 1];
    va_list args;

    memset(f, 0, sizeof *f);
    f->level = level;
    f->what = what;
    va_start(args, format);
    vsnprintf(f->found, sizeof f->found, format, args);
    va_end(args);
}

void doctor_means(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(findings[count - 1].means, TEXT, format, args);
    va_end(args);
}

void doctor_remedy(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(findings[count - 1].remedy, TEXT, format, args);
    va_end(args);
}

static void print_finding(const struct finding *f)
{
    out_format("%-4s  %-19s  ", levels[f->level], f->what);
    out_wrapped(f->found, INDENT, INDENT);
    if (f->means[0]) {
        out_text("        means  ");
        out_wrapped(f->means, INDENT_MORE, INDENT_MORE);
    }
    if (f->remedy[0]) {
        out_text("        do     ");
        out_wrapped(f->remedy, INDENT_MORE, INDENT_MORE);
    }
}

static size_t how_many(enum level level)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += findings[i].level == level;
    return n;
}

static void print_verdict(void)
{
    size_t bad = how_many(BAD), notes = how_many(NOTE);

    out_format("\nTracing %s here", bad ? "DOES NOT WORK" : "works");
    if (bad + notes == 0)
        out_text("; nothing is missing.\n");
    else
        out_format("; %zu %s above.\n", bad ? bad : notes,
                   bad          ? "BAD"
                   : notes == 1 ? "note"
                                : "notes");
}

static void print_json(void)
{
    json_open(NULL, '{');
    json_open("findings", '[');
    for (size_t i = 0; i < count; i++) {
        const struct finding *f = &findings[i];

        json_open(NULL, '{');
        json_text("level", f->level == BAD ? "bad" : levels[f->level]);
        json_text("what", f->what);
        json_text("found", f->found);
        if (f->means[0])
            json_text("means", f->means);
        if (f->remedy[0])
            json_text("do", f->remedy);
        json_close();
    }
    json_close();
    json_truth("works", how_many(BAD) == 0);
    json_close();
}

int doctor_report(enum output_format format)
{
    if (format == OUTPUT_JSONL) {
        print_json();
    } else {
        for (size_t i = 0; i < count; i++)
            print_finding(&findings[i]);
        print_verdict();
    }
    return how_many(BAD) ? EXIT_FAILED : EXIT_DONE;
}

bool doctor_read_line(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    to[n] = '\0';
    to[strcspn(to, "\n")] = '\0';
    return true;
}
