/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Statements.  Names and texts get into one only through load_sql_name() and load_sql_text(): names
 * of events and fields are any bytes that a traced program has chosen.
 */
#ifndef LOAD_SQL_H
#define LOAD_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A statement under construction. */
struct load_sql {
    FILE *to;
    char *text;
    size_t length;
};

void load_sql_begin(struct load_sql *s);
__attribute__((format(printf, 2, 3))) void load_sql_put(struct load_sql *s, const char *format,
                                                        ...);
/* In back quotes. */
void load_sql_name(struct load_sql *s, const char *name);
/* `database`.`table` */
void load_sql_table(struct load_sql *s, const char *database, const char *table);
/* In quotes. */
void load_sql_text(struct load_sql *s, const char *text);
/* The statement, to be freed. */
char *load_sql_end(struct load_sql *s);

/* The next field of an answer in the format TabSeparated, without its escapes, in place; *more: the
 * rest.  *last: it is the last of its line.  NULL: there is none that is whole. */
char *load_tsv_next(char **more, bool *last);

#endif
