/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, the reading process: a graph of libbabeltrace2, a source for each trace in the
 * folder, and a sink that merges their streams and sends the result.
 *
 * A few bytes of metadata can ask for years of work, so the processor time is bounded by the
 * size of the files: an event takes half a microsecond, and the limit is 70 times as much.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "analysis/format/ctf/ctf_import.h"

#define TRACES_MAX  256u
#define DEPTH_MAX   8
#define ENTRIES_MAX 65536u
#define MEMORY_MAX  (UINT64_C(1) << 30)
#define WORK_LEAST  3 /* s of processor time, and one more for each MiB */

struct source {
    struct ctf_sink sink;
    char *traces[TRACES_MAX];
    unsigned trace_count, entries;
    uint64_t inputs; /* streams */
    bt_graph *graph;
    const bt_component_source *components[TRACES_MAX];
};

/* For the signal handlers of this process. */
static struct source *self;
static volatile sig_atomic_t in_library; /* so nothing is being put into the buffer */

_Noreturn static void leave(struct source *s)
{
    if (!s->sink.failed)
        pt_ctf_out_put(&s->sink.out, CTF_END, NULL, 0, NULL, 0);
    pt_ctf_out_flush(&s->sink.out);
    _exit(0);
}

/* ---- the graph ---- */

static const bt_plugin *plugin(struct source *s, const char *name)
{
    const bt_plugin *p = NULL;

    if (bt_plugin_find(name, BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &p) ==
        BT_PLUGIN_FIND_STATUS_OK)
        return p;
    pt_ctf_fault(&s->sink, "libbabeltrace2 has no plugins 'ctf' and 'utils' here");
    leave(s);
}

/* The library's folder of one trace: a stream is an output of it. */
static void add_trace(struct source *s, const bt_component_class_source *class, unsigned i)
{
    bt_value *parameters = bt_value_map_create(), *inputs = NULL;
    char name[32];

    snprintf(name, sizeof name, "trace-%u", i);
    if (!parameters ||
        bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) !=
            BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
        bt_value_array_append_string_element(inputs, s->traces[i]) !=
            BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
        bt_graph_add_source_component(s->graph, class, name, parameters, BT_LOGGING_LEVEL_NONE,
                                      &s->components[i]) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
        pt_ctf_fault_of_library(&s->sink, "not a trace");
    else
        s->inputs += bt_component_source_get_output_port_count(s->components[i]);
    bt_value_put_ref(parameters);
}

static void connect_outputs(struct source *s, const bt_component_sink *to)
{
    uint64_t input = 0;

    for (unsigned i = 0; i < s->trace_count; i++) {
        uint64_t count = bt_component_source_get_output_port_count(s->components[i]);

        for (uint64_t k = 0; k < count && !s->sink.failed; k++)
            if (bt_graph_connect_ports(
                    s->graph,
                    bt_component_source_borrow_output_port_by_index_const(s->components[i], k),
                    bt_component_sink_borrow_input_port_by_index_const(to, input++),
                    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
                pt_ctf_fault_of_library(&s->sink, "the streams cannot be connected");
    }
}

static void build(struct source *s, bool sort)
{
    const bt_component_class_source *fs = bt_plugin_borrow_source_component_class_by_name_const(
        plugin(s, "ctf"), "fs");
    struct ctf_merge *merge;

    s->graph = bt_graph_create(0);
    if (!fs || !s->graph) {
        pt_ctf_fault_of_library(&s->sink, "libbabeltrace2 does not work here");
        return;
    }
    for (unsigned i = 0; i < s->trace_count && !s->sink.failed; i++)
        add_trace(s, fs, i);
    if (s->sink.failed || !s->inputs)
        return;
    merge = pt_ctf_merge_new(s->graph, &s->sink, s->inputs, sort, &in_library);
    if (merge)
        connect_outputs(s, pt_ctf_merge_component(merge));
    else
        pt_ctf_fault_of_library(&s->sink, "no memory for the streams");
}

/* ---- finding traces ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void look_into(struct source *s, const char *path, int depth);

static void look_at(struct source *s, const char *folder, const char *name, int depth)
{
    struct stat st;
    char *path;

    if (++s->entries > ENTRIES_MAX || asprintf(&path, "%s/%s", folder, name) < 0) {
        pt_ctf_fault(&s->sink, "more than 65536 files and folders");
        return;
    }
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
        look_into(s, path, depth + 1);
    } else if (S_ISREG(st.st_mode)) {
        s->sink.bytes += (uint64_t)st.st_size;
        if (strcmp(name, "metadata") == 0) {
            if (s->trace_count == TRACES_MAX)
                pt_ctf_fault(&s->sink, "more than 256 traces");
            else
                s->traces[s->trace_count++] = strdup(folder);
        }
    }
    free(path);
}

/* LTTng and others put several traces under one folder. */
static void look_into(struct source *s, const char *path, int depth)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_shown, by_name);
    char text[300];

    if (count < 0) {
        snprintf(text, sizeof text, "%s: %s", path, strerror(errno));
        pt_ctf_fault(&s->sink, text);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (!s->sink.failed)
            look_at(s, path, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
}

/* ---- the process ---- */

/* A fault inside the library: the events read before it are valid. */
static void on_fault(int number)
{
    pt_ctf_out_flush(&self->sink.out);
    signal(number, SIG_DFL);
    raise(number);
}

static long work_limit(void)
{
    return WORK_LEAST + (long)(self->sink.bytes >> 20);
}

/* The time is over.  Between calls of the library it is soon in it again. */
static void on_time(int number)
{
    struct itimerval soon = { .it_value = { .tv_usec = 1000 } };
    char text[120];

    (void)number;
    if (!in_library) {
        setitimer(ITIMER_PROF, &soon, NULL);
        return;
    }
    snprintf(text, sizeof text,
             "the trace takes more than %ld s of processor time, 3 s and one "
             "for each MiB of it",
             work_limit());
    pt_ctf_fault(&self->sink, text);
    pt_ctf_out_flush(&self->sink.out);
    _exit(0);
}

static void bound_work(void)
{
    struct itimerval limit = { .it_value = { .tv_sec = work_limit() } };

    signal(SIGPROF, on_time);
    setitimer(ITIMER_PROF, &limit, NULL);
}

static void bound_memory(void)
{
    struct rlimit limit = { 0, 0 };
    unsigned long long pages[6] = { 0 };
    FILE *statm = fopen("/proc/self/statm", "re");

    if (statm && fscanf(statm, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1], &pages[2],
                        &pages[3], &pages[4], &pages[5]) == 6) {
        limit.rlim_cur = limit.rlim_max = pages[5] * (unsigned long long)sysconf(_SC_PAGESIZE) +
                                          MEMORY_MAX;
        setrlimit(RLIMIT_DATA, &limit);
    }
    if (statm)
        fclose(statm);
}

static void settle(void)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    struct rlimit none = { 0, 0 }, files;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t ours;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN); /* write() returns EFBIG */
    sigemptyset(&ours);
    sigaddset(&ours, SIGPROF);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        signal(faults[i], on_fault);
        sigaddset(&ours, faults[i]);
    }
    /* the mask is that of the thread that imports */
    sigprocmask(SIG_UNBLOCK, &ours, NULL);
    /* the library prints its reasons on standard output and error; they are discarded */
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    setrlimit(RLIMIT_CORE, &none);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    bound_memory();
}

_Noreturn void pt_ctf_source_run(const char *directory, int fd, bool sort)
{
    struct source *s = calloc(1, sizeof *s);

    if (!s)
        _exit(1);
    s->sink.out.fd = fd;
    s->sink.last_ns = INT64_MIN;
    self = s;
    settle();
    look_into(s, directory, 0);
    if (!s->sink.failed && !s->trace_count)
        pt_ctf_fault(&s->sink, "there is no file 'metadata' in the folder, nor in those in it");
    bound_work();
    in_library = true;
    if (!s->sink.failed)
        build(s, sort);
    if (!s->sink.failed && s->inputs) {
        bt_graph_run_status status;

        do
            status = bt_graph_run(s->graph);
        while (status == BT_GRAPH_RUN_STATUS_AGAIN);
        if (status != BT_GRAPH_RUN_STATUS_OK)
            pt_ctf_fault_of_library(&s->sink, "the trace cannot be read");
    }
    leave(s);
}
