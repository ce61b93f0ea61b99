/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The columns of posixtrace/tables.h, a line each: table, place, name, type, unit, about. */
#include <stdio.h>
#include <posixtrace/tables.h>

int main(void)
{
    static const char *const types[] = {
        "text", "bytes", "int32", "int64", "uint64", "time", "bool"
    };
    const struct posixtrace_column *c;
    const char *table;

    for (unsigned t = 0; (table = posixtrace_table_name(t)); t++)
        for (size_t i = 0; (c = posixtrace_table_column(t, i)); i++)
            printf("%s\t%zu\t%s\t%s%s\t%s\t%s\n", table, i, c->name, types[c->type],
                   c->optional ? "?" : "", c->unit, c->about);
    return 0;
}
