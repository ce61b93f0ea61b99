/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Two copies of the library in one process: this program has the static one
 * inside, the plugin that it loads is linked to the shared one.  Both record
 * into the stream that the program created: the second copy finds it through
 * the process, not through anything private to the first.
 *
 *     two_copies PLUGIN
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

static int fail(const char *what, int error)
{
    fprintf(stderr, "two_copies: %s: %d\n", what, error);
    return 1;
}

static int mapped(const char *word)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int found = 0;

    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, word) != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* Counts the events of both origins whose data is their name. */
static int drain(trace_id_t trid, int *program, int *plugin)
{
    struct posix_trace_event_info info;
    char data[64], name[TRACE_EVENT_NAME_MAX + 1];
    size_t length;
    int unavailable = 0, error;

    for (;;) {
        error = posix_trace_trygetnext_event(trid, &info, data, sizeof data, &length, &unavailable);
        if (error || unavailable)
            return error;
        if ((error = posix_trace_eventid_get_name(trid, info.posix_event_id, name)))
            return error;
        if (length == strlen(name) && !memcmp(data, name, length)) {
            *program += !strcmp(name, "from program");
            *plugin += !strcmp(name, "from plugin");
        }
    }
}

int main(int argc, char **argv)
{
    trace_event_id_t id;
    trace_id_t trid;
    int (*plugin_record)(int times);
    int program = 0, plugin = 0, error;
    void *library;

    if (argc != 2)
        return fail("usage: two_copies PLUGIN", 0);
    if ((error = posix_trace_eventid_open("from program", &id)) ||
        (error = posix_trace_create(0, NULL, &trid)) || (error = posix_trace_start(trid)))
        return fail("no stream", error);
    if (mapped("libposixtrace.so"))
        return fail("the program has the shared library already", 0);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library || !mapped("libposixtrace.so"))
        return fail(library ? "the plugin has no library of its own" : dlerror(), 0);
    *(void **)&plugin_record = dlsym(library, "plugin_record");
    if (!plugin_record)
        return fail("plugin_record is missing", 0);

    for (int i = 0; i < 10; i++) {
        posix_trace_event(id, "from program", 12);
        if ((error = plugin_record(1)))
            return fail("plugin_record", error);
    }
    if ((error = drain(trid, &program, &plugin)))
        return fail("reading", error);
    if (program != 10 || plugin != 10) {
        fprintf(stderr, "two_copies: read %d and %d events, 10 and 10 were recorded\n", program,
                plugin);
        return 1;
    }
    if ((error = posix_trace_shutdown(trid)))
        return fail("posix_trace_shutdown", error);
    return plugin_record(1) ? fail("recording after shutdown", 0) : 0;
}
