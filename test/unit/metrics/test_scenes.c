/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* All scenes of the files on the command line; see scene.h. */
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"

struct scene {
    posixtrace_metric_set_t *set;
    posixtrace_metric_t *user;
    const posixtrace_metric_t *chosen[64];
    size_t count;
    char *text, *expected;
    size_t text_len, expected_len;
    FILE *text_file, *expected_file;
    struct scene_trace *trace;
    bool little_endian; /* its data, on every machine */
};

static unsigned scenes, failures;
static char name[128];

__attribute__((format(printf, 2, 3))) static void demand(bool good, const char *format, ...)
{
    va_list args;

    if (good)
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void choose_all(struct scene *s)
{
    for (s->count = 0; s->count < 64; s->count++) {
        s->chosen[s->count] = posixtrace_metric_set_get(s->set, s->count);
        if (!s->chosen[s->count])
            return;
    }
}

static void read_setting(struct scene *s, const char *line)
{
    char a[64], b[64], c[64], d[64];
    int n = sscanf(line, "user %63s %63s %63s %63s", a, b, c, d);

    if (n >= 3) {
        SCENE_NEED((posixtrace_new_user_metric(a, b, c, n == 3, &s->user)) == 0);
        s->chosen[0] = s->user;
        s->count = 1;
    } else if (sscanf(line, "set %63s", a) == 1) {
        SCENE_NEED((posixtrace_metric_set_open(a, &s->set)) == 0);
        choose_all(s);
    } else if (strcmp(line, "little-endian") == 0) {
        s->little_endian = true;
    } else if (strncmp(line, "metric ", 7) == 0) {
        s->chosen[0] = posixtrace_metric_set_find(s->set, line + 7);
        demand(s->chosen[0] != NULL, "%s: %s", name, line);
        s->count = 1;
    } else {
        demand(false, "%s: what is '%s'?", name, line);
    }
}

static void parse_text(struct scene *s)
{
    struct posixtrace_metric_fault fault;
    int error;

    fclose(s->text_file);
    s->text_file = NULL;
    error = posixtrace_metric_set_parse(s->text, s->text_len, &s->set, &fault);
    demand(error == 0, "%s: text line %u column %u: %s", name, fault.line, fault.column,
           fault.text);
    choose_all(s);
}

static void read_event(struct scene *s, const char *line)
{
    long long time, value = 0;
    unsigned long long object = 0;
    char event[128], word[64];
    int tid, n = sscanf(line, "%lld %d %127s %llu %63s", &time, &tid, event, &object, word);

    demand(n >= 3, "%s: what is '%s'?", name, line);
    if (n == 5)
        value = word[0] == '@' ? SCENE_BASE + strtoll(word + 1, NULL, 10) : strtoll(word, NULL, 10);
    if (s->little_endian) {
        object = htole64(object);
        value = (long long)htole64((uint64_t)value);
    }
    scene_trace_add(s->trace, time, tid, event, object, value, n > 3);
}

static void play(struct scene *s)
{
    trace_id_t trid;
    char *found;

    if (!s->trace)
        return;
    fclose(s->expected_file);
    trid = scene_trace_open(s->trace);
    found = scene_results(s->chosen, s->count, trid);
    scene_trace_close(trid);
    scenes++;
    if (strcmp(found, s->expected) != 0) {
        failures++;
        printf("%s\n--- expected\n%s--- found\n%s", name, s->expected, found);
    }
    free(found);
    free(s->expected);
    free(s->text);
    posixtrace_metric_set_free(s->set);
    posixtrace_metric_free(s->user);
    memset(s, 0, sizeof *s);
}

static void read_line(struct scene *s, const char *line)
{
    if (strncmp(line, "scene ", 6) == 0) {
        play(s);
        snprintf(name, sizeof name, "%s", line + 6);
    } else if (strcmp(line, "text") == 0) {
        s->text_file = open_memstream(&s->text, &s->text_len);
    } else if (strcmp(line, "trace") == 0) {
        if (s->text_file)
            parse_text(s);
        s->trace = scene_trace_begin();
    } else if (strcmp(line, "expect") == 0) {
        s->expected_file = open_memstream(&s->expected, &s->expected_len);
    } else if (s->expected_file) {
        fprintf(s->expected_file, "%s\n", line);
    } else if (s->text_file) {
        fprintf(s->text_file, "%s\n", line);
    } else if (s->trace) {
        read_event(s, line);
    } else {
        read_setting(s, line);
    }
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    struct scene s = { 0 };
    char line[512];

    demand(f != NULL, "%s", path);
    while (fgets(line, sizeof line, f)) {
        char *at = line + strspn(line, " ");

        if (!s.text_file)
            at[strcspn(at, "#\n")] = '\0';
        at[strcspn(at, "\n")] = '\0';
        while (*at && at[strlen(at) - 1] == ' ')
            at[strlen(at) - 1] = '\0';
        if (*at)
            read_line(&s, at);
    }
    play(&s);
    fclose(f);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_file(argv[i]);
    printf("%u scenes, %u wrong\n", scenes, failures);
    return scenes == 0 || failures > 0;
}
