/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Makes the tables, views and columns that a database lacks.  Other loaders do the same at the same
 * time: each step reads what there is, changes it, and is repeated until nothing is missing.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/tool.h"
#include "load/load_tables.h"

enum { ROUNDS = 20 };
enum {
    COLUMN_EXISTS = 44,
    COLUMN_EXISTS_NEWER = 15,
    TABLE_EXISTS = 57,
    NO_TABLE = 60,
    NO_DATABASE = 81
};

void load_columns_free(struct load_columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->at[i].name);
        free(c->at[i].type);
    }
    free(c->at);
    *c = (struct load_columns){ .at = NULL };
}

const struct load_column *load_columns_find(const struct load_columns *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->at[i].name, name) == 0)
            return &c->at[i];
    return NULL;
}

static char *copy(const char *text)
{
    return strcpy(tool_grow(NULL, strlen(text) + 1, 1), text);
}

static void add_column(struct load_columns *c, const char *name, const char *type)
{
    if (c->count == c->room) {
        c->room = 2 * c->room + 64;
        c->at = tool_grow(c->at, c->room, sizeof *c->at);
    }
    c->at[c->count++] = (struct load_column){ copy(name), copy(type) };
}

static enum load_result parse_columns(struct load_http *h, char *text, struct load_columns *c)
{
    bool last = true;

    while (*text) {
        char *name = load_tsv_next(&text, &last), *type = NULL;

        if (name && !last)
            type = load_tsv_next(&text, &last);
        if (!type || !last)
            return load_http_fail(h, LOAD_FAILED,
                                  "the answer about columns is not a table of them");
        add_column(c, name, type);
    }
    return LOAD_DONE;
}

/* The columns of a table or view; none: it is not there. */
static enum load_result read_columns(struct load_http *h, const struct load_place *p,
                                     const char *table, struct load_columns *c)
{
    struct load_sql s;
    enum load_result r;
    const char *answer;
    char *sql, *text;

    load_columns_free(c);
    load_sql_begin(&s);
    load_sql_put(&s, "SELECT name, type FROM system.columns WHERE database = ");
    load_sql_text(&s, p->database);
    load_sql_put(&s, " AND table = ");
    load_sql_text(&s, table);
    load_sql_put(&s, " FORMAT TabSeparated");
    sql = load_sql_end(&s);
    r = load_http_query(h, sql, &answer);
    free(sql);
    if (r != LOAD_DONE)
        return r;
    text = copy(answer);
    r = parse_columns(h, text, c);
    free(text);
    return r;
}

/* Runs a statement, and frees it. */
static enum load_result execute(struct load_http *h, char *sql)
{
    enum load_result r = load_http_query(h, sql, NULL);

    free(sql);
    return r;
}

/* ---- columns ---- */

static char *add_columns(const struct load_place *p, const char *table, bool on_cluster,
                         const struct load_columns *missing)
{
    struct load_sql s;

    load_sql_begin(&s);
    load_sql_put(&s, "ALTER TABLE ");
    load_sql_table(&s, p->database, table);
    if (on_cluster)
        load_put_cluster(&s, p);
    for (size_t i = 0; i < missing->count; i++) {
        load_sql_put(&s, "%s ADD COLUMN ", i ? "," : "");
        load_sql_name(&s, missing->at[i].name);
        load_sql_put(&s, " %s", missing->at[i].type);
    }
    return load_sql_end(&s);
}

/* The engine changes Distributed tables on one server at a time: the others get the column when a
 * loader uses them.  LOAD_DONE also where another loader was faster: the caller reads the columns
 * again. */
static enum load_result add_missing(struct load_http *h, const struct load_place *p, unsigned table,
                                    const struct load_columns *missing)
{
    char name[LOAD_TABLE_NAME];
    enum load_result r = LOAD_DONE;

    for (int shard = p->cluster ? 1 : 0; r == LOAD_DONE && shard >= 0; shard--) {
        load_table_name(table, shard ? "_shard" : "_rows", name);
        r = execute(h, add_columns(p, name, shard, missing));
        if (r == LOAD_FAILED &&
            (load_http_code(h) == COLUMN_EXISTS || load_http_code(h) == COLUMN_EXISTS_NEWER))
            r = LOAD_DONE;
    }
    return r;
}

/* ---- views ---- */

static bool shows_all(const struct load_columns *view, const struct load_columns *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->at[i].name;

        if (strcmp(name, "attempt") != 0 && strcmp(name, "loaded") != 0 &&
            !load_columns_find(view, name))
            return false;
    }
    return true;
}

/* The new view takes the name of the old one in one step, so that there is always one. */
static enum load_result exchange(struct load_http *h, const struct load_place *p, unsigned table,
                                 const struct load_columns *columns)
{
    const char *view = posixtrace_table_name(table);
    char fresh[LOAD_TABLE_NAME], old[LOAD_TABLE_NAME];
    uint64_t number = load_random();
    struct load_place here = { .database = p->database, .is_distributed = p->cluster };
    struct load_sql s;
    enum load_result r;

    snprintf(fresh, sizeof fresh, "%s_new_%016" PRIx64, view, number);
    snprintf(old, sizeof old, "%s_old_%016" PRIx64, view, number);
    r = execute(h, load_create_view(&here, table, fresh, columns));
    if (r != LOAD_DONE)
        return r;
    load_sql_begin(&s);
    load_sql_put(&s, "RENAME TABLE ");
    load_sql_table(&s, p->database, view);
    load_sql_put(&s, " TO ");
    load_sql_table(&s, p->database, old);
    load_sql_put(&s, ", ");
    load_sql_table(&s, p->database, fresh);
    load_sql_put(&s, " TO ");
    load_sql_table(&s, p->database, view);
    r = execute(h, load_sql_end(&s));
    load_sql_begin(&s);
    load_sql_put(&s, "DROP TABLE IF EXISTS ");
    load_sql_table(&s, p->database, r == LOAD_DONE ? old : fresh);
    if (r == LOAD_DONE)
        return execute(h, load_sql_end(&s));
    free(load_sql_end(&s));
    return r;
}

static enum load_result make_view(struct load_http *h, const struct load_place *p, unsigned table)
{
    struct load_columns view = { .at = NULL }, columns = { .at = NULL };
    const char *name = posixtrace_table_name(table);
    char rows[LOAD_TABLE_NAME];
    enum load_result r = LOAD_DONE;

    load_table_name(table, "_rows", rows);
    for (unsigned round = 0; r == LOAD_DONE; round++) {
        r = read_columns(h, p, rows, &columns);
        if (r == LOAD_DONE)
            r = read_columns(h, p, name, &view);
        if (r != LOAD_DONE || shows_all(&view, &columns))
            break;
        if (round == ROUNDS)
            r = load_http_fail(h, LOAD_AGAIN, "other loaders change the view %s all the time",
                               name);
        else if (view.count == 0)
            r = execute(h, load_create_view(p, table, name, NULL));
        else
            r = exchange(h, p, table, &columns);
    }
    load_columns_free(&view);
    load_columns_free(&columns);
    return r;
}

/* ---- tables ---- */

static bool may_be_added(const char *type)
{
    return strncmp(type, "Nullable(", 9) == 0;
}

static enum load_result check_columns(struct load_http *h, const struct load_place *p,
                                      unsigned table, const struct load_columns *columns,
                                      struct load_columns *missing)
{
    struct load_fixed fixed[LOAD_FIXED_MAX];
    size_t count = load_fixed_columns(table, fixed);
    char name[LOAD_TABLE_NAME];

    load_table_name(table, "_rows", name);
    for (size_t i = 0; i < count; i++) {
        const struct load_column *c = load_columns_find(columns, fixed[i].name);

        if (c && strcmp(c->type, fixed[i].type) != 0)
            return load_http_fail(h, LOAD_FAILED,
                                  "table %s has a column %s of type %s, not %s: another program or "
                                  "version made it; load into another database than %s",
                                  name, fixed[i].name, unquoted(c->type), fixed[i].type,
                                  quote(p->database));
        if (!c && !may_be_added(fixed[i].type))
            return load_http_fail(h, LOAD_FAILED,
                                  "table %s has no column %s: another program or version made it; "
                                  "load into another database than %s",
                                  name, fixed[i].name, quote(p->database));
        if (!c)
            add_column(missing, fixed[i].name, fixed[i].type);
    }
    return LOAD_DONE;
}

/* A loader that used another server has added columns. */
static enum load_result follow_shard(struct load_http *h, const struct load_place *p,
                                     unsigned table)
{
    struct load_columns shard = { .at = NULL }, rows = { .at = NULL }, missing = { .at = NULL };
    char name[LOAD_TABLE_NAME];
    enum load_result r = read_columns(h, p, load_table_name(table, "_shard", name), &shard);

    if (r == LOAD_DONE)
        r = read_columns(h, p, load_table_name(table, "_rows", name), &rows);
    for (size_t i = 0; r == LOAD_DONE && i < shard.count; i++)
        if (!load_columns_find(&rows, shard.at[i].name))
            add_column(&missing, shard.at[i].name, shard.at[i].type);
    if (r == LOAD_DONE && missing.count)
        r = add_missing(h, p, table, &missing);
    load_columns_free(&shard);
    load_columns_free(&rows);
    load_columns_free(&missing);
    return r;
}

static enum load_result make_table(struct load_http *h, const struct load_place *p, unsigned table)
{
    struct load_columns columns = { .at = NULL }, missing = { .at = NULL };
    char name[LOAD_TABLE_NAME];
    enum load_result r = read_columns(h, p, load_table_name(table, "_rows", name), &columns);

    if (r == LOAD_DONE && columns.count == 0) {
        r = execute(h, load_create_table(p, table));
        if (r == LOAD_DONE && p->cluster)
            r = execute(h, load_create_distributed(p, table));
    } else if (r == LOAD_DONE) {
        r = check_columns(h, p, table, &columns, &missing);
        if (r == LOAD_DONE && missing.count)
            r = add_missing(h, p, table, &missing);
        if (r == LOAD_DONE && p->cluster)
            r = follow_shard(h, p, table);
    }
    load_columns_free(&columns);
    load_columns_free(&missing);
    return r;
}

static enum load_result no_database(struct load_http *h, const struct load_place *p)
{
    enum load_result r;
    struct load_sql s;
    char *name;

    load_sql_begin(&s);
    load_sql_name(&s, p->database);
    name = load_sql_end(&s);
    r = load_http_fail(h, LOAD_FAILED, "the server has no database %s; make it: CREATE DATABASE %s",
                       quote(p->database), name);
    free(name);
    return r;
}

enum load_result load_schema_make(struct load_http *h, const struct load_place *p)
{
    enum load_result r = LOAD_DONE;

    for (unsigned table = 0; r == LOAD_DONE && table <= LOAD_LOADS; table++)
        r = make_table(h, p, table);
    for (unsigned table = 0; r == LOAD_DONE && table < POSIXTRACE_TABLES; table++)
        r = make_view(h, p, table);
    return r == LOAD_FAILED && load_http_code(h) == NO_DATABASE ? no_database(h, p) : r;
}

/* ---- fields ---- */

/* "x.price#Float64", of Nullable(Float64). */
static char *other_name(const char *name, const char *type)
{
    const char *word = strchr(type, '(');
    char *text;

    if (asprintf(&text, "%s#%.*s", name, (int)strcspn(word + 1, ")"), word + 1) < 0) {
        tool_error("no memory");
        exit(EXIT_FAILED);
    }
    return text;
}

/* Compares a column of a field with those of the table. */
static int place_field(posixtrace_native_t *native, size_t i, const struct load_columns *columns,
                       struct load_columns *missing)
{
    const struct posixtrace_native_column *c = posixtrace_native_column(native, i);
    const struct load_column *there = load_columns_find(columns, c->name);
    int error = 0;

    if (there && strcmp(there->type, c->type) != 0) {
        char *name = other_name(c->name, c->type);

        error = posixtrace_native_rename(native, i, name);
        free(name);
        c = posixtrace_native_column(native, i);
        there = load_columns_find(columns, c->name);
    }
    if (error || (there && strcmp(there->type, c->type) == 0))
        return error;
    if (there || columns->count + missing->count >= LOAD_COLUMNS_MAX)
        return posixtrace_native_rename(native, i, NULL);
    add_column(missing, c->name, c->type);
    return 0;
}

enum load_result load_schema_fields(struct load_http *h, const struct load_place *p,
                                    posixtrace_native_t *native)
{
    struct load_columns columns = { .at = NULL }, missing = { .at = NULL };
    enum load_result r = LOAD_DONE;
    char name[LOAD_TABLE_NAME];

    load_table_name(POSIXTRACE_TABLE_EVENTS, "_rows", name);
    for (unsigned round = 0; r == LOAD_DONE; round++) {
        const struct posixtrace_native_column *c;

        load_columns_free(&missing);
        r = read_columns(h, p, name, &columns);
        for (size_t i = 0; r == LOAD_DONE && (c = posixtrace_native_column(native, i)); i++)
            if (c->is_field && place_field(native, i, &columns, &missing) != 0)
                r = load_http_fail(h, LOAD_FAILED, "no memory");
        if (r != LOAD_DONE || missing.count == 0)
            break;
        r = round == ROUNDS ? load_http_fail(h, LOAD_AGAIN, "columns of %s do not stay", name)
                            : add_missing(h, p, POSIXTRACE_TABLE_EVENTS, &missing);
    }
    load_columns_free(&columns);
    load_columns_free(&missing);
    return r == LOAD_DONE ? make_view(h, p, POSIXTRACE_TABLE_EVENTS) : r;
}
