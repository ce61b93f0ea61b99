/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See load_sql.h. */
#include "load/load_sql.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

void load_sql_begin(struct load_sql *s)
{
    s->text = NULL;
    s->to = open_memstream(&s->text, &s->length);
    if (!s->to) {
        tool_error("no memory");
        exit(EXIT_FAILED);
    }
}

void load_sql_put(struct load_sql *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(s->to, format, args);
    va_end(args);
}

/* The engine reads the escapes of C in both kinds of quotes. */
static void put_quoted(struct load_sql *s, const char *text, char quote)
{
    putc(quote, s->to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            fprintf(s->to, "\\x%02X", c);
        else if (c == '\\' || c == '\'' || c == '`')
            fprintf(s->to, "\\%c", c);
        else
            putc(c, s->to);
    }
    putc(quote, s->to);
}

void load_sql_name(struct load_sql *s, const char *name)
{
    put_quoted(s, name, '`');
}

void load_sql_text(struct load_sql *s, const char *text)
{
    put_quoted(s, text, '\'');
}

void load_sql_table(struct load_sql *s, const char *database, const char *table)
{
    load_sql_name(s, database);
    putc('.', s->to);
    load_sql_name(s, table);
}

char *load_sql_end(struct load_sql *s)
{
    if (fclose(s->to) != 0 || !s->text) {
        tool_error("no memory");
        exit(EXIT_FAILED);
    }
    return s->text;
}

static char unescaped(char c)
{
    static const char from[] = "bfnrt0a", to[] = "\b\f\n\r\t\0\a";
    const char *at = strchr(from, c);

    return at && c ? to[at - from] : c;
}

char *load_tsv_next(char **more, bool *last)
{
    char *field = *more, *to = field, *at = field;

    for (; *at && *at != '\t' && *at != '\n'; at++) {
        if (*at == '\\' && at[1])
            *to++ = unescaped(*++at);
        else
            *to++ = *at;
    }
    if (!*at)
        return NULL;
    *last = *at == '\n';
    *more = at + 1;
    *to = '\0';
    return field;
}
