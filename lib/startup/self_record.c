/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See self_record.h.  The log is opened and locked (flock) in one go, and locked
 * until the stream locks it (log/writer/lock.h): of two processes that
 * are given the same name the second finds it taken, however close they come.
 */
#include <errno.h>
#include <posixtrace/attr.h>
#include <posixtrace/system.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/sys.h"
#include "control/control.h"
#include "log/pack.h"
#include "log/writer/lock.h"
#include "model/groups.h"
#include "process/exit.h"
#include "startup/new_stream.h"
#include "startup/self_record.h"
#include "startup/self_record_cost.h"
#include "startup/self_record_empty.h"
#include "startup/self_record_filter.h"
#include "startup/self_record_left.h"
#include "startup/self_record_log.h"
#include "stream/handle.h"
#include "writer/writer.h"

/* Whether the variables ask for it; never changes after loading. */
static bool asked;

static struct {
    struct pt_record_name name; /* of the log */
    struct pt_attr attr;
    char expression[POSIXTRACE_EXPRESSION_MAX + 1];
    bool system;  /* system events are asked for */
    bool filters; /* of these not the unwanted */
    struct pt_set unwanted;
    const char *bad; /* which variable is not understood, and why */
    char bad_filter[PT_RECORD_BAD];
} setting;

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* This thread is starting it: the library may call the program's own pthread_mutex_lock()
 * meanwhile, which may open a type. */
static _Thread_local bool beginning __attribute__((tls_model("initial-exec")));
/* A type was opened before the environment was read. */
static bool opened_early, is_read;
static uint32_t begun; /* 1: begun_log and begun_error are final */
static int begun_error;
static char begun_log[PT_RECORD_PATH];

static bool read_size(const char *variable, uint64_t *size)
{
    static const char units[] = "KMG";
    const char *text = secure_getenv(variable), *unit;
    unsigned long long value;
    unsigned shift;
    char *end;

    if (!text)
        return true;
    value = strtoull(text, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || value == 0 || end[unit != NULL] != '\0' ||
        value > (SIZE_MAX >> 1) >> shift)
        return false;
    *size = (uint64_t)value << shift;
    return true;
}

static bool read_switch_buffer(struct pt_attr *attr)
{
    return read_size("POSIXTRACE_RECORD_SWITCH_BUFFER", &attr->switch_buffer) &&
           pt_attr_check(attr, true) == 0;
}

static bool read_zstd(struct pt_attr *attr)
{
    const char *word = secure_getenv("POSIXTRACE_RECORD_ZSTD");

    attr->compression = word && *word ? POSIXTRACE_COMPRESSION_ZSTD
                                      : POSIXTRACE_COMPRESSION_COLUMNS;
    return pt_pack_available(attr->compression);
}

/* The same words as those of posixtrace record. */
static bool read_policy(struct pt_attr *attr)
{
    const char *word = secure_getenv("POSIXTRACE_RECORD_POLICY");

    attr->policy_is_default = 0;
    attr->stream_policy = POSIX_TRACE_FLUSH;
    attr->log_policy = secure_getenv("POSIXTRACE_RECORD_LOG_SIZE") ? POSIX_TRACE_LOOP
                                                                   : POSIX_TRACE_APPEND;
    if (!word || strcmp(word, "flush") == 0)
        return true;
    if (strcmp(word, "until-full") == 0)
        attr->log_policy = POSIX_TRACE_UNTIL_FULL;
    else if (strcmp(word, "loop") == 0)
        attr->stream_policy = POSIX_TRACE_LOOP;
    else
        return false;
    return true;
}

static bool read_filter(void)
{
    const char *list = secure_getenv("POSIXTRACE_RECORD_FILTER");

    return !list || pt_record_filter_read(list, setting.expression, setting.bad_filter);
}

/* A symbol of the library that traces calls, if that is loaded. */
extern const char pt_preload_is_here[] __attribute__((weak, visibility("default")));

/* The same words as those of posixtrace record.  A filter leaves out the types of other groups. */
static const char *read_system(struct pt_attr *attr)
{
    const char *list = secure_getenv("POSIXTRACE_RECORD_SYSTEM");
    bool calls = false;

    if (!list || !*list)
        return NULL;
    if (!pt_groups_read(list, &setting.unwanted))
        return "POSIXTRACE_RECORD_SYSTEM has other words than locks, io, sleep, threads, signals, "
               "calls, switches and all";
    setting.system = true;
    attr->switches = pt_set_has(&setting.unwanted, POSIXTRACE_SWITCH_IN);
    for (uint32_t id = PT_ID_OWN_FIRST; id <= PT_ID_OWN_LAST; id++) {
        bool wanted = pt_set_has(&setting.unwanted, id), call = id > POSIXTRACE_CPU_TIME;

        if (id == POSIXTRACE_CONTEXT)
            continue; /* the program's own */
        (wanted ? pt_set_del : pt_set_add)(&setting.unwanted, id);
        calls |= wanted && call;
        setting.filters |= !wanted && call;
    }
    setting.filters &= calls;
    return calls && !pt_preload_is_here
               ? "POSIXTRACE_RECORD_SYSTEM has calls, for which LD_PRELOAD must name "
                 "libposixtrace-preload.so"
               : NULL;
}

static void read_settings(void)
{
    pt_attr_init(&setting.attr);
    setting.attr.inheritance = POSIX_TRACE_INHERITED;
    strncpy(setting.attr.name, program_invocation_short_name, sizeof setting.attr.name - 1);
    if (!read_policy(&setting.attr))
        setting.bad = "POSIXTRACE_RECORD_POLICY is not flush, loop or until-full";
    else if (!read_size("POSIXTRACE_RECORD_SIZE", &setting.attr.stream_size))
        setting.bad = "POSIXTRACE_RECORD_SIZE is not a number of bytes, as 65536, 64K or 1M";
    else if (!read_size("POSIXTRACE_RECORD_LOG_SIZE", &setting.attr.log_size))
        setting.bad = "POSIXTRACE_RECORD_LOG_SIZE is not a number of bytes, as 65536, 64K or 1M";
    else if (!read_zstd(&setting.attr))
        setting.bad = "POSIXTRACE_RECORD_ZSTD is set, and this library was built without zstd";
    else if (!read_switch_buffer(&setting.attr))
        setting.bad = "POSIXTRACE_RECORD_SWITCH_BUFFER is not a power of two bytes from 4K to 1G";
    else if (!read_filter())
        setting.bad = setting.bad_filter;
    else
        setting.bad = read_system(&setting.attr);
}

/* Relative to where the program was started: it may change its directory. */
static char *folder_of(const char *pattern)
{
    char *folder = pattern[0] == '/' ? NULL : getcwd(NULL, 0), *with_slash = NULL;

    if (!folder)
        return strdup("");
    with_slash = malloc(strlen(folder) + 2);
    if (with_slash)
        stpcpy(stpcpy(with_slash, folder), "/");
    free(folder);
    return with_slash;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *name = secure_getenv("POSIXTRACE_RECORD");
    int saved = errno;

    is_read = true;
    if (!name || !*name)
        return;
    setting.name = (struct pt_record_name){ folder_of(name), strdup(name) };
    read_settings();
    asked = setting.name.folder && setting.name.pattern;
    /* Once there are threads the kernel takes milliseconds for it. */
    pt_barrier_works();
    if (opened_early)
        pt_self_record_begin();
    errno = saved;
}

static int create(int fd, trace_id_t *trid)
{
    int r = pt_attr_check(&setting.attr, true);

    if (r < 0)
        return r;
    setting.attr.event_cost_ps = pt_self_record_cost(&setting.attr);
    return pt_create(&setting.attr, fd, NULL, trid);
}

/* Without its filter a stream is not started.  Gone already: another thread ends the program. */
static int start(struct pt_self *self, trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, PT_STREAM_LOGGED);
    int r = 0;

    if (!s)
        return 0;
    if (setting.system)
        pt_names_use_own(self->names);
    if (setting.filters)
        r = pt_stream_set_filter(s, &setting.unwanted, POSIX_TRACE_SET_EVENTSET, 0);
    if (r == 0 && setting.expression[0])
        r = pt_stream_set_expression(s, setting.expression, 0);
    if (r == 0)
        r = pt_stream_start(s, 0);
    pt_handle_put(s);
    if (r < 0)
        pt_stream_shut_down(trid, 0);
    return r;
}

static int begin(void)
{
    struct pt_record_old old;
    struct pt_self *self;
    trace_id_t trid;
    int fd, r = pt_self_make(&self);

    if (setting.bad)
        return -EINVAL;
    if (r == 0)
        r = pt_exit_register();
    if (r < 0)
        return r;
    fd = pt_record_log_open(&setting.name, begun_log, &old);
    /* A name without %p, in a program that an ancestor which records itself has
     * started: it is recorded there. */
    if (fd == -EBUSY && pt_load_acquire(&self->page->used) != 0)
        return 0;
    if (fd < 0)
        return fd;
    /* The flush thread takes the lock over when it has one of its own: without it another
     * process might come in between, and both would give up. */
    pt_log_lock_give(fd);
    r = create(fd, &trid);
    pt_log_lock_give(-1);
    if (r < 0 && r != -EBUSY)
        pt_record_log_drop(fd, begun_log);
    /* The flush thread has it; the program's descriptors stay as they were. */
    close(fd);
    if (r == 0)
        r = start(self, trid);
    pt_record_log_done(&old, r == 0);
    if (r == 0)
        pt_self_left_begin(self, begun_log);
    if (r == 0 && setting.expression[0] && !setting.attr.switches)
        pt_self_empty_begin(trid, begun_log);
    return r;
}

static void begin_once(void)
{
    int saved = errno, cancel;

    /* The program's way out: posixtrace's own trials of the library take it. */
    if (!secure_getenv("POSIXTRACE_RECORD"))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    begun_error = -begin();
    pt_store_release(&begun, 1u);
    if (begun_error)
        pt_record_log_note(&setting.name, begun_error, setting.bad);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

void pt_self_record_begin(void)
{
    if (!is_read)
        opened_early = true;
    if (!asked || beginning)
        return;
    beginning = true;
    pthread_once(&once, begin_once);
    pt_self_left_look();
    beginning = false;
}

int pt_self_record_look(char *log, size_t size)
{
    *log = '\0';
    if (!asked)
        return 0;
    if (pt_load_acquire(&begun) && begun_log[0]) {
        strncat(log, begun_log, size - 1);
        return begun_error == 0 && pt_self_left_look() ? ESRCH : begun_error;
    }
    strncat(log, setting.name.folder, size - 1);
    strncat(log, setting.name.pattern, size - 1 - strlen(log));
    if (pt_load_acquire(&begun))
        return begun_error;
    return setting.bad ? EINVAL : -pt_record_log_look(&setting.name);
}

const char *pt_self_record_fault(void)
{
    return setting.bad ? setting.bad : "";
}
