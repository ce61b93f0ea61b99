/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process calls exec, and the name map of its page has no file: it was in memory, as the file
 * system was full, or its file was removed.  The next image has names of its own, which others
 * find, and writes nothing into a stream whose ids are of the lost map.  pt_exec_enter() goes
 * through the test, where a second thread comes in between.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "page/page_left.h"
#include "place/dir.h"
#include "process/exec.h"
#include "process/self.h"
#include "stream/handle.h"
#include "support/image.h"
#include "support/need.h"

enum { HANG_S = 60 };

/* ---- the image ---- */

static bool is_image, two_threads;

void __real_pt_exec_enter(struct pt_self *s);
void __wrap_pt_exec_enter(struct pt_self *s);

static void *trace_once(void *unused)
{
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    return unused;
}

void __wrap_pt_exec_enter(struct pt_self *s)
{
    pthread_t second;

    if (is_image && two_threads) {
        two_threads = false;
        NEED(pthread_create(&second, NULL, trace_once, NULL) == 0);
        NEED(pthread_join(second, NULL) == 0);
    }
    __real_pt_exec_enter(s);
}

/* The page names a map that can be opened, and in which a name has that id. */
static void check_names(trace_event_id_t id)
{
    const struct pt_self *self = pt_self_get();
    struct pt_names *names;
    uint32_t there;

    NEED(strcmp(self->page->names_file, self->names_file) == 0);
    NEED(pt_names_open(&names, self->page->names_file) == 0);
    NEED(pt_names_id(names, "of the image", false, &there) == 0 && there == id);
    NEED(pt_page_is_counted(self->page) && pt_names_count_users(names->users) == 1);
    pt_names_unmap(names);
}

static int be_image(void)
{
    trace_event_id_t id;
    struct posix_trace_event_info event;
    char is[TRACE_EVENT_NAME_MAX + 1] = "";
    trace_id_t trid;
    int unavailable = 0;
    size_t length;
    char data[8];

    alarm(HANG_S);
    is_image = true;
    trace_once(NULL);
    NEED(posix_trace_eventid_open("of the image", &id) == 0);
    check_names(id);
    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(pt_handle_get(trid, PT_STREAM_ACTIVE)->seg->h->names_file[0]);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(id, "x", 1);
    while (strcmp(is, "of the image") != 0) {
        NEED(posix_trace_trygetnext_event(trid, &event, data, sizeof data, &length, &unavailable) ==
             0);
        NEED(!unavailable);
        NEED(posix_trace_eventid_get_name(trid, event.posix_event_id, is) == 0);
    }
    exit(0);
}

/* ---- the test ---- */

static unsigned count_files(void)
{
    DIR *d = opendir(getenv("POSIXTRACE_DIR"));
    unsigned count = 0;

    NEED(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        count += strncmp(e->d_name, "p-", 2) == 0 || strncmp(e->d_name, "n-", 2) == 0;
    closedir(d);
    return count;
}

static unsigned count_events(trace_id_t trid, pid_t pid)
{
    struct posix_trace_event_info event;
    int unavailable = 0;
    unsigned n = 0;
    size_t length;
    char data[8];

    for (;;) {
        NEED(posix_trace_trygetnext_event(trid, &event, data, sizeof data, &length, &unavailable) ==
             0);
        if (unavailable)
            return n;
        n += event.posix_pid == pid;
    }
}

/* The family's map never had a file; or that of one name was removed. */
static void lose_names(bool removed)
{
    struct pt_page *page = pt_self_get()->page;

    if (removed)
        pt_dir_remove(geteuid(), page->names_file);
    else
        memset(page->names_file, 0, sizeof page->names_file);
}

/* Else the image would find the family's map, by the page of its parent and the stream. */
static void lose_family(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, PT_STREAM_ACTIVE);
    struct pt_page *page = pt_self_get()->page;

    memset(page->names_file, 0, sizeof page->names_file);
    pt_dir_remove(geteuid(), s->seg->h->names_file);
    memset(s->seg->h->names_file, 0, sizeof s->seg->h->names_file);
    pt_handle_put(s);
}

static void run(trace_id_t trid, bool removed, const char *threads)
{
    unsigned before = count_files() - removed;
    pid_t child = fork();
    int status;

    NEED(child >= 0);
    if (child == 0) {
        alarm(HANG_S);
        trace_once(NULL);
        lose_names(removed);
        setenv("TEST_THREADS", threads, 1);
        execvp(image_command[0], image_command);
        _exit(2);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
    NEED(count_events(trid, child) == 1);
    NEED(count_files() == before);
}

int main(int argc, char **argv)
{
    const char *threads = getenv("TEST_THREADS");
    trace_attr_t attr;
    trace_id_t trid;

    two_threads = threads && strcmp(threads, "2") == 0;
    if (argc > 1 && strcmp(argv[1], "image") == 0)
        return be_image();
    image_prepare("image");
    alarm(HANG_S);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    lose_family(trid);
    run(trid, false, "1");
    run(trid, false, "2");
    run(trid, true, "1");
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}
