/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See convert.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/utf8.h"
#include "convert/convert.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"

enum { FORMATS_MAX = 32, ABOUT_COLUMN = 13, OPTION_COLUMN = 15 };

/* What a format says, with names out of traces in it, so that nothing steers a terminal:
 * as quote(), without quotes.  To be freed. */
static char *harmless(const char *text)
{
    char *shown = tool_grow(NULL, strlen(text) + 1, UTF8_MAX_ESCAPE), *to = shown;
    size_t left = strlen(text), took;
    enum utf8_style style = utf8_is_safe(STDERR_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;

    for (; left > 0; text += took, left -= took) {
        took = 1;
        if (*text == '\\')
            *to++ = *text;
        else
            took = utf8_show_one(&to, (const uint8_t *)text, left, style);
    }
    *to = '\0';
    return shown;
}

static void note(void *context, const char *text)
{
    char *shown = harmless(text);

    (void)context;
    tool_note("%s", shown);
    free(shown);
}

static int progress(void *context, uint64_t events)
{
    (void)context;
    progress_at(events);
    return 0;
}

static bool has_spec(const struct convert *convert, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(convert->specs[i].name, name) == 0)
            return true;
    }
    return false;
}

int convert_init(struct convert *convert, const struct option_spec *own)
{
    const struct posixtrace_format *f;
    size_t count = 0;

    memset(convert, 0, sizeof *convert);
    for (; own->name; own++)
        convert->specs[count++] = *own;
    for (size_t i = 0; (f = posixtrace_format_get(i)); i++) {
        const struct posixtrace_format_option *o = f->options;

        for (; o && o->name; o++) {
            if (!has_spec(convert, count, o->name)) {
                if (count == CONVERT_OPTIONS - 1)
                    return tool_error("the formats have more than %d options; --%s is one more",
                                      CONVERT_OPTIONS - 1, o->name);
                convert->specs[count] = (struct option_spec){ o->name, true,
                                                              CONVERT_OPTION + (int)count };
                count++;
            }
        }
    }
    convert->c.note = note;
    convert->c.progress = progress;
    return EXIT_DONE;
}

void convert_deinit(struct convert *convert)
{
    while (convert->word_count)
        free(convert->words[--convert->word_count]);
}

static int add_word(struct convert *convert, const char *name, const char *value)
{
    char *word;

    if (convert->word_count == CONVERT_WORDS)
        return tool_usage("more than %d options of formats", CONVERT_WORDS);
    word = tool_grow(NULL, strlen(name) + strlen(value) + 2, 1);
    stpcpy(stpcpy(stpcpy(word, name), "="), value);
    convert->words[convert->word_count++] = word;
    convert->c.options = (const char *const *)convert->words;
    return EXIT_DONE;
}

int convert_take_option(struct convert *convert, int code, const char *value)
{
    return add_word(convert, convert->specs[code - CONVERT_OPTION].name, value);
}

/* The value of an option that was given, from word number *i on; NULL: there is none. */
static const char *given(const struct convert *convert, const char *name, size_t *i)
{
    size_t length = strlen(name);

    while (*i < convert->word_count) {
        const char *word = convert->words[(*i)++];

        if (strncmp(word, name, length) == 0 && word[length] == '=')
            return word + length + 1;
    }
    return NULL;
}

int convert_set_option(struct convert *convert, const char *name, const char *value)
{
    const char *other;

    for (size_t i = 0; (other = given(convert, name, &i));)
        if (strcmp(other, value) != 0)
            return tool_usage("--%s: %s=%s is needed here", quote(convert->words[i - 1]), name,
                              value);
    return add_word(convert, name, value);
}

int convert_default_option(struct convert *convert, const char *name, const char *value)
{
    size_t i = 0;

    return given(convert, name, &i) ? EXIT_DONE : add_word(convert, name, value);
}

int convert_replace_option(struct convert *convert, const char *name, const char *value)
{
    size_t i = 0, count = convert->word_count;
    int status;

    if (convert->replaced == 0 && given(convert, name, &i))
        return EXIT_DONE;
    if (convert->replaced > 0) {
        convert->word_count = convert->replaced - 1;
        free(convert->words[convert->word_count]);
    }
    status = add_word(convert, name, value);
    convert->replaced = convert->word_count;
    if (convert->word_count < count)
        convert->word_count = count;
    return status;
}

static bool does(const struct posixtrace_format *f, bool export)
{
    return export ? f->exports : f->imports;
}

int convert_set_output(const char **path, const char *placed, const char *operands,
                       const char *value)
{
    if (placed)
        return tool_usage("%s: %s and -o %s", operands, quote(placed), quote(value));
    *path = value;
    return EXIT_DONE;
}

const struct posixtrace_format *convert_format(const char *name, bool export, int *status)
{
    const struct posixtrace_format *f = posixtrace_format_find(name), *g;
    const char *names[FORMATS_MAX + 1] = { NULL };
    size_t count = 0;

    if (!f || (!does(f, export) && !f->unavailable)) {
        for (size_t i = 0; (g = posixtrace_format_get(i)); i++) {
            if (does(g, export) && count < FORMATS_MAX)
                names[count++] = g->name;
        }
        *status = options_bad_word(export ? "output format" : "input format", name, names);
        return NULL;
    }
    if (does(f, export))
        return f;
    *status = tool_error("format %s: %s", name, f->unavailable);
    return NULL;
}

bool convert_has_option(const struct posixtrace_format *f, const char *word)
{
    size_t length = strcspn(word, "=");

    for (const struct posixtrace_format_option *o = f->options; o && o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, word, length) == 0)
            return true;
    }
    return false;
}

int convert_check_options(const struct convert *convert, const struct posixtrace_format *format)
{
    for (size_t i = 0; i < convert->word_count; i++) {
        const char *word = convert->words[i];

        if (!convert_has_option(format, word))
            return tool_usage("format %s has no option '--%.*s'; --list names them", format->name,
                              (int)strcspn(word, "="), word);
    }
    return EXIT_DONE;
}

void convert_list(bool export)
{
    const struct posixtrace_format *f;
    char text[400];

    for (size_t i = 0; (f = posixtrace_format_get(i)); i++) {
        const struct posixtrace_format_option *o = f->options;
        const char *why = does(f, export) ? NULL : f->unavailable;

        if (!does(f, export) && !why)
            continue;
        out_format("%-12s ", f->name);
        snprintf(text, sizeof text, "%s%s%s", f->about, why ? "; not here: " : "", why ? why : "");
        out_wrapped(text, ABOUT_COLUMN, ABOUT_COLUMN);
        for (; o && o->name; o++) {
            snprintf(text, sizeof text, "--%s: %s", o->name, o->about);
            out_spaces(OPTION_COLUMN);
            out_wrapped(text, OPTION_COLUMN, OPTION_COLUMN + 2);
        }
    }
}

int convert_report(struct convert *convert, int error, const char *input)
{
    const struct posixtrace_conversion *c = &convert->c;

    if (error) {
        char *shown = harmless(c->error[0] ? c->error : strerror(error));
        int status = tool_error("%s: %s", input, shown);

        free(shown);
        return status;
    }
    if (c->left_out)
        tool_note("%s: %" PRIu64 " event%s could not be carried over", input, c->left_out,
                  c->left_out == 1 ? "" : "s");
    return EXIT_DONE;
}
