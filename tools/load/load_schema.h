/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Tables and views: their statements, and how they come into a database. */
#ifndef LOAD_SCHEMA_H
#define LOAD_SCHEMA_H

#include "load/load_http.h"

/* A column that a table of the engine has. */
struct load_column {
    char *name, *type;
};

struct load_columns {
    struct load_column *at;
    size_t count, room;
};

void load_columns_free(struct load_columns *c);
/* NULL: it is not there. */
const struct load_column *load_columns_find(const struct load_columns *c, const char *name);

/* More are not added: each is a file of the engine, in each part of the table. */
enum { LOAD_COLUMNS_MAX = 1000 };

/* Where tables are made. */
struct load_place {
    const char *database;
    const char *cluster; /* NULL: one server */
    bool replicated;     /* the tables of a cluster are */
    bool is_distributed; /* the tables are those of a cluster, the statement is for one server */
};

/* Prints the statements that make all. */
void load_schema_print(const struct load_place *p);

/* Tables and views that are missing are made. */
enum load_result load_schema_make(struct load_http *h, const struct load_place *p);
/* The columns of the fields of a log: those that are missing are added, to the view also.  A column
 * whose name has another type in the table gets another name; where the table is full, none. */
enum load_result load_schema_fields(struct load_http *h, const struct load_place *p,
                                    posixtrace_native_t *native);

uint64_t load_random(void);

#endif
