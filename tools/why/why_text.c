/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The answer as text; see why.h.
 */
#include "why/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/colour.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/units.h"
#include "text/sum.h"

enum { CAUSES = 5, NODES = 8, INDENT = 2, AMOUNT = 18, LABELS = 5 };

static bool is_of_several(const struct why_view *v)
{
    return v->label && v->label[0];
}

/* ---- the summary ---- */

/* Causes are summed by their first segment. */
struct group {
    const struct posixtrace_why_cause *first;
    int64_t ns;
    char text[WHY_TEXT];
};

static int64_t time_of(const struct why_view *v, const struct posixtrace_why_cause *c)
{
    return v->summary->beyond_ns > 0 ? (c->beyond_ns > 0 ? c->beyond_ns : 0) : c->ns;
}

static int64_t whole(const struct why_view *v)
{
    const struct posixtrace_why_cause *c;
    int64_t sum = 0;

    for (size_t i = 0; (c = posixtrace_why_cause(v->why, i)) != NULL; i++)
        pt_sum_add(&sum, time_of(v, c));
    return sum;
}

static int by_time(const void *a, const void *b)
{
    const struct group *one = a, *two = b;

    return (one->ns < two->ns) - (one->ns > two->ns);
}

static size_t make_groups(const struct why_view *v, struct group **groups)
{
    const struct posixtrace_why_cause *c;
    size_t count = 0, at;

    *groups = NULL;
    for (size_t i = 0; i < 1000 && (c = posixtrace_why_cause(v->why, i)) != NULL; i++) {
        char text[WHY_TEXT];

        why_put_segment(text, v, &c->segment);
        for (at = 0; at < count && strcmp((*groups)[at].text, text) != 0; at++)
            ;
        if (at == count) {
            *groups = tool_grow(*groups, ++count, sizeof **groups);
            (*groups)[at] = (struct group){ .first = c };
            memcpy((*groups)[at].text, text, sizeof text);
        }
        pt_sum_add(&(*groups)[at].ns, time_of(v, c));
    }
    if (count > 0)
        qsort(*groups, count, sizeof **groups, by_time);
    return count;
}

static void print_cause(const char *percent, const char *text, size_t indent)
{
    size_t width = indent + 6;

    out_spaces(indent);
    out_format("%5s ", percent);
    out_wrapped(text, width, width);
}

/* What the threads did that a cause waits for. */
static void print_roots(const struct why_view *v, const struct group *g, int64_t sum)
{
    const struct posixtrace_why_cause *c;
    char text[WHY_TEXT], line[WHY_TEXT + 32];
    size_t shown = 0;

    for (size_t i = 0; shown < CAUSES && (c = posixtrace_why_cause(v->why, i)) != NULL; i++) {
        why_put_segment(text, v, &c->segment);
        if (strcmp(text, g->text) != 0 || time_of(v, c) < sum / 100)
            continue;
        why_put_segment(text, v, &c->root);
        if (strcmp(text, g->text) == 0)
            continue;
        snprintf(line, sizeof line, "%s: %s",
                 c->root.tid ? why_thread(v, c->root.pid, c->root.tid) : "others", text);
        print_cause(why_percent(time_of(v, c), sum), line, 6);
        shown++;
    }
}

static void print_causes(const struct why_view *v)
{
    const struct posixtrace_why_summary *s = v->summary;
    struct group *groups;
    size_t count = make_groups(v, &groups);
    int64_t sum = whole(v);
    char text[WHY_TEXT];

    if (count > 0 && !v->at) {
        snprintf(text, sizeof text, "%s%sf the %s slowest (1 %%, from %s) the time%s is:",
                 is_of_several(v) ? unquoted(v->label) : "", is_of_several(v) ? ": o" : "O",
                 units_count(s->slow), units_time(s->slow_ns),
                 s->beyond_ns > 0 ? " beyond the median" : "");
        out_text("\n");
        out_wrapped(text, 0, 0);
    }
    for (size_t i = 0; !v->at && i < count && i < CAUSES && groups[i].ns >= sum / 100; i++) {
        print_cause(why_percent(groups[i].ns, sum), groups[i].text, 0);
        print_roots(v, &groups[i], sum);
    }
    free(groups);
}

static void print_head(const struct why_set *set)
{
    const struct why_view *v = &set->views[0];
    const struct posixtrace_why_summary *s = &set->summary;
    struct posixtrace_summary lengths;
    char text[1000];

    if (!v->subject || v->at)
        return;
    snprintf(text, sizeof text, "%.600s: %s time%s", unquoted(v->subject), units_count(s->count),
             s->count == 1 ? "" : "s");
    if (s->statistics) {
        posixtrace_statistics_summary(s->statistics, &lengths, sizeof lengths);
        why_add(text, sizeof text, ", median %s, 99 %% within %s, longest %s",
                units_time(s->median_ns),
                units_time(posixtrace_statistics_percentile(s->statistics, 99)),
                units_time(lengths.max_ns));
    }
    if (s->open)
        why_add(text, sizeof text, "; %s begun, without an end", units_count(s->open));
    if (s->unknown)
        why_add(text, sizeof text, "; %s unknown, since events were lost", units_count(s->unknown));
    out_wrapped(text, 0, 2);
}

/* ---- instances ---- */

/* The least time of those that are shown: the NODES longest. */
static int64_t least_shown(const struct why_node *list)
{
    int64_t longest[NODES] = { 0 };

    for (; list; list = list->next) {
        size_t at = NODES;

        for (; at > 0 && longest[at - 1] < list->ns; at--)
            if (at < NODES)
                longest[at] = longest[at - 1];
        if (at < NODES)
            longest[at] = list->ns;
    }
    return longest[NODES - 1];
}

/* named: each line begins with the thread that it is about. */
static void print_nodes(const struct why_view *v, const struct why_node *list, size_t indent,
                        bool named)
{
    int64_t rest = 0, least = least_shown(list);
    size_t left = 0;

    for (const struct why_node *n = list; n; n = n->next) {
        char text[WHY_TEXT + 64], times[40] = "";

        if (n->ns < least) {
            rest += n->ns;
            left++;
            continue;
        }
        if (n->count > 1)
            snprintf(times, sizeof times, " (%s times)", units_count(n->count));
        snprintf(text, sizeof text, "%s%s%s%s", named ? why_thread(v, n->pid, n->tid) : "",
                 named ? ": " : "", n->text, times);
        out_spaces(indent);
        out_format("%*s  ", AMOUNT, why_exact(n->ns));
        out_wrapped(text, indent + AMOUNT + 2, indent + AMOUNT + 4);
        print_nodes(v, n->below, indent + 2, true);
    }
    if (left > 0) {
        out_spaces(indent);
        out_format("%*s  %s shorter ones, --format=json has them\n", AMOUNT, why_exact(rest),
                   units_count(left));
    }
}

static void print_command(const struct why_view *v, const struct posixtrace_why_instance *row)
{
    const char *log = strcmp(v->log->path, "-") == 0 ? "-" : quote_word(v->log->path);
    char *text = NULL;

    if (asprintf(&text, "posixtrace print --from=%s --to=%s %s", why_when(v, row->begin_ns),
                 why_when(v, row->end_ns), log) < 0)
        return;
    out_text("  ");
    out_wrapped(text, 2, 4);
    free(text);
}

static void print_instance(const struct why_set *set, size_t i)
{
    const struct why_view *v = set->rows[i].view;
    const struct posixtrace_why_instance *row = posixtrace_why_instance(v->why, set->rows[i].index);
    struct why_node *tree = why_tree(v, set->rows[i].index);
    char text[400];

    out_text("\n");
    snprintf(text, sizeof text, "%zu. %s%s at %s, %s", i + 1,
             why_exact(row->end_ns - row->begin_ns), row->open ? " without an end" : "",
             why_when(v, row->begin_ns), why_thread(v, row->pid, row->tid));
    if (row->has_key && v->metric)
        why_add(text, sizeof text, ", object %s",
                sites_object(v->sites, row->pid, row->begin_ns, row->key));
    else if (row->has_key)
        why_add(text, sizeof text, ", value %llu", (unsigned long long)row->key);
    if (row->end_tid != row->tid || row->end_pid != row->pid)
        why_add(text, sizeof text, ", ended by %s", why_thread(v, row->end_pid, row->end_tid));
    out_text(colour_code(COLOUR_NAME));
    out_wrapped(text, 0, 3);
    out_text(colour_code(COLOUR_PLAIN));
    print_nodes(v, tree, INDENT, row->end_tid != row->tid || row->end_pid != row->pid);
    print_command(v, row);
    why_tree_free(tree);
}

/* ---- the end of the log ---- */

static void print_circle(const struct why_view *v, size_t i)
{
    const struct posixtrace_why_blocked *first = posixtrace_why_blocked(v->why, i), *b = first;
    char text[1000] = "deadlock: ";

    for (; b && b->deadlock == first->deadlock; b = posixtrace_why_blocked(v->why, ++i))
        why_add(text, sizeof text, "%s -> ", why_thread(v, b->wait.pid, b->wait.tid));
    why_add(text, sizeof text, "%s", why_thread(v, first->wait.pid, first->wait.tid));
    out_text("  ");
    out_wrapped(text, 2, 4);
}

static void print_waiting(const struct why_view *v, const struct posixtrace_why_blocked *b)
{
    char wait[WHY_TEXT], text[2 * WHY_TEXT];

    why_put_segment(wait, v, &b->wait);
    snprintf(text, sizeof text, "%s since %s: %s", why_thread(v, b->wait.pid, b->wait.tid),
             why_when(v, b->wait.begin_ns), strncmp(wait, "waits: ", 7) == 0 ? wait + 7 : wait);
    if (b->signalled_ns)
        why_add(text, sizeof text, "; the last signal%s was at %s, by %s at %s",
                b->signalled_ns < b->wait.begin_ns ? ", before it," : "",
                why_when(v, b->signalled_ns), why_thread(v, b->wait.pid, b->signalled_tid),
                why_code(v, b->wait.pid, b->signalled_ns, b->signalled_caller));
    out_text("  ");
    out_wrapped(text, 2, 6);
}

/* Where is what the logs end in? */
static void print_where(const struct why_view *v, bool first)
{
    if (!is_of_several(v))
        out_format("%sWhere the log ends:\n", v->subject ? "\n" : "");
    else
        out_format("%sWhere %s ends:\n", v->subject || !first ? "\n" : "", unquoted(v->label));
}

/* first: nothing was printed of another log.  Are there any? */
static bool print_blocked(const struct why_view *v, bool first)
{
    const struct posixtrace_why_blocked *b;
    size_t deadlock = 0, count = 0;

    for (size_t i = 0; (b = posixtrace_why_blocked(v->why, i)) != NULL; i++) {
        if (v->subject && !b->deadlock)
            continue;
        if (count++ == 0)
            print_where(v, first);
        if (b->deadlock != deadlock && b->deadlock)
            print_circle(v, i);
        deadlock = b->deadlock;
        print_waiting(v, b);
    }
    return count > 0;
}

static void print_ends(const struct why_set *set)
{
    size_t none = 0;

    for (size_t i = 0; i < set->count; i++)
        none += !print_blocked(&set->views[i], i == none);
    if (set->views[0].subject || none == 0)
        return;
    if (!set->several)
        out_text("Where the log ends, no thread is in a wait that is recorded.\n");
    else
        out_format("%sWhere %s%sthe %s logs end%s, no thread is in a wait that is recorded.\n",
                   none < set->count ? "\n" : "", none < set->count ? units_count(none) : "",
                   none < set->count ? " of " : "", units_count(set->count), none == 1 ? "s" : "");
}

/* ---- what the log lacks ---- */

static void print_note(const char *text)
{
    out_text("\n");
    out_wrapped(text, 0, 0);
}

static bool has_no_calls(const struct posixtrace_why_summary *s)
{
    return s->calls == 0;
}

static bool has_long_calls(const struct posixtrace_why_summary *s)
{
    return s->calls > 0 && s->long_calls_only;
}

static bool has_no_switches(const struct posixtrace_why_summary *s)
{
    return s->switches == 0;
}

static bool has_unkeyed(const struct posixtrace_why_summary *s)
{
    return s->unkeyed > 0;
}

/* Of several logs the note begins with those that it is about. */
static void print_lack(const struct why_set *set,
                       bool (*lacks)(const struct posixtrace_why_summary *s), const char *note)
{
    char text[1000] = "";
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        if (!lacks(set->views[i].summary))
            continue;
        if (set->several && count < LABELS)
            why_add(text, sizeof text, "%s%s", count ? ", " : "", unquoted(set->views[i].label));
        count++;
    }
    if (count > LABELS && set->several)
        why_add(text, sizeof text, " and %s more", units_count(count - LABELS));
    why_add(text, sizeof text, "%s%s", text[0] ? ": " : "", note);
    if (count > 0)
        print_note(text);
}

static void print_lacks(const struct why_set *set)
{
    char text[400];

    if (!set->views[0].subject && set->pairs[0]) {
        snprintf(text, sizeof text, "The log%s pairs that 'posixtrace why NAME' explains: %s",
                 set->several ? "s have" : " has", unquoted(set->pairs));
        print_note(text);
    }
    print_lack(set, has_no_calls,
               "No call that waits is in the log: 'posixtrace record --system=calls' records what "
               "threads wait for.");
    print_lack(set, has_long_calls,
               "The log has long calls only ('record --longer-than'): which thread held a lock or "
               "signalled is not in it.");
    print_lack(set, has_no_switches,
               "No context switch is in the log: 'posixtrace record --system=switches' records "
               "them. So the time outside of calls is unknown, and calls count as waits.");
    print_lack(
        set, has_unkeyed,
        "Some of the events do not have that field: 'posixtrace info' has the descriptions.");
}

/* Of a log that has one of the worst, or of all where none is shown. */
static bool shows_causes(const struct why_set *set, const struct why_view *v)
{
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].view == v)
            return true;
    return !set->several || set->row_count == 0;
}

void why_print_text(const struct why_set *set)
{
    print_head(set);
    for (size_t i = 0; i < set->count; i++)
        if (shows_causes(set, &set->views[i]))
            print_causes(&set->views[i]);
    for (size_t i = 0; i < set->row_count; i++)
        print_instance(set, i);
    print_ends(set);
    print_lacks(set);
}
