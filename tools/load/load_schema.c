/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The statements that make tables and views.
 *
 * TABLE_rows has the rows of all attempts, and loads those that are committed.  With a cluster both
 * are of the engine Distributed, over TABLE_shard and loads_shard.
 */
#include "load/load_schema.h"

#include <stdlib.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "load/load_sql.h"
#include "load/load_tables.h"

static const struct load_fixed loads[] = { { "log", "String" },
                                           { "piece", "Int64" },
                                           { "attempt", "UInt64" },
                                           { "loaded", "DateTime" },
                                           { "events", "UInt64" },
                                           { "measurements", "UInt64" },
                                           { "gaps", "UInt64" },
                                           { "begin_time", "Nullable(Int64)" },
                                           { "end_time", "Nullable(Int64)" },
                                           { "clock_least", "Nullable(Int64)" },
                                           { "clock_most", "Nullable(Int64)" },
                                           { "posixtrace", "String" } };

size_t load_fixed_columns(unsigned table, struct load_fixed to[LOAD_FIXED_MAX])
{
    const struct posixtrace_column *c;
    size_t count = 0;

    if (table == LOAD_LOADS) {
        memcpy(to, loads, sizeof loads);
        return sizeof loads / sizeof loads[0];
    }
    to[count++] = (struct load_fixed){ "attempt", "UInt64" };
    to[count++] = (struct load_fixed){ "loaded", "DateTime" };
    for (size_t i = 0; count < LOAD_FIXED_MAX && (c = posixtrace_table_column(table, i)); i++)
        to[count++] = (struct load_fixed){ c->name, posixtrace_native_type(c) };
    return count;
}

const char *load_table_name(unsigned table, const char *suffix, char to[LOAD_TABLE_NAME])
{
    if (table == LOAD_LOADS)
        snprintf(to, LOAD_TABLE_NAME, "loads%s", strcmp(suffix, "_rows") == 0 ? "" : suffix);
    else
        snprintf(to, LOAD_TABLE_NAME, "%s%s", posixtrace_table_name(table), suffix);
    return to;
}

void load_put_cluster(struct load_sql *s, const struct load_place *p)
{
    if (!p->cluster)
        return;
    load_sql_put(s, " ON CLUSTER ");
    load_sql_name(s, p->cluster);
}

static void put_columns(struct load_sql *s, unsigned table)
{
    struct load_fixed columns[LOAD_FIXED_MAX];
    size_t count = load_fixed_columns(table, columns);

    for (size_t i = 0; i < count; i++) {
        load_sql_put(s, "%s\n    ", i ? "," : "");
        load_sql_name(s, columns[i].name);
        load_sql_put(s, " %s", columns[i].type);
    }
}

/* A part of a path in ZooKeeper. */
static void put_path_part(struct load_sql *s, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        load_sql_put(s, word || c == '_' ? "%c" : "%%%02X", c);
    }
}

static void put_engine(struct load_sql *s, const struct load_place *p, unsigned table)
{
    char name[LOAD_TABLE_NAME];

    if (p->replicated) {
        load_sql_put(s, "ReplicatedMergeTree('/clickhouse/tables/{shard}/");
        put_path_part(s, p->database);
        load_sql_put(s, "/%s', '{replica}')", load_table_name(table, "_shard", name));
    } else {
        load_sql_put(s, "MergeTree()");
    }
    load_sql_put(s, "\nPARTITION BY toYYYYMM(loaded)\nORDER BY (log, piece, %s)",
                 table == LOAD_LOADS                ? "attempt"
                 : table == POSIXTRACE_TABLE_EVENTS ? "time, position"
                                                    : "position");
}

static void begin_table(struct load_sql *s, const struct load_place *p, unsigned table,
                        const char *suffix)
{
    char name[LOAD_TABLE_NAME];

    load_sql_begin(s);
    load_sql_put(s, "CREATE TABLE IF NOT EXISTS ");
    load_sql_table(s, p->database, load_table_name(table, suffix, name));
    load_put_cluster(s, p);
    load_sql_put(s, "\n(");
    put_columns(s, table);
    load_sql_put(s, "\n)\nENGINE = ");
}

char *load_create_table(const struct load_place *p, unsigned table)
{
    struct load_sql s;

    begin_table(&s, p, table, p->cluster ? "_shard" : "_rows");
    put_engine(&s, p, table);
    return load_sql_end(&s);
}

/* All rows of a log go to one server, and its row of loads. */
char *load_create_distributed(const struct load_place *p, unsigned table)
{
    char name[LOAD_TABLE_NAME];
    struct load_sql s;

    begin_table(&s, p, table, "_rows");
    load_sql_put(&s, "Distributed(");
    load_sql_text(&s, p->cluster);
    load_sql_put(&s, ", ");
    load_sql_text(&s, p->database);
    load_sql_put(&s, ", '%s', cityHash64(log, piece))", load_table_name(table, "_shard", name));
    return load_sql_end(&s);
}

/* columns: of the table; NULL: those that all logs have. */
char *load_create_view(const struct load_place *p, unsigned table, const char *view,
                       const struct load_columns *columns)
{
    struct load_fixed fixed[LOAD_FIXED_MAX];
    size_t count = columns ? columns->count : load_fixed_columns(table, fixed), put = 0;
    char name[LOAD_TABLE_NAME];
    struct load_sql s;

    load_sql_begin(&s);
    load_sql_put(&s, "CREATE VIEW IF NOT EXISTS ");
    load_sql_table(&s, p->database, view);
    load_put_cluster(&s, p);
    load_sql_put(&s, " AS\nSELECT");
    for (size_t i = 0; i < count; i++) {
        const char *column = columns ? columns->at[i].name : fixed[i].name;

        if (strcmp(column, "attempt") == 0 || strcmp(column, "loaded") == 0)
            continue;
        load_sql_put(&s, "%s\n    ", put++ ? "," : "");
        load_sql_name(&s, column);
    }
    load_sql_put(&s, "\nFROM ");
    load_sql_table(&s, p->database, load_table_name(table, "_rows", name));
    load_sql_put(&s, "\nWHERE attempt %sIN (SELECT max(attempt) FROM ",
                 p->cluster || p->is_distributed ? "GLOBAL " : "");
    load_sql_table(&s, p->database, "loads");
    load_sql_put(&s, " GROUP BY log, piece)");
    return load_sql_end(&s);
}

static void print_statement(char *sql)
{
    out_text(sql);
    out_text(";\n\n");
    free(sql);
}

void load_schema_print(const struct load_place *p)
{
    for (unsigned table = 0; table <= LOAD_LOADS; table++) {
        print_statement(load_create_table(p, table));
        if (p->cluster)
            print_statement(load_create_distributed(p, table));
    }
    for (unsigned table = 0; table < POSIXTRACE_TABLES; table++)
        print_statement(load_create_view(p, table, posixtrace_table_name(table), NULL));
}
