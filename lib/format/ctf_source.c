/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, the reading process: a graph of libbabeltrace2, a source for each trace
 * in the folder, its muxer, and a sink that says what comes out.
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
#include <unistd.h>
#include "format/ctf_import.h"

#define TRACES_MAX  256u
#define DEPTH_MAX   8
#define ENTRIES_MAX 65536u
#define MEMORY_MAX  (UINT64_C(1) << 30)

struct source {
    struct ctf_sink sink;
    char    *traces[TRACES_MAX];
    unsigned trace_count, entries;
    uint64_t inputs;                     /* of the muxer that are connected */
    bt_graph *graph;
    const bt_component_filter *muxer;
};

/* Of this process only, for its signal handler. */
static struct source *self;

_Noreturn static void leave(struct source *s)
{
    if (!s->sink.failed)
        pt_ctf_out_put(&s->sink.out, CTF_END, NULL, 0, NULL, 0);
    pt_ctf_out_flush(&s->sink.out);
    _exit(0);
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator,
                                                                  void *context)
{
    struct source *s = context;
    bt_message_array_const messages;
    uint64_t count;
    bt_message_iterator_next_status status =
        bt_message_iterator_next(iterator, &messages, &count);

    if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
    if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
    for (uint64_t i = 0; i < count; i++) {
        if (!s->sink.failed)
            pt_ctf_take(&s->sink, messages[i]);
        bt_message_put_ref(messages[i]);
    }
    return s->sink.failed ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END
                     : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
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

static void connect_outputs(struct source *s, const bt_component_source *from)
{
    uint64_t count = bt_component_source_get_output_port_count(from);

    for (uint64_t i = 0; i < count && !s->sink.failed; i++) {
        const bt_port_output *out =
            bt_component_source_borrow_output_port_by_index_const(from, i);
        const bt_port_input *in =
            bt_component_filter_borrow_input_port_by_index_const(s->muxer, s->inputs++);

        if (bt_graph_connect_ports(s->graph, out, in, NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
            pt_ctf_fault_of_library(&s->sink, "the streams cannot be connected");
    }
}

static void add_trace(struct source *s, const bt_component_class_source *class, unsigned i)
{
    const bt_component_source *component;
    bt_value *parameters = bt_value_map_create(), *inputs = NULL;
    char name[32];

    snprintf(name, sizeof name, "trace-%u", i);
    if (!parameters ||
        bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) !=
            BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
        bt_value_array_append_string_element(inputs, s->traces[i]) !=
            BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
        bt_graph_add_source_component(s->graph, class, name, parameters, BT_LOGGING_LEVEL_NONE,
                                      &component) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
        pt_ctf_fault_of_library(&s->sink, "not a trace");
    else
        connect_outputs(s, component);
    bt_value_put_ref(parameters);
}

static void build(struct source *s)
{
    const bt_plugin *ctf = plugin(s, "ctf"), *utils = plugin(s, "utils");
    const bt_component_class_source *fs =
        bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
    const bt_component_class_filter *muxer =
        bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer");
    const bt_component_sink *sink;

    s->graph = bt_graph_create(0);
    if (!fs || !muxer || !s->graph ||
        bt_graph_add_filter_component(s->graph, muxer, "muxer", NULL, BT_LOGGING_LEVEL_NONE,
                                      &s->muxer) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
        bt_graph_add_simple_sink_component(s->graph, "posixtrace", NULL, consume, NULL, s,
                                           &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
        pt_ctf_fault_of_library(&s->sink, "libbabeltrace2 does not work here");
        return;
    }
    for (unsigned i = 0; i < s->trace_count && !s->sink.failed; i++)
        add_trace(s, fs, i);
    if (!s->sink.failed && s->inputs &&
        bt_graph_connect_ports(
            s->graph, bt_component_filter_borrow_output_port_by_index_const(s->muxer, 0),
            bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) !=
            BT_GRAPH_CONNECT_PORTS_STATUS_OK)
        pt_ctf_fault_of_library(&s->sink, "the muxer cannot be connected");
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

/* A fault inside of the library: what was read before it is good. */
static void on_fault(int number)
{
    pt_ctf_out_flush(&self->sink.out);
    signal(number, SIG_DFL);
    raise(number);
}

static void bound_memory(void)
{
    struct rlimit limit = { 0, 0 };
    unsigned long long pages[6] = { 0 };
    FILE *statm = fopen("/proc/self/statm", "re");

    if (statm && fscanf(statm, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1], &pages[2],
                        &pages[3], &pages[4], &pages[5]) == 6) {
        limit.rlim_cur = limit.rlim_max =
            pages[5] * (unsigned long long)sysconf(_SC_PAGESIZE) + MEMORY_MAX;
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

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], on_fault);
    /* the library says why it gives up, to whom it may concern */
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

_Noreturn void pt_ctf_source_run(const char *directory, int fd)
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
    if (!s->sink.failed)
        build(s);
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
