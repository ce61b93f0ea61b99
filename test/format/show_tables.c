/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* show_tables LOG measurements|gaps [HOST [causes]]: the rows of that table, an object a line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/tables.h>

static unsigned table;

static void put_string(const char *s, size_t length)
{
    putchar('"');
    for (size_t i = 0; i < length; i++)
        printf(s[i] == '"' || s[i] == '\\'   ? "\\%c"
               : (unsigned char)s[i] < 0x20u ? "\\u%04x"
                                             : "%c",
               (unsigned char)s[i]);
    putchar('"');
}

static int put_row(void *context, const struct posixtrace_cell *cells)
{
    const struct posixtrace_column *c;

    (void)context;
    for (size_t i = 0; (c = posixtrace_table_column(table, i)); i++) {
        printf("%s\"%s\":", i ? "," : "{", c->name);
        if (cells[i].null && !c->optional) {
            fprintf(stderr, "null in column %s\n", c->name);
            return EPROTO;
        }
        if (cells[i].null)
            fputs("null", stdout);
        else if (c->type == POSIXTRACE_COLUMN_TEXT)
            put_string(cells[i].text, cells[i].length);
        else if (c->type == POSIXTRACE_COLUMN_BOOL)
            fputs(cells[i].number ? "true" : "false", stdout);
        else if (c->type == POSIXTRACE_COLUMN_UINT64)
            printf("%" PRIu64, (uint64_t)cells[i].number);
        else
            printf("%" PRIi64, cells[i].number);
    }
    puts("}");
    return 0;
}

int main(int argc, char **argv)
{
    struct posixtrace_tables_options options = { .host = argc > 3 ? argv[3] : NULL,
                                                 .causes = argc > 4 };
    posixtrace_tables_t *tables;
    trace_id_t trid;
    int fd, error;

    if (argc < 3)
        return 64;
    fd = open(argv[1], O_RDONLY);
    while (table < POSIXTRACE_TABLES && strcmp(posixtrace_table_name(table), argv[2]) != 0)
        table++;
    error = fd < 0 ? errno : posix_trace_open(fd, &trid);
    if (!error)
        error = posixtrace_tables_create(trid, &options, sizeof options, &tables);
    if (!error) {
        error = posixtrace_tables_rows(tables, table, put_row, NULL);
        posixtrace_tables_free(tables);
        posix_trace_close(trid);
    }
    if (error)
        fprintf(stderr, "%s: %s\n", argv[1], strerror(error));
    close(fd);
    return error != 0;
}
