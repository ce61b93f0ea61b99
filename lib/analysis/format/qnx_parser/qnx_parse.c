/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * traceparser(): a file is a log of ours, or a .kev file, which import turns into one that has
 * no name.  A file that cannot be read twice, such as a pipe, is copied first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "analysis/format/qnx_parser/qnx_parser.h"
#include "analysis/format/common/spool.h"

#define KEV_MAGIC "TRACE_HEADER_BEGIN::"
#define AT_ONCE   64u

/* ---- the file ---- */

static FILE *copy_file(FILE *from)
{
    FILE *copy = NULL;
    int error = pt_temporary_copy(from, &copy);

    fclose(from);
    errno = error;
    return copy;
}

/* NULL with errno.  At its beginning, and can be read twice. */
static FILE *open_file(const char *path)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    struct stat st;

    if (!file) {
        int error = errno;

        if (fd >= 0)
            close(fd);
        errno = error;
        return NULL;
    }
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        file = copy_file(file);
    if (file)
        rewind(file);
    return file;
}

static bool is_kev(FILE *file)
{
    char head[sizeof KEV_MAGIC - 1];
    bool kev = fread(head, 1, sizeof head, file) == sizeof head &&
               memcmp(head, KEV_MAGIC, sizeof head) == 0;

    rewind(file);
    return kev;
}

struct fault {
    int error; /* 0: none */
    unsigned code;
    char text[300];
};

static __attribute__((format(printf, 3, 4))) void blame(struct fault *f, int error,
                                                        const char *text, ...)
{
    va_list arguments;

    f->error = error;
    f->code = error == ENOMEM    ? _TRACEPARSER_NO_MORE_MEMORY
              : error == ENOTSUP ? _TRACEPARSER_UNKNOWN_ERROR
                                 : _TRACEPARSER_CANNOT_READ_IN_FILE;
    va_start(arguments, text);
    vsnprintf(f->text, sizeof f->text, text, arguments);
    va_end(arguments);
}

/* Reads on after the start of a file, which the caller has checked. */
static ssize_t read_rest(void *from, void *to, size_t size)
{
    size_t n = fread(to, 1, size, from);

    return n == 0 && ferror((FILE *)from) ? -1 : (ssize_t)n;
}

/* The log that import makes of it; also of what comes before a fault, which is kept. */
static FILE *import_kev(FILE *from, const char *path, struct fault *fault)
{
    const struct posixtrace_format *format = posixtrace_format_find("kev");
    struct posixtrace_conversion conversion = { .name = path, .read = read_rest, .context = from };
    posixtrace_log_builder_t *builder;
    FILE *log = NULL;
    int error;

    if (!format || !format->imports) {
        blame(fault, ENOTSUP, "%s is a .kev file, and this build has no format 'kev' to import it",
              path);
        return NULL;
    }
    error = pt_temporary_file(&log);
    if (!error)
        error = posixtrace_log_builder_create(fileno(log), NULL, &builder);
    if (!error) {
        error = posixtrace_import("kev", -1, builder, &conversion, sizeof conversion);
        if (error)
            blame(fault, error, "%s", conversion.error);
        error = posixtrace_log_builder_finish(builder);
    }
    if (!error)
        return log;
    blame(fault, error, "cannot make a temporary log for %s: %s", path, strerror(error));
    if (log)
        fclose(log);
    return NULL;
}

/* ---- the header ---- */

static bool put_date(posixtrace_qnx_parser_t *p, int key, time_t when)
{
    char text[32];
    struct tm tm;

    if (!gmtime_r(&when, &tm) || !strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &tm))
        return true;
    return pt_qnx_parser_key(p, key, text);
}

/* Header values for every file, until its own header replaces them. */
static bool put_header(posixtrace_qnx_parser_t *p, const char *path)
{
    struct timespec created = { 0, 0 };
    trace_attr_t attr;

    for (int i = 0; i < PT_QNX_KEYS; i++) {
        free(p->keys[i]);
        p->keys[i] = NULL;
    }
    if (posix_trace_get_attr(p->trid, &attr) == 0) {
        posix_trace_attr_getcreatetime(&attr, &created);
        posix_trace_attr_destroy(&attr);
    }
    return put_date(p, _TRACEPARSER_INFO_DATE, created.tv_sec) &&
           pt_qnx_parser_key(p, _TRACEPARSER_INFO_FILE_NAME, path) &&
           pt_qnx_parser_key(p, _TRACEPARSER_INFO_VER_MAJOR, "1") &&
           pt_qnx_parser_key(p, _TRACEPARSER_INFO_VER_MINOR, "01") &&
           pt_qnx_parser_key(p,
                             __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
                                 ? _TRACEPARSER_INFO_BIG_ENDIAN
                                 : _TRACEPARSER_INFO_LITTLE_ENDIAN,
                             "TRUE");
}

/* Times are reported in ns since 1970, for any unit in the file. */
bool pt_qnx_begin(posixtrace_qnx_parser_t *p)
{
    static const struct pt_qnx_kind empty = { .event_class = _NTO_TRACE_EMPTY };

    p->begun = true;
    if (!put_date(p, _TRACEPARSER_INFO_BOOT_DATE, 0) ||
        !pt_qnx_parser_key(p, _TRACEPARSER_INFO_CYCLES_PER_SEC, "1000000000"))
        return false;
    for (int i = 0; i < PT_QNX_KEYS && p->debug & _TRACEPARSER_DEBUG_HEADER; i++)
        if (p->keys[i])
            fprintf(p->stream, "TRACE_%s:: %s\n", pt_qnx_parser_key_name(i), p->keys[i]);
    pt_qnx_parser_call(p, &empty, 0, 0, 0, 0);
    return true;
}

/* ---- the events ---- */

/* Numbers that QNX's user events of the log have are not for other types.  In an imported trace of
 * QNX the system events are silent: they repeat other events, for metrics. */
static void take_numbers(posixtrace_qnx_parser_t *p, bool imported)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    struct pt_qnx_kind kind;
    trace_event_id_t id;
    int none = 0;

    memset(p->taken, 0, sizeof p->taken);
    posix_trace_eventtypelist_rewind(p->trid);
    while (posix_trace_eventtypelist_getnext_id(p->trid, &id, &none) == 0 && !none) {
        if (posix_trace_eventid_get_name(p->trid, id, name) != 0)
            continue;
        /* States may be among the others, of more types than a log has. */
        p->silent |= imported && strcmp(name, "qnx:OTHER") == 0;
        if (!pt_qnx_from_name(name, &kind))
            continue;
        p->silent |= imported && kind.event_class == _NTO_TRACE_THREAD;
        p->taken[kind.index] |= kind.event_class == _NTO_TRACE_USER;
    }
}

static int read_events(posixtrace_qnx_parser_t *p)
{
    struct posixtrace_event events[AT_ONCE];
    size_t count;
    int error;

    while ((error = posixtrace_next_events(p->trid, events, sizeof *events, AT_ONCE, &count)) ==
               0 &&
           count)
        for (size_t i = 0; i < count; i++)
            if (!pt_qnx_take(p, &events[i]))
                return ENOMEM;
    if (!error && !p->begun && !pt_qnx_begin(p))
        return ENOMEM;
    return error;
}

static int prepare(posixtrace_qnx_parser_t *p, const char *path)
{
    struct posixtrace_info info;
    int error = posixtrace_get_info(p->trid, &info, sizeof info);

    p->silent = false;
    p->begun = false;
    p->types = calloc(PT_QNX_IDS, sizeof *p->types);
    p->threads = calloc(PT_QNX_THREADS, sizeof *p->threads);
    p->words = malloc(PT_QNX_LOG_BYTES + 2 * sizeof *p->words);
    if (!error)
        error = posixtrace_fields_create(p->trid, &p->fields);
    if (!p->types || !p->threads || !p->words || (!error && !put_header(p, path)))
        error = ENOMEM;
    if (!error)
        take_numbers(p, info.clock == POSIXTRACE_CLOCK_REALTIME);
    return error;
}

static void parse_log(posixtrace_qnx_parser_t *p, FILE *log, const char *path, struct fault *fault)
{
    int fd = fileno(log);
    int error = lseek(fd, 0, SEEK_SET) < 0 ? errno : posix_trace_open(fd, &p->trid);

    if (error) {
        blame(fault, error, "cannot read %s: %s", path,
              error == EINVAL ? "it is neither a log nor a .kev file" : strerror(error));
        if (error == EINVAL || error == ENOTSUP)
            fault->code = error == EINVAL ? _TRACEPARSER_MISSING_FIELD
                                          : _TRACEPARSER_WRONG_FILE_VERSION;
        return;
    }
    p->fields = NULL;
    error = prepare(p, path);
    if (!error)
        error = read_events(p);
    if (error)
        blame(fault, error, "cannot read %s: %s", path, strerror(error));
    posixtrace_fields_free(p->fields);
    free(p->types);
    free(p->threads);
    free(p->words);
    posix_trace_close(p->trid);
}

static void parse(posixtrace_qnx_parser_t *p, const char *path, struct fault *fault)
{
    struct fault later = { .error = 0 };
    FILE *file = open_file(path), *log = file;

    if (!file) {
        blame(fault, errno, "cannot read %s: %s", path, strerror(errno));
        return;
    }
    if (is_kev(file)) {
        log = import_kev(file, path, fault);
        fclose(file);
    }
    if (!log)
        return;
    parse_log(p, log, path, &later);
    fclose(log);
    if (!fault->error)
        *fault = later;
}

int posixtrace_qnx_parse(posixtrace_qnx_parser_t *parser, void *user_data, const char *path)
{
    struct fault fault = { .error = 0 };

    if (!parser)
        return pt_qnx_result(EINVAL);
    if (parser->running)
        return pt_qnx_result(EBUSY);
    if (!path)
        return pt_qnx_parser_fail(parser, _TRACEPARSER_CANNOT_READ_IN_FILE, EINVAL,
                                  "there is no file without a name");
    parser->running = true;
    parser->user_data = user_data;
    parse(parser, path, &fault);
    parser->running = false;
    return fault.error ? pt_qnx_parser_fail(parser, fault.code, fault.error, "%s", fault.text) : 0;
}
