/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The statements that make tables and views. */
#ifndef LOAD_TABLES_H
#define LOAD_TABLES_H

#include "load/load_schema.h"
#include "load/load_sql.h"

/* The table of committed attempts, after those of posixtrace/tables.h. */
enum { LOAD_LOADS = POSIXTRACE_TABLES };
enum { LOAD_FIXED_MAX = 64, LOAD_TABLE_NAME = 80 };

struct load_fixed {
    const char *name, *type;
};

/* Columns that a table has whatever the logs; how many. */
size_t load_fixed_columns(unsigned table, struct load_fixed to[LOAD_FIXED_MAX]);
/* "events_rows"; to. */
const char *load_table_name(unsigned table, const char *suffix, char to[LOAD_TABLE_NAME]);
void load_put_cluster(struct load_sql *s, const struct load_place *p);

/* To be freed. */
char *load_create_table(const struct load_place *p, unsigned table);
char *load_create_distributed(const struct load_place *p, unsigned table);
/* columns: of the table; NULL: those that all logs have. */
char *load_create_view(const struct load_place *p, unsigned table, const char *view,
                       const struct load_columns *columns);

#endif
