/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Classes and events of QNX Neutrino: their numbers in headers, their names in traceprinter, and
 * the words of their data.  Values without a public source stay numbers; so do the thread states of
 * release 8, which numbers them differently.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/qnx/kev_types.h"

static const char *const states[PT_KEV_STATES] = {
    "DEAD",    "RUNNING",    "READY",    "STOPPED",    "SEND",        "RECEIVE",   "REPLY",
    "STACK",   "WAITTHREAD", "WAITPAGE", "SIGSUSPEND", "SIGWAITINFO", "NANOSLEEP", "MUTEX",
    "CONDVAR", "JOIN",       "INTR",     "SEM",        "WAITCTX",     "NET_SEND",  "NET_REPLY"
};

static const char thread_fast[] = "u32 pid; u32 tid";
static const char thread_wide[] = "u32 pid; u32 tid; u32 priority; u32 policy; bytes more";
static const char message[] = "x32 rcvid; u32 pid", pulse[] = "x32 scoid; u32 pid";

static const struct row {
    uint8_t class;
    uint16_t number;
    const char *event, *fast, *wide;
} rows[] = {
    { PT_KEV_CONTROL, PT_KEV_TIME, "TIME", "x32 msb; x32 lsb", NULL },
    { PT_KEV_CONTROL, PT_KEV_BUFFER, "BUFFER", "u32 sequence; u32 num_events", NULL },
    { PT_KEV_CONTROL, PT_KEV_BUFFER_END, "BUFFER_END", NULL, NULL },
    { PT_KEV_CONTROL, PT_KEV_DROPPED, "DROPPED", NULL, NULL },
    { PT_KEV_PR_TH, 1 << 6, "CREATE", "u32 ppid; u32 pid", NULL },
    { PT_KEV_PR_TH, 2 << 6, "DESTROY", "u32 ppid; u32 pid", NULL },
    { PT_KEV_PR_TH, PT_KEV_CREATE_NAME, "CREATE_NAME", NULL, "u32 ppid; u32 pid; str name" },
    { PT_KEV_PR_TH, PT_KEV_DESTROY_NAME, "DESTROY_NAME", NULL, "u32 ppid; u32 pid; str name" },
    { PT_KEV_PR_TH, PT_KEV_THREAD_NAME, "THREAD_NAME", NULL, "u32 pid; u32 tid; str name" },
    { PT_KEV_SYSTEM, 2, "PATHMGR_OPEN", NULL, NULL },
    { PT_KEV_SYSTEM, 3, "APS_NAME", NULL, NULL },
    { PT_KEV_SYSTEM, 4, "APS_NEW_BUDGET", NULL, NULL },
    { PT_KEV_SYSTEM, 5, "APS_BANKRUPTCY", NULL, NULL },
    { PT_KEV_SYSTEM, 6, "MMAP", NULL, NULL },
    { PT_KEV_SYSTEM, 7, "MUNMAP", NULL, NULL },
    { PT_KEV_SYSTEM, 8, "MAPNAME", NULL, NULL },
    { PT_KEV_SYSTEM, 9, "ADDRESS", NULL, NULL },
    { PT_KEV_SYSTEM, 10, "FUNC_ENTER", "x32 thisfn; x32 call_site", NULL },
    { PT_KEV_SYSTEM, 11, "FUNC_EXIT", "x32 thisfn; x32 call_site", NULL },
    { PT_KEV_SYSTEM, 12, "SLOG", NULL, NULL },
    { PT_KEV_SYSTEM, 13, "DEFRAG_START", NULL, NULL },
    { PT_KEV_SYSTEM, 14, "RUNSTATE", NULL, NULL },
    { PT_KEV_SYSTEM, 15, "POWER", NULL, NULL },
    { PT_KEV_SYSTEM, 16, "IPI", NULL, NULL },
    { PT_KEV_SYSTEM, 17, "PAGEWAIT", NULL, NULL },
    { PT_KEV_SYSTEM, 18, "TIMER", NULL, NULL },
    { PT_KEV_SYSTEM, 19, "DEFRAG_END", NULL, NULL },
    { PT_KEV_SYSTEM, 20, "PROFILE", NULL, NULL },
    { PT_KEV_SYSTEM, 21, "MAPNAME64", NULL, NULL },
    { PT_KEV_SYSTEM, 28, "SCHED_CONF", NULL, NULL },
    { PT_KEV_SYSTEM, 29, "IST_ATTACH", NULL, NULL },
    { PT_KEV_SYSTEM, 30, "IST_DETACH", NULL, NULL },
    { PT_KEV_SYSTEM, 31, "PCTRACE", NULL, NULL },
    { PT_KEV_SYSTEM, 32, "SEND_IPI", NULL, NULL },
    { PT_KEV_COMM, 0, "SND_MESSAGE", message, NULL },
    { PT_KEV_COMM, 1, "SND_PULSE", pulse, NULL },
    { PT_KEV_COMM, 2, "REC_MESSAGE", message, NULL },
    { PT_KEV_COMM, 3, "REC_PULSE", pulse, NULL },
    { PT_KEV_COMM, 4, "SND_PULSE_EXE", pulse, NULL },
    { PT_KEV_COMM, 5, "SND_PULSE_DIS", pulse, NULL },
    { PT_KEV_COMM, 6, "SND_PULSE_DEA", pulse, NULL },
    { PT_KEV_COMM, 7, "SND_PULSE_UN", pulse, NULL },
    { PT_KEV_COMM, 8, "SND_PULSE_QUN", pulse, NULL },
    { PT_KEV_COMM, 9, "SIGNAL", NULL, NULL },
    { PT_KEV_COMM, 10, "REPLY_MESSAGE", NULL, NULL },
    { PT_KEV_COMM, 11, "MSG_ERROR", NULL, NULL },
    { PT_KEV_QVM, 0, "GUEST_ENTER", NULL, NULL },
    { PT_KEV_QVM, 1, "GUEST_EXIT", NULL, NULL },
    { PT_KEV_QVM, 2, "CREATE_VCPU_THREAD", NULL, NULL },
    { PT_KEV_QVM, 3, "RAISE_INTR", NULL, NULL },
    { PT_KEV_QVM, 4, "LOWER_INTR", NULL, NULL },
    { PT_KEV_QVM, 5, "TIMER_CREATE", NULL, NULL },
    { PT_KEV_QVM, 6, "TIMER_FIRE", NULL, NULL },
    { PT_KEV_QVM, 7, "CYCLES", NULL, NULL },
};

static const struct row *row_of(unsigned class, unsigned number)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].class == class && rows[i].number == number)
            return &rows[i];
    return NULL;
}

/* Numbers that external classes have in headers; the event is the number less the first. */
static const struct range {
    uint8_t class, release8; /* release8: not of it (1), of it alone (2), or of all */
    uint16_t first, last;
    char label[18], prefix[6];
} ranges[] = {
    { PT_KEV_EMPTY, 0, 0, 1023, "EMPTY", "" },
    { PT_KEV_CONTROL, 0, 0, 1023, "CONTROL", "" },
    { PT_KEV_KER_CALL, 0, 0, 127, "KER_CALL", "" },
    { PT_KEV_KER_CALL, 0, 128, 255, "KER_EXIT", "" },
    { PT_KEV_KER_CALL, 0, 256, 511, "INT_CALL", "" },
    { PT_KEV_KER_CALL, 0, 512, 639, "KER_CALL64", "" },
    { PT_KEV_KER_CALL, 0, 640, 767, "KER_EXIT64", "" },
    { PT_KEV_KER_CALL, 0, 768, 1023, "INT_CALL64", "" },
    { PT_KEV_INT, 0, 1, 1, "INT_ENTR", "" },
    { PT_KEV_INT, 0, 2, 2, "INT_EXIT", "" },
    { PT_KEV_INT, 1, 3, 3, "INT_HANDLER_ENTR", "" },
    { PT_KEV_INT, 1, 4, 4, "INT_HANDLER_EXIT", "" },
    { PT_KEV_INT, 2, 7, 7, "INT_DELIVER", "" },
    { PT_KEV_INT, 0, 0, 1023, "INT", "" },
    { PT_KEV_PR_TH, 1, 0, PT_KEV_VTHREAD - 1, "THREAD", "TH" },
    { PT_KEV_PR_TH, 1, PT_KEV_VTHREAD, PT_KEV_PROCESS - 1, "VTHREAD", "VTH" },
    { PT_KEV_PR_TH, 2, 0, PT_KEV_PROCESS - 1, "THREAD", "TH" },
    { PT_KEV_PR_TH, 0, PT_KEV_PROCESS, 1023, "PROCESS", "PROC" },
    { PT_KEV_SYSTEM, 0, 0, 511, "SYSTEM", "" },
    { PT_KEV_SYSTEM, 0, 512, 1023, "SYSTEM64", "" },
    { PT_KEV_USER, 0, 0, 1023, "USER", "" },
    { PT_KEV_COMM, 0, 0, 1023, "COMM", "" },
    { PT_KEV_QUIP, 0, 0, 1023, "QUIP", "" },
    { PT_KEV_SEC, 0, 0, 1023, "SEC", "" },
    { PT_KEV_QVM, 0, 0, 1023, "QVM", "" },
    { PT_KEV_PMU, 0, 0, 1023, "PMU", "" },
    { 12, 0, 0, 1023, "CLASS_12", "" },
    { 13, 0, 0, 1023, "CLASS_13", "" },
    { 14, 0, 0, 1023, "CLASS_14", "" },
    { 15, 0, 0, 1023, "CLASS_15", "" },
    { 16, 0, 0, 1023, "CLASS_16", "" },
    { 17, 0, 0, 1023, "CLASS_17", "" },
    { 18, 0, 0, 1023, "CLASS_18", "" },
    { 19, 0, 0, 1023, "CLASS_19", "" },
    { 20, 0, 0, 1023, "CLASS_20", "" },
    { 21, 0, 0, 1023, "CLASS_21", "" },
    { 22, 0, 0, 1023, "CLASS_22", "" },
    { 23, 0, 0, 1023, "CLASS_23", "" },
    { 24, 0, 0, 1023, "CLASS_24", "" },
    { 25, 0, 0, 1023, "CLASS_25", "" },
    { 26, 0, 0, 1023, "CLASS_26", "" },
    { 27, 0, 0, 1023, "CLASS_27", "" },
    { 28, 0, 0, 1023, "CLASS_28", "" },
    { 29, 0, 0, 1023, "CLASS_29", "" },
    { 30, 0, 0, 1023, "CLASS_30", "" },
    { 31, 0, 0, 1023, "CLASS_31", "" },
};

static bool is_of(const struct range *r, const struct pt_kev_rules *rules)
{
    return !r->release8 || (r->release8 == 2) == rules->release8;
}

static const struct range *range_of(const struct pt_kev_rules *rules, unsigned type)
{
    const struct range *r = ranges;

    while (r->class != pt_kev_class(type) || pt_kev_number(type) < r->first ||
           pt_kev_number(type) > r->last || !is_of(r, rules))
        r++;
    return r;
}

/* A thread's state, or its creation or end; false: it has no name. */
static bool name_state(const struct pt_kev_rules *rules, unsigned state, char event[32])
{
    const char *name = NULL;

    if (rules->state[state][0])
        name = rules->state[state];
    else if (rules->release8)
        return false;
    else if (state < PT_KEV_STATES)
        name = states[state];
    else if (state == PT_KEV_THCREATE || state == PT_KEV_THDESTROY)
        name = state == PT_KEV_THCREATE ? "CREATE" : "DESTROY";
    if (name)
        snprintf(event, 32, "%s", name);
    return name != NULL;
}

void pt_kev_about(const struct pt_kev_rules *rules, unsigned type, struct pt_kev_about *a)
{
    const struct range *r = range_of(rules, type);
    unsigned number = pt_kev_number(type), above = number - r->first;
    const struct row *row = row_of(r->class, number);

    *a = (struct pt_kev_about){ .label = r->label, .prefix = r->prefix };
    if (r->class == PT_KEV_SYSTEM && r->first)
        row = row_of(r->class, above);
    if (r->class == PT_KEV_PR_TH && number < PT_KEV_PROCESS) {
        a->fast = thread_fast;
        a->wide = thread_wide;
        if (name_state(rules, above, a->event))
            return;
    }
    if (r->class == PT_KEV_INT && number == 1)
        a->fast = "u32 interrupt; x32 ip";
    else if (r->class == PT_KEV_INT && number == 2)
        a->fast = "u32 interrupt; x32 d1";
    if (r->class == PT_KEV_INT && r->first == r->last && r->first)
        return;
    if (row) {
        snprintf(a->event, sizeof a->event, "%s", row->event);
        a->fast = r->first == 512 ? NULL : row->fast;
        a->wide = r->first == 512 ? NULL : row->wide;
    } else {
        snprintf(a->event, sizeof a->event, "%u", above);
    }
}

static bool same(const char *text, const char *other, size_t length)
{
    return strncmp(text, other, length) == 0 && !text[length];
}

/* The item to find, and the numbers where it may be. */
struct wanted {
    const struct pt_kev_rules *rules;
    const struct range *range;
    const char *event;
    size_t length;
};

static bool is_event(const struct wanted *w, unsigned number)
{
    struct pt_kev_about a;

    if (number < w->range->first || number > w->range->last)
        return false;
    pt_kev_about(w->rules, (unsigned)w->range->class << 10 | number, &a);
    return a.label == w->range->label && same(a.event, w->event, w->length);
}

/* Its number in headers; 1024: there is none. */
static unsigned find_number(const struct wanted *w)
{
    unsigned base = w->range->class == PT_KEV_SYSTEM ? w->range->first : 0, n = 0;

    if (w->length > 4)
        n = 1024;
    for (size_t i = 0; i < w->length && n < 1024; i++)
        n = w->event[i] >= '0' && w->event[i] <= '9' ? n * 10 + (unsigned)(w->event[i] - '0')
                                                     : 1024;
    if (n < 1024 && is_event(w, w->range->first + n))
        return w->range->first + n;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].class == w->range->class && is_event(w, base + rows[i].number))
            return base + rows[i].number;
    for (n = w->range->first; w->range->class == PT_KEV_PR_TH && n < PT_KEV_PROCESS; n++)
        if (is_event(w, n))
            return n;
    return 1024;
}

int pt_kev_find(const struct pt_kev_rules *rules, const char *label, size_t label_length,
                const char *event, size_t event_length)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct wanted w = { rules, &ranges[i], event, event_length };
        unsigned n;

        if (!same(ranges[i].label, label, label_length) || !is_of(&ranges[i], rules))
            continue;
        n = find_number(&w);
        if (n < 1024)
            return (int)((unsigned)ranges[i].class << 10 | n);
    }
    return -1;
}

unsigned pt_kev_words(const char *fields, bool *string)
{
    unsigned words = 0;

    for (const char *at = fields; (at = strstr(at, "32 ")); at += 3)
        words++;
    *string = strstr(fields, "str ") != NULL;
    return words;
}
