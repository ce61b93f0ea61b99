/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_btf_check(): a BTF file against the specification of its version, or of
 * another one.  Here: the parameters, the form of lines, types, actions, who may cause
 * them, notes.  Processes, runnables and semaphores: btf_check_order.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_check.h"

void pt_btf_find(struct pt_btf_check *c, const char *entity, unsigned state, const char *action,
                 const char *text, ...)
{
    char words[2600];
    struct posixtrace_btf_finding f = { .line = c->file.line,
                                        .entity = entity,
                                        .state = pt_btf_state_name(state),
                                        .action = action,
                                        .text = words };
    va_list arguments;

    va_start(arguments, text);
    vsnprintf(words, sizeof words, text, arguments);
    va_end(arguments);
    c->report->findings++;
    if (c->finding && !c->ended)
        c->ended = c->finding(c->context, &f);
}

#define FIND_LINE(c, ...) pt_btf_find(c, "", PT_BTF_S_ANY, "", __VA_ARGS__)

/* ---- parameters ---- */

static void take_version(struct pt_btf_check *c)
{
    bool known;
    unsigned rules = pt_btf_rules(c->file.version, &known);

    if (!known)
        FIND_LINE(c, "version '%s' is not known; checked as %s", c->file.version,
                  c->rules_given ? pt_btf_rules_name(c->rules) : "2.3.0");
    if (!c->rules_given)
        c->rules = rules;
    snprintf(c->report->version, sizeof c->report->version, "%s", c->file.version);
}

static void check_parameter(struct pt_btf_check *c, char *text)
{
    struct pt_btf_header h;
    uint32_t entity;
    bool again;

    pt_btf_file_parameter(&c->file, text, &h);
    if (c->file.line == 1 && h.kind != PT_BTF_VERSION)
        FIND_LINE(c, "the first line is not #version");
    if (h.kind == PT_BTF_COMMENT)
        return;
    if (h.fault)
        FIND_LINE(c, "%s", h.fault);
    entity = h.entity && h.type < PT_BTF_TYPES ? pt_btf_check_entity(c, h.entity) : PT_BTF_NO_NAME;
    if (entity != PT_BTF_NO_NAME) {
        c->known[entity].types = PT_BTF_BIT(h.type);
        c->known[entity].line = c->file.line;
    }
    if (h.kind == PT_BTF_MAPPING || h.kind == PT_BTF_OTHER)
        return;
    again = (c->seen_parameters & 1u << h.kind) != 0;
    c->seen_parameters |= 1u << h.kind;
    if (again)
        FIND_LINE(c, "#%s a second time", h.name);
    else if (c->events)
        FIND_LINE(c, "#%s stands after the first event", h.name);
    /* The last one counts, as for other readers. */
    if (h.kind == PT_BTF_VERSION && !c->events)
        take_version(c);
}

/* ---- entities ---- */

static void list_types(uint32_t types, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < PT_BTF_TYPES && used < size; i++)
        if (types & PT_BTF_BIT(i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "",
                                     pt_btf_type_name(i));
}

/* The entity is one of these types, by this line.  A name belongs to one type.  Where lines
 * disagree, the first that differs is reported: either may be wrong, so both types hold then. */
static bool narrow(struct pt_btf_check *c, uint32_t entity, uint32_t types,
                   const struct pt_btf_event *e, const char *role)
{
    struct pt_btf_known *k = &c->known[entity];
    char was[80], wanted[80];

    if (k->types & types) {
        k->types = k->mixed ? k->types : k->types & types;
        if (!k->line)
            k->line = c->file.line;
        return true;
    }
    list_types(k->types, was, sizeof was);
    list_types(types, wanted, sizeof wanted);
    pt_btf_find(c, e->target, PT_BTF_S_ANY, e->action,
                "%s %s is %s since line %" PRIu64 "; here it must be %s", role,
                c->names.texts[entity], was, k->line, wanted);
    k->types |= types;
    k->mixed = true;
    return false;
}

static void check_same(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    bool sti = k->e->type == PT_BTF_STI && c->known[k->source].types == PT_BTF_BIT(PT_BTF_STI);
    bool itself = k->a->sources == PT_BTF_BIT(k->e->type);

    if ((sti || itself) && k->e->type != PT_BTF_SIM && k->source != k->target)
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name,
                    "the source is %s; it must be the target itself", k->e->source);
    if (sti && k->source == k->target && (c->rules & PT_BTF_NEW) &&
        k->e->source_instance != k->e->target_instance)
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name,
                    "source instance %" PRIi64 " and target instance %" PRIi64
                    " of a stimulus must be equal",
                    k->e->source_instance, k->e->target_instance);
}

/* ---- events ---- */

static void check_note(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    bool may = k->e->type == PT_BTF_SIG || k->e->type == PT_BTF_SEM ||
               k->a->act == PT_BTF_SET_EVENT;

    if (!*k->e->note &&
        (k->a->act == PT_BTF_SET_EVENT || (k->a->act == PT_BTF_WRITE && (c->rules & PT_BTF_FIRST))))
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name, "the note is missing: %s",
                    k->a->act == PT_BTF_WRITE ? "the value that is written"
                                              : "the task that the event is set for");
    if (*k->e->note && !may && (c->rules & PT_BTF_NEW))
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name, "note '%.80s': %s of %s has none",
                    k->e->note, k->a->name, pt_btf_type_name(k->e->type));
}

static void check_entities(struct pt_btf_check *c, const struct pt_btf_case *k)
{
    bool needs = (c->rules & PT_BTF_NEW) != 0;

    if (needs && (k->e->source_instance == PT_BTF_NO_INSTANCE ||
                  k->e->target_instance == PT_BTF_NO_INSTANCE))
        pt_btf_find(c, k->e->target, PT_BTF_S_ANY, k->a->name, "the instance of the %s is missing",
                    k->e->source_instance == PT_BTF_NO_INSTANCE ? "source" : "target");
    check_same(c, k);
    check_note(c, k);
    switch (k->e->type) {
    case PT_BTF_T:
    case PT_BTF_I: pt_btf_check_process(c, k); break;
    case PT_BTF_R: pt_btf_check_runnable(c, k); break;
    case PT_BTF_SEM: pt_btf_check_semaphore(c, k); break;
    case PT_BTF_STI:
        pt_btf_check_source(c, k, needs);
        pt_btf_check_counter(c, k);
        break;
    case PT_BTF_SIG:
    case PT_BTF_EVENT:
    case PT_BTF_SCHED:
        if (k->a->act != PT_BTF_NO_ACT)
            pt_btf_check_source(c, k, needs);
        break;
    default: break;
    }
}

/* Types of 2.1 whose actions no specification names. */
static bool is_open(unsigned type)
{
    return type == PT_BTF_IB || type == PT_BTF_ECU || type == PT_BTF_PROCESSOR ||
           type == PT_BTF_C || type == PT_BTF_M;
}

/* NULL: the line has an unknown type or action; it was reported. */
static const struct pt_btf_action *check_words(struct pt_btf_check *c, const struct pt_btf_event *e)
{
    const struct pt_btf_action *a;
    const char *rules = pt_btf_rules_name(c->rules);

    if (e->type == PT_BTF_TYPES || !pt_btf_type_is_in(e->type, c->rules)) {
        pt_btf_find(c, e->target, PT_BTF_S_ANY, e->action, "version %s has no entity type '%.40s'",
                    rules, e->type_name);
        return NULL;
    }
    if (strcmp(e->type_name, pt_btf_type_name(e->type)) != 0 &&
        !(e->type == PT_BTF_I && c->rules == PT_BTF_OLD))
        pt_btf_find(c, e->target, PT_BTF_S_ANY, e->action, "type '%s' is written %s", e->type_name,
                    pt_btf_type_name(e->type));
    a = pt_btf_action_find(e->type, e->action, c->rules);
    if (!a && !is_open(e->type))
        pt_btf_find(c, e->target, PT_BTF_S_ANY, e->action, "%s has no action '%.60s' in version %s",
                    pt_btf_type_name(e->type), e->action, rules);
    return a;
}

static void check_time(struct pt_btf_check *c, const struct pt_btf_event *e)
{
    if (e->time < 0)
        FIND_LINE(c, "time %" PRIi64 " is negative", e->time);
    if (c->events > 1 && e->time < c->last_time)
        FIND_LINE(c, "time %" PRIi64 " is before %" PRIi64 " of line %" PRIu64, e->time,
                  c->last_time, c->last_line);
    c->last_time = e->time;
    c->last_line = c->file.line;
}

static void check_event(struct pt_btf_check *c, char *text)
{
    struct pt_btf_event e;
    struct pt_btf_case k = { .e = &e };
    const char *fault = pt_btf_file_event(&c->file, text, &e);

    if (fault) {
        FIND_LINE(c, "%s", fault);
        return;
    }
    c->report->events = ++c->events;
    if (c->events == 1 && !c->file.scale[0] && (c->rules & PT_BTF_NEW))
        FIND_LINE(c, "there is no #timescale before the first event");
    check_time(c, &e);
    k.a = check_words(c, &e);
    k.target = pt_btf_check_entity(c, e.target);
    k.source = pt_btf_check_entity(c, e.source);
    if (k.target == PT_BTF_NO_NAME || k.source == PT_BTF_NO_NAME) {
        if (!c->limit_reported)
            FIND_LINE(c, "more than %d entities: not all are followed", PT_BTF_NAMES_MAX);
        c->limit_reported = true;
        return;
    }
    if (e.type < PT_BTF_TYPES)
        narrow(c, k.target, PT_BTF_BIT(e.type), &e, "target");
    if (!k.a)
        return;
    k.source_fits = narrow(c, k.source, k.a->sources, &e, "source");
    check_entities(c, &k);
}

static void check_line(struct pt_btf_check *c, int kind, char *text)
{
    if (kind == PT_BTF_TOO_LONG)
        FIND_LINE(c, "the line is longer than 128 KiB");
    else if (kind == PT_BTF_HAS_NUL)
        FIND_LINE(c, "the line has a NUL byte");
    else if (text[0] == '#')
        check_parameter(c, text);
    else if (text[strspn(text, " \t")])
        check_event(c, text);
    if (kind == PT_BTF_LINE && c->file.line == 1 && text[0] != '#')
        FIND_LINE(c, "the first line is not #version");
}

static int check_lines(struct pt_btf_check *c)
{
    char *text = NULL;
    int kind;

    while (!c->ended && (kind = pt_btf_file_next(&c->file, &text)) != PT_BTF_END) {
        if (kind < 0)
            return -kind;
        check_line(c, kind, text);
    }
    c->report->lines = c->file.line;
    if (c->file.line == 0)
        FIND_LINE(c, "the file is empty");
    return c->ended;
}

/* A file over a copy of the descriptor, which shares its offset. */
static int open_copy(int fd, FILE **file)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), error;

    *file = copy >= 0 ? fdopen(copy, "r") : NULL;
    error = *file ? 0 : errno;
    if (copy >= 0 && !*file)
        close(copy);
    return error;
}

int posixtrace_btf_check(int fd, const char *version, unsigned flags,
                         int (*finding)(void *context, const struct posixtrace_btf_finding *f),
                         void *context, struct posixtrace_btf_report *report, size_t size)
{
    struct posixtrace_btf_report found = { .lines = 0 };
    struct pt_btf_check *c;
    FILE *from;
    unsigned rules = PT_BTF_23;
    bool known = true;
    int error;

    if (version)
        rules = pt_btf_rules(version, &known);
    if (!report || size == 0 || !known || (flags & ~POSIXTRACE_BTF_FROM_START))
        return EINVAL;
    error = open_copy(fd, &from);
    if (error)
        return error;
    c = calloc(1, sizeof *c);
    if (!c) {
        fclose(from);
        return ENOMEM;
    }
    c->rules = rules;
    c->rules_given = version != NULL;
    c->from_start = (flags & POSIXTRACE_BTF_FROM_START) != 0;
    c->finding = finding;
    c->context = context;
    c->report = &found;
    error = pt_btf_file_init(&c->file, from);
    if (!error)
        error = check_lines(c);
    snprintf(found.rules, sizeof found.rules, "%s", pt_btf_rules_name(c->rules));
    memset(report, 0, size);
    memcpy(report, &found, size < sizeof found ? size : sizeof found);
    pt_btf_check_free(c);
    free(c);
    fclose(from);
    return error;
}
