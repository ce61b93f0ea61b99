/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace: looks at trace logs and streams.  One program, one verb a file;
 * the table below is all that ties them together.
 */
#include <stdio.h>
#include <string.h>

#include "common/options.h"
#include "common/stdout_buffer.h"
#include "system/size_limit.h"
#include "common/tool.h"

static const struct verb *const verbs[] = {
    &verb_record,  &verb_info,  &verb_print,  &verb_export,   &verb_import, &verb_check,
    &verb_recover, &verb_list,  &verb_btf,    &verb_metrics,  &verb_rta,    &verb_report,
    &verb_why,     &verb_start, &verb_stop,   &verb_flush,    &verb_filter, &verb_snapshot,
    &verb_top,     &verb_load,  &verb_doctor, &verb_selftest, &verb_sync
};

enum { VERBS = sizeof verbs / sizeof verbs[0] };

static const char help[] =
    "usage: posixtrace VERB [OPTION]... [FILE]...\n"
    "Looks at logs and streams of the POSIX tracing library.\n"
    "\n"
    "  record CMD       records a program, or processes that run\n"
    "  info [LOG]       what the log knows of itself: types, threads, losses, end\n"
    "  print [LOG]      its events, in order, as text, jsonl or csv\n"
    "  export|import IN OUT  to another tool's format; a log from one, or from jsonl\n"
    "  check|recover LOG  is it whole? completes the log of a process that died\n"
    "  load --to=URL LOG...  into tables of a ClickHouse server\n"
    "  btf check FILE   does a BTF file keep to its specification?\n"
    "  list|top [PID]   streams in memory; live: rates, latencies, waits, deadlocks\n"
    "  report LOG       where the time of its threads went, and for what they waited\n"
    "  why [PAIR] LOG   why it was slow; what threads wait for at its end; deadlocks\n"
    "  metrics LOG      times of its threads, by automata\n"
    "  sync|rta LOG     one clock for several hosts; are the tasks schedulable?\n"
    "  start|stop|flush PID  starts or stops a stream; has its log written\n"
    "  filter|snapshot PID  changes which events it records; a log of what it holds\n"
    "  doctor|selftest  what the surroundings lack; are the promises kept, how fast?\n"
    "\n"
    "  --help [VERB]    print this, or the options of a verb\n"
    "  --version, -V    print the version\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 not a log (check), 3 events lost, 64 usage.\n"
    "Manual: posixtrace(1), posixtrace-VERB(1)\n";

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    }
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *names[VERBS + 1] = { NULL };

    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i]->name;
    if (name[0] == '-')
        return tool_usage("unknown option %s; a verb comes first", quote(name));
    return options_bad_word("verb", name, names);
}

static int run_verb(const struct verb *verb, char **words)
{
    struct options options = { .verb = verb, .words = words };

    tool_set_verb(verb->name);
    return verb->run(&options);
}

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* The help of a verb; NULL: that of the tool. */
static int print_help(const char *name)
{
    const struct verb *verb = name ? find_verb(name) : NULL;

    if (name && !verb)
        return unknown_verb(name);
    out_text(verb ? verb->help : help);
    return EXIT_DONE;
}

static int run(char **argv)
{
    const char *first = argv[0] ? argv[1] : NULL;
    const struct verb *verb;

    if (!first) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    if (is_help(first))
        return print_help(argv[2]);
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        out_text(options_version);
        return EXIT_DONE;
    }
    verb = find_verb(first);
    return verb ? run_verb(verb, argv + 2) : unknown_verb(first);
}

int main(int argc, char **argv)
{
    (void)argc;
    size_limit_is_error();
    return out_finish(run(argv));
}
