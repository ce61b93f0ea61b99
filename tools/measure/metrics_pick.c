/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_pick.h.
 */
#include "measure/metrics_pick.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/log_file.h"
#include "common/options.h"
#include "common/tool.h"

/* ---- sets ---- */

int metrics_text_load(const char *path, char **text, size_t *length)
{
    int fd = log_file_descriptor(path, O_RDONLY), error = 0;
    char *block, *shown;
    size_t used = 0;
    ssize_t n = 1;

    if (fd < 0)
        return EXIT_FAILED;
    block = tool_grow(NULL, METRICS_TEXT_MAX + 1, 1);
    while (n != 0 && error == 0 && used <= METRICS_TEXT_MAX) {
        n = read(fd, block + used, METRICS_TEXT_MAX + 1 - used);
        if (n > 0)
            used += (size_t)n;
        else if (n < 0 && errno != EINTR)
            error = errno;
    }
    if (fd != STDIN_FILENO)
        close(fd);
    if (error == 0 && used <= METRICS_TEXT_MAX) {
        *text = block;
        *length = used;
        return EXIT_DONE;
    }
    free(block);
    shown = log_file_call(path);
    if (error != 0)
        tool_error("cannot read %s: %s", shown, strerror(error));
    else
        tool_error("%s is longer than %d bytes, and no text for this", shown, METRICS_TEXT_MAX);
    free(shown);
    return EXIT_FAILED;
}

static int parse_error(const char *path, int error, const struct posixtrace_metric_fault *fault)
{
    char *shown = log_file_call(path);

    if (error != EINVAL)
        tool_error("cannot read metrics from %s: %s", shown, strerror(error));
    else if (fault->line == 0)
        tool_error("%s: %s", shown, unquoted(fault->text));
    else
        tool_error("%s, line %u, column %u: %s", shown, fault->line, fault->column,
                   unquoted(fault->text));
    free(shown);
    return EXIT_FAILED;
}

static int load_file(const char *path, posixtrace_metric_set_t **set)
{
    struct posixtrace_metric_fault fault = { 0, 0, "" };
    size_t length = 0;
    char *text = NULL;
    int status = metrics_text_load(path, &text, &length), error;

    if (status != EXIT_DONE)
        return status;
    error = posixtrace_metric_set_parse(text, length, set, &fault);
    free(text);
    return error ? parse_error(path, error, &fault) : EXIT_DONE;
}

int metrics_set_load(const char *word, posixtrace_metric_set_t **set)
{
    int error = ENOENT;

    if (strcmp(word, "linux") == 0 || strcmp(word, "marte") == 0)
        error = posixtrace_metric_set_open(word, set);
    else if (access(word, F_OK) != 0 && strcmp(word, "-") != 0 && !strchr(word, '/'))
        return tool_usage("no set of metrics %s: 'linux', 'marte' or a file", quote(word));
    else
        return load_file(word, set);
    return error ? tool_error("cannot make the metrics of %s: %s", quote(word), strerror(error))
                 : EXIT_DONE;
}

int metrics_find(const posixtrace_metric_set_t *set, const char *set_word, const char *name,
                 const posixtrace_metric_t **metric)
{
    const posixtrace_metric_t *near;

    *metric = posixtrace_metric_set_find(set, name);
    if (*metric)
        return EXIT_DONE;
    near = posixtrace_metric_set_near(set, name);
    if (near)
        return tool_usage("no metric %s in the set %s; did you mean %s?", quote(name),
                          quote(set_word), quote(posixtrace_metric_name(near)));
    return tool_usage("no metric %s in the set %s; --list shows those that are", quote(name),
                      quote(set_word));
}

/* ---- metrics of the user's own ---- */

enum { NAME, INITIAL, FINAL, TIME, FIELDS };

/* As enum posixtrace_user_time. */
static const char *const times[] = { "", "elapsed", "cpu", "nosystem", NULL };

/* Splits in place at ":"; a backslash takes the next character as it is.  Returns how
 * many there are, FIELDS + 1 for more than that. */
static int split(char *text, char *fields[FIELDS])
{
    char *to = text;
    int count = 1;

    fields[0] = text;
    for (; *text; text++) {
        if (*text == ':') {
            *to++ = '\0';
            if (count == FIELDS)
                return FIELDS + 1;
            fields[count++] = to;
            continue;
        }
        if (*text == '\\' && text[1])
            text++;
        *to++ = *text;
    }
    *to = '\0';
    return count;
}

static int bad_user(const char *given, const char *why)
{
    return tool_usage("option '--user' needs NAME:INITIAL:FINAL, perhaps with :elapsed, :cpu or "
                      ":nosystem, and \\: for a colon in a name, found %s%s",
                      quote(given), why);
}

static int user_error(const char *given, const char *set_word, int error)
{
    if (error == EINVAL)
        return bad_user(given, " (a name is empty or longer than an event's may be)");
    if (error == ENOTSUP)
        return tool_usage("option '--user': the user metric of the set %s is between two different "
                          "events, found %s; ':elapsed' measures from one to the next",
                          quote(set_word), quote(given));
    return tool_error("cannot make the metric %s: %s", quote(given), strerror(error));
}

static int make_user(const posixtrace_metric_set_t *set, const char *set_word, const char *given,
                     struct metrics_picked *made)
{
    char *fields[FIELDS] = { NULL }, *copy = tool_grow(NULL, strlen(given) + 1, 1);
    int count = split(strcpy(copy, given), fields), status = EXIT_DONE, error;
    int time = count == FIELDS ? options_index(fields[TIME], times) : POSIXTRACE_USER_OF_SET;

    *made = (struct metrics_picked){ .named = true };
    if (count < FIELDS - 1 || count > FIELDS) {
        status = bad_user(given, "");
    } else if (time < 0 || (count == FIELDS && time == POSIXTRACE_USER_OF_SET)) {
        status = bad_user(given, " (the fourth word is 'elapsed', 'cpu' or 'nosystem')");
    } else {
        made->time = (enum posixtrace_user_time)time;
        error = posixtrace_metric_set_user(set, fields[NAME], fields[INITIAL], fields[FINAL],
                                           made->time, &made->own);
        if (error != 0)
            status = user_error(given, set_word, error);
    }
    made->metric = made->own;
    free(copy);
    return status;
}

/* ---- all together ---- */

static size_t length_of(const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return n;
}

void metrics_pick_put(struct metrics_pick *p, const struct metrics_picked *picked)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->metrics[i] == picked->metric)
            return;
    }
    p->list = tool_grow(p->list, p->count + 1, sizeof *p->list);
    p->metrics = tool_grow(p->metrics, p->count + 1, sizeof *p->metrics);
    p->metrics[p->count] = picked->metric;
    p->list[p->count++] = *picked;
    p->has_own |= picked->own != NULL;
}

/* A metric of the user's can be named, too, which changes nothing. */
static bool is_of_user(const struct metrics_pick *p, const char *name)
{
    for (size_t i = 0; i < p->users; i++) {
        if (strcmp(posixtrace_metric_name(p->metrics[i]), name) == 0)
            return true;
    }
    return false;
}

static int put_users(struct metrics_pick *p, const char *set_word, const char *const *users)
{
    struct metrics_picked made;

    for (; *users; users++) {
        int status = make_user(p->set, set_word, *users, &made);

        if (status != EXIT_DONE)
            return status;
        metrics_pick_put(p, &made);
        p->users++;
    }
    return EXIT_DONE;
}

static void put_named(struct metrics_pick *p, const char *const *names)
{
    struct metrics_picked picked = { .named = true };

    for (; *names; names++) {
        picked.metric = posixtrace_metric_set_find(p->set, *names);
        if (picked.metric) {
            metrics_pick_put(p, &picked);
        } else if (!is_of_user(p, *names)) {
            p->wanted = tool_grow(p->wanted, p->wanted_count + 1, sizeof *p->wanted);
            p->wanted[p->wanted_count++] = *names;
        }
    }
}

/* Those of the user's, which came first, go last. */
static void users_last(struct metrics_pick *p)
{
    size_t named = p->count - p->users;
    struct metrics_picked *users;

    if (p->users == 0 || named == 0)
        return;
    users = tool_grow(NULL, p->users, sizeof *users);
    memcpy(users, p->list, p->users * sizeof *users);
    memmove(p->list, p->list + p->users, named * sizeof *users);
    memcpy(p->list + named, users, p->users * sizeof *users);
    free(users);
    for (size_t i = 0; i < p->count; i++)
        p->metrics[i] = p->list[i].metric;
}

int metrics_pick(struct metrics_pick *p, const char *set_word, const char *const *names,
                 const char *const *users)
{
    size_t room = length_of(names) + length_of(users);
    int status;

    memset(p, 0, sizeof *p);
    status = metrics_set_load(set_word, &p->set);
    if (status != EXIT_DONE)
        return status;
    p->set_word = set_word;
    p->all = room == 0;
    if (p->all)
        room = posixtrace_metric_set_count(p->set);
    for (size_t i = 0; p->all && i < room; i++)
        metrics_pick_put(
            p, &(struct metrics_picked){ .metric = posixtrace_metric_set_get(p->set, i) });
    status = put_users(p, set_word, users);
    if (status == EXIT_DONE)
        put_named(p, names);
    users_last(p);
    if (status == EXIT_DONE && p->count + p->wanted_count == 0)
        status = tool_error("the set %s has no metric", quote(set_word));
    if (status != EXIT_DONE)
        metrics_pick_free(p);
    return status;
}

void metrics_pick_free(struct metrics_pick *p)
{
    for (size_t i = 0; i < p->count; i++)
        posixtrace_metric_free(p->list[i].own);
    for (size_t i = 0; i < p->pair_count; i++)
        posixtrace_pair_free(p->pairs[i]);
    free(p->pairs);
    free(p->list);
    free(p->metrics);
    free(p->wanted);
    posixtrace_metric_set_free(p->set);
    memset(p, 0, sizeof *p);
}
