/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One log: attempts until one is committed.
 *
 * An attempt sends the rows of each table, in insertions of some million rows, asks the server how
 * many of them it has, and commits.  After an error that may pass the next attempt starts from the
 * first event, with another number.  An attempt whose commit was sent and not answered may be
 * committed: the next one looks first.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <posixtrace/log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/stdout_buffer.h"
#include "common/sync_option.h"
#include "common/tool.h"
#include "common/units.h"
#include "input/log_file.h"
#include "load/load_http.h"
#include "load/load_schema.h"
#include "load/load_sql.h"

enum { INSERTION_ROWS = 1 << 20, PAUSE_MAX_S = 30, RANDOM_BITS = 56, GENERATIONS = 255 };
enum { ID_TEXT = 2 * 16 + 1 };

struct attempt {
    const struct load_target *target;
    struct load_place place;
    struct load_http *http;
    struct log_file log;
    posixtrace_tables_t *tables; /* of an attempt */
    char id[ID_TEXT];
    struct posixtrace_interval clock; /* its error, as the columns have it */
    volatile uint64_t *rows;          /* of all tables, for the caller */
    uint64_t attempt;
    uint32_t loaded;
    uint64_t counts[POSIXTRACE_TABLES];
    /* The table that is being sent: */
    unsigned table;
    uint64_t in_insertion;
    bool is_open;
    enum load_result result;
    size_t left_out;
    bool of_log; /* the error is one of the log, not of the server */
};

uint64_t load_random(void)
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        tool_error("no random numbers: %s", strerror(errno));
        exit(EXIT_FAILED);
    }
    return number;
}

/* ---- rows ---- */

static enum load_result begin_insertion(struct attempt *a)
{
    struct load_sql s;
    char name[40], *sql;

    snprintf(name, sizeof name, "%s_rows", posixtrace_table_name(a->table));
    load_sql_begin(&s);
    load_sql_put(&s, "INSERT INTO ");
    load_sql_table(&s, a->place.database, name);
    load_sql_put(&s, " FORMAT Native");
    sql = load_sql_end(&s);
    a->result = load_http_insert(a->http, sql);
    free(sql);
    a->is_open = a->result == LOAD_DONE;
    a->in_insertion = 0;
    return a->result;
}

static enum load_result end_insertion(struct attempt *a)
{
    if (a->is_open)
        a->result = load_http_end(a->http);
    a->is_open = false;
    return a->result;
}

/* Of posixtrace_native_write(): -1 after an error of the client. */
static int on_block(void *context, const struct posixtrace_native_block *block)
{
    struct attempt *a = context;

    if (!a->is_open && begin_insertion(a) != LOAD_DONE)
        return -1;
    a->result = load_http_send(a->http, block->pieces, block->count);
    if (a->result != LOAD_DONE) {
        a->is_open = false;
        return -1;
    }
    a->in_insertion += block->rows;
    a->counts[a->table] += block->rows;
    *a->rows += block->rows;
    if (a->in_insertion >= INSERTION_ROWS && end_insertion(a) != LOAD_DONE)
        return -1;
    return 0;
}

static enum load_result log_failed(struct attempt *a, int error)
{
    a->of_log = true;
    return load_http_fail(a->http, LOAD_FAILED, "the log cannot be read: %s", strerror(error));
}

static enum load_result send_table(struct attempt *a, unsigned table)
{
    struct posixtrace_native_options options = { .attempt = a->attempt,
                                                 .loaded = a->loaded,
                                                 .tables = a->tables };
    posixtrace_native_t *native = NULL;
    int error = posixtrace_native_create(a->log.trid, table, &options, sizeof options, &native);

    if (error)
        return log_failed(a, error);
    a->table = table;
    a->result = LOAD_DONE;
    if (table == POSIXTRACE_TABLE_EVENTS)
        a->result = load_schema_fields(a->http, &a->place, native);
    if (a->result == LOAD_DONE) {
        a->left_out += posixtrace_native_left_out(native);
        error = posixtrace_native_write(native, on_block, a);
        if (error > 0)
            a->result = log_failed(a, error);
        else if (error == 0)
            end_insertion(a);
    }
    posixtrace_native_free(native);
    return a->result;
}

/* ---- what the server has ---- */

static void put_key(struct load_sql *s, const struct attempt *a)
{
    load_sql_put(s, " WHERE log = ");
    load_sql_text(s, a->id);
    load_sql_put(s, " AND piece = %" PRIu32, a->log.info.piece);
}

/* A line of numbers.  *found is false: there is no line. */
static enum load_result ask(struct attempt *a, char *sql, uint64_t *to, size_t count, bool *found)
{
    const char *answer;
    enum load_result r = load_http_query(a->http, sql, &answer);
    char *end = NULL;

    free(sql);
    if (r != LOAD_DONE)
        return r;
    *found = answer[0] != '\0';
    for (size_t i = 0; *found && i < count; i++) {
        to[i] = strtoull(answer, &end, 10);
        if (end == answer || *end != (i + 1 < count ? '\t' : '\n'))
            return load_http_fail(a->http, LOAD_FAILED,
                                  "the answer to a question about numbers has none; is this a "
                                  "ClickHouse server?");
        answer = end + 1;
    }
    return LOAD_DONE;
}

enum { ATTEMPT, EVENTS, BEGIN_TIME, END_TIME, CLOCK_LEAST, CLOCK_MOST, COMMITTED };

/* The ends of the clock's error, where they are not known: no end can be that. */
enum { NO_LEAST = 1, NO_MOST = -1 };

/* The committed attempt of the greatest number, 0: there is none; its events, the times of the
 * first and the last of them, 0: an earlier version has loaded it, and the error of the clock. */
static enum load_result find_committed(struct attempt *a, uint64_t committed[COMMITTED])
{
    struct load_sql s;
    bool found;

    load_sql_begin(&s);
    load_sql_put(&s,
                 "SELECT attempt, events, ifNull(begin_time, 0), ifNull(end_time, 0), "
                 "ifNull(clock_least, %d), ifNull(clock_most, %d) FROM ",
                 NO_LEAST, NO_MOST);
    load_sql_table(&s, a->place.database, "loads");
    put_key(&s, a);
    load_sql_put(&s, " ORDER BY attempt DESC LIMIT 1 FORMAT TabSeparated");
    memset(committed, 0, COMMITTED * sizeof *committed);
    return ask(a, load_sql_end(&s), committed, COMMITTED, &found);
}

/* Has the server all rows of a table? */
static enum load_result check_table(struct attempt *a, unsigned table)
{
    const char *name = posixtrace_table_name(table);
    char rows[40];
    uint64_t count = 0;
    enum load_result r;
    struct load_sql s;
    bool found;

    snprintf(rows, sizeof rows, "%s_rows", name);
    load_sql_begin(&s);
    load_sql_put(&s, "SELECT count() FROM ");
    load_sql_table(&s, a->place.database, rows);
    put_key(&s, a);
    load_sql_put(&s, " AND attempt = %" PRIu64 " FORMAT TabSeparated", a->attempt);
    r = ask(a, load_sql_end(&s), &count, 1, &found);
    if (r == LOAD_DONE && count != a->counts[table])
        r = load_http_fail(a->http, LOAD_AGAIN,
                           "%" PRIu64 " rows of %s were sent, and the server has %" PRIu64,
                           a->counts[table], name, count);
    return r;
}

static void put_end(struct load_sql *s, int64_t ns, int64_t none)
{
    if (ns == none)
        load_sql_put(s, ", NULL");
    else
        load_sql_put(s, ", %" PRId64, ns);
}

static enum load_result commit(struct attempt *a)
{
    enum load_result r;
    struct load_sql s;
    char *sql;

    load_sql_begin(&s);
    load_sql_put(&s, "INSERT INTO ");
    load_sql_table(&s, a->place.database, "loads");
    load_sql_put(&s, " (log, piece, attempt, loaded, events, measurements, gaps, begin_time, "
                     "end_time, clock_least, clock_most, posixtrace) VALUES (");
    load_sql_text(&s, a->id);
    load_sql_put(&s, ", %" PRIu32 ", %" PRIu64 ", %" PRIu32, a->log.info.piece, a->attempt,
                 a->loaded);
    for (unsigned table = 0; table < POSIXTRACE_TABLES; table++)
        load_sql_put(&s, ", %" PRIu64, a->counts[table]);
    load_sql_put(&s, ", %" PRId64 ", %" PRId64, a->log.info.first_ns, a->log.info.last_ns);
    put_end(&s, a->clock.least_ns, NO_LEAST);
    put_end(&s, a->clock.most_ns, NO_MOST);
    load_sql_put(&s, ", '" POSIXTRACE_VERSION "')");
    sql = load_sql_end(&s);
    r = load_http_query(a->http, sql, NULL);
    free(sql);
    return r;
}

/* ---- attempts ---- */

static void report_loaded(const struct attempt *a)
{
    out_format("%s: loaded %s events, %s measurements, %s gaps\n", a->log.shown,
               units_count(a->counts[POSIXTRACE_TABLE_EVENTS]),
               units_count(a->counts[POSIXTRACE_TABLE_MEASUREMENTS]),
               units_count(a->counts[POSIXTRACE_TABLE_GAPS]));
    if (a->left_out)
        tool_note("%s: %zu fields have no column, since there are too many: the column data has "
                  "them",
                  a->log.shown, a->left_out);
}

static bool has_other_clock(const struct attempt *a, const uint64_t committed[COMMITTED])
{
    return (committed[BEGIN_TIME] || committed[END_TIME]) &&
           (committed[BEGIN_TIME] != (uint64_t)a->log.info.first_ns ||
            committed[END_TIME] != (uint64_t)a->log.info.last_ns ||
            committed[CLOCK_LEAST] != (uint64_t)a->clock.least_ns ||
            committed[CLOCK_MOST] != (uint64_t)a->clock.most_ns);
}

static enum load_result report_there(struct attempt *a, const uint64_t committed[COMMITTED])
{
    a->of_log = true;
    if (committed[EVENTS] != a->log.info.events)
        return load_http_fail(a->http, LOAD_FAILED,
                              "it is loaded with %s events, and has %s now; --replace loads it "
                              "again",
                              units_count(committed[EVENTS]), units_count(a->log.info.events));
    if (has_other_clock(a, committed))
        return load_http_fail(a->http, LOAD_FAILED,
                              "it is loaded with the times of another clock; --replace loads it "
                              "again");
    if (!a->target->options->follow)
        out_format("%s: is loaded already, %s events\n", a->log.shown,
                   units_count(committed[EVENTS]));
    return LOAD_DONE;
}

static enum load_result send_tables(struct attempt *a)
{
    struct posixtrace_tables_options options = { .host = a->target->options->host,
                                                 .clocks = sync_option_clocks() };
    int error = posixtrace_tables_create(a->log.trid, &options, sizeof options, &a->tables);
    enum load_result r = error ? log_failed(a, error) : LOAD_DONE;

    for (unsigned table = 0; r == LOAD_DONE && table < POSIXTRACE_TABLES; table++) {
        r = send_table(a, table);
        if (r == LOAD_DONE)
            r = check_table(a, table);
    }
    posixtrace_tables_free(a->tables);
    a->tables = NULL;
    return r;
}

static enum load_result load_once(struct attempt *a, bool replace)
{
    uint64_t committed[COMMITTED];
    enum load_result r = find_committed(a, committed);
    uint64_t generation = committed[ATTEMPT] >> RANDOM_BITS;

    if (r != LOAD_DONE)
        return r;
    if (committed[ATTEMPT] && !replace)
        return report_there(a, committed);
    if (committed[ATTEMPT] && ++generation > GENERATIONS) {
        a->of_log = true;
        return load_http_fail(a->http, LOAD_FAILED, "it was replaced %d times, which is the most",
                              GENERATIONS);
    }
    a->attempt = generation << RANDOM_BITS | load_random() >> (64 - RANDOM_BITS);
    a->loaded = (uint32_t)time(NULL);
    memset(a->counts, 0, sizeof a->counts);
    *a->rows = 0;
    a->left_out = 0;
    r = send_tables(a);
    if (r == LOAD_DONE)
        r = commit(a);
    if (r == LOAD_DONE)
        report_loaded(a);
    return r;
}

static void pause_before(unsigned attempts)
{
    struct timespec t = { attempts < 5 ? 1 << attempts : PAUSE_MAX_S, 0 };

    if (attempts == 0)
        t = (struct timespec){ 0, 200000000 };
    nanosleep(&t, NULL);
}

/* The caller of --follow tries again. */
static int give_up(const struct attempt *a, enum load_result r)
{
    bool follow = a->target->options->follow;

    tool_error("%s: %s%s", a->log.shown, load_http_error(a->http),
               r == LOAD_AGAIN && !follow ? "; nothing of it is to be seen there, load it again"
                                          : "");
    return follow && !a->of_log ? LOAD_NO_SERVER : EXIT_FAILED;
}

static int load_until_done(struct attempt *a)
{
    const struct load_options *o = a->target->options;
    unsigned tries = o->follow ? 1 : o->tries;

    for (unsigned n = 0;; n++) {
        enum load_result r = load_once(a, o->replace);

        if (r == LOAD_DONE)
            return EXIT_DONE;
        if (r == LOAD_FAILED || n + 1 >= tries)
            return give_up(a, r);
        tool_note("%s: %s; attempt %u of %u follows", a->log.shown, load_http_error(a->http), n + 2,
                  tries);
        pause_before(n);
    }
}

/* Has a log that ends without an end mark been completed?  posixtrace recover does that also where
 * it does not find the writer's memory; a copy that was cut is not complete. */
static bool has_end(const struct log_file *log)
{
    struct posixtrace_log_report report;

    return log->info.end != POSIXTRACE_END_CUT ||
           (posixtrace_log_check(log->fd, NULL, NULL, &report, sizeof report) == 0 &&
            report.complete);
}

/* A log that is still written, or whose last events are elsewhere, has other rows later. */
static int check_end(const struct log_file *log)
{
    if (log->info.end == POSIXTRACE_END_ACTIVE) {
        tool_error("%s: it is still being written, and rows of it would be missing for good: load "
                   "it when its recording has ended",
                   log->shown);
        return LOAD_UNFINISHED;
    }
    if (!log->seekable)
        return tool_error("%s: it is a pipe, which cannot be read again for another attempt; load "
                          "a file",
                          log->shown);
    if (log->info.end == POSIXTRACE_END_TAIL)
        return tool_error("%s: its writer died, and its last events are not in the file; first: "
                          "posixtrace recover %s",
                          log->shown, quote_word(log->path));
    if (!has_end(log))
        return tool_error("%s: it is cut: copy it again; if it cannot be had whole: posixtrace "
                          "recover %s",
                          log->shown, quote_word(log->path));
    return EXIT_DONE;
}

static struct load_place place_of(const struct load_target *t)
{
    return (struct load_place){ .database = t->database,
                                .cluster = t->options->cluster,
                                .replicated = t->options->replicated };
}

/* As posixtrace_tables_create() finds it. */
static void find_clock(struct attempt *a)
{
    const posixtrace_sync_t *clocks = sync_option_clocks();
    const struct posixtrace_info *info = &a->log.info;
    struct posixtrace_interval *e = &a->clock;
    size_t index;

    *e = (struct posixtrace_interval){ NO_LEAST, NO_MOST };
    if (!clocks || info->events == 0 || posixtrace_sync_find(clocks, a->log.trid, &index) != 0)
        return;
    posixtrace_sync_error_within(clocks, index, info->first_ns, info->last_ns, e);
    e->least_ns = e->least_ns == INT64_MIN ? NO_LEAST : e->least_ns;
    e->most_ns = e->most_ns == INT64_MAX ? NO_MOST : e->most_ns;
}

/* As far as the header says, and the lock of its writer: opening a log without an end reads all of
 * it, and --follow asks again and again. */
static bool is_being_written(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct posixtrace_piece piece;
    bool is = fd >= 0 && posixtrace_log_piece(fd, &piece, sizeof piece) == 0 && !piece.complete &&
              log_file_is_locked(fd);

    if (fd >= 0)
        close(fd);
    return is;
}

int load_log(const struct load_target *t, const char *path, volatile uint64_t *rows)
{
    struct attempt a = { .target = t, .rows = rows, .place = place_of(t) };
    int status;

    if (t->options->follow && is_being_written(path))
        return LOAD_UNFINISHED;
    status = log_file_open(&a.log, path);
    if (status != EXIT_DONE)
        return status;
    status = check_end(&a.log);
    if (status == LOAD_UNFINISHED && !t->options->follow)
        status = EXIT_FAILED;
    for (size_t i = 0; i < sizeof a.log.info.id; i++)
        snprintf(a.id + 2 * i, 3, "%02x", a.log.info.id[i]);
    find_clock(&a);
    if (status == EXIT_DONE) {
        a.http = load_http_open(t);
        status = a.http ? load_until_done(&a) : EXIT_FAILED;
        load_http_close(a.http);
    }
    log_file_close(&a.log);
    return status;
}

int load_prepare(const struct load_target *t)
{
    struct load_place place = place_of(t);
    struct load_http *h = load_http_open(t);
    int status = EXIT_DONE;

    if (!h)
        return EXIT_FAILED;
    if (load_schema_make(h, &place) != LOAD_DONE)
        status = tool_error("%s: %s", quote(t->options->to), load_http_error(h));
    load_http_close(h);
    return status;
}
