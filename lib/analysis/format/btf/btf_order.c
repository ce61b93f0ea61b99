/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of BTF: lines that are not in order of time.
 *
 * A first pass reads only the times.  If one goes back, the second pass does not make events of the
 * lines but records in a spool (spool.h), with numbers replaced by their mapped names and times in
 * ns, because both depend on the place in the file.  Then the records are sorted and become events.
 * Parameters between events stay with the line before them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_read.h"

/* A record: this, and its texts, each with its NUL: source, type, target, action, note. */
struct stored {
    uint64_t line;
    int64_t source_instance, target_instance;
    uint32_t type; /* PARAMETER: the texts are name and value */
};

enum { PARAMETER = PT_BTF_TYPES + 1, TEXTS = 5 };

bool pt_btf_reader_is_in_order(struct pt_btf_reader *r)
{
    int64_t last = INT64_MIN, time, ns;
    struct pt_btf_header h;
    char *text = NULL;
    int kind;

    while ((kind = pt_btf_file_next(&r->file, &text)) > PT_BTF_END) {
        if (!pt_job_progress(r->job, r->file.line))
            return true;
        if (kind == PT_BTF_LINE && text[0] == '#')
            pt_btf_file_parameter(&r->file, text, &h);
        else if (kind == PT_BTF_LINE && pt_btf_file_time(&r->file, text, &time, &ns)) {
            if (ns < last)
                return false;
            last = ns;
        }
    }
    return true;
}

static bool put(struct pt_btf_reader *r, int64_t ns, const struct stored *head,
                const char *const *texts, size_t count)
{
    struct iovec parts[1 + TEXTS] = { { (void *)(uintptr_t)head, sizeof *head } };
    int error;

    for (size_t i = 0; i < count; i++)
        parts[1 + i] = (struct iovec){ (void *)(uintptr_t)texts[i], strlen(texts[i]) + 1 };
    error = pt_spool_put(&r->spool, ns, parts, 1 + count);
    return !error || pt_btf_reader_cannot_sort(r, error);
}

bool pt_btf_reader_put_event(struct pt_btf_reader *r, const struct pt_btf_event *e, int64_t ns)
{
    const char *const texts[TEXTS] = { e->source, e->type_name, e->target, e->action, e->note };
    struct stored head = { .line = r->file.line,
                           .source_instance = e->source_instance,
                           .target_instance = e->target_instance,
                           .type = e->type };

    return put(r, ns, &head, texts, TEXTS);
}

bool pt_btf_reader_put_parameter(struct pt_btf_reader *r, const char *name, const char *value)
{
    const char *const texts[] = { name, value };
    struct stored head = { .line = r->file.line, .type = PARAMETER };

    return put(r, r->last_ns, &head, texts, 2);
}

bool pt_btf_reader_cannot_sort(struct pt_btf_reader *r, int error)
{
    pt_job_fail(r->job, error, "cannot sort lines with a temporary file (TMPDIR): %s",
                strerror(error));
    return false;
}

/* Splits the record's texts.  It trusts them: no other process can write to the spool. */
static void split(const char *at, const char *texts[TEXTS], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        texts[i] = at;
        at += strlen(at) + 1;
    }
}

static bool take(struct pt_btf_reader *r, int64_t ns, const char *record)
{
    struct pt_btf_event e = { 0 };
    const char *texts[TEXTS];
    struct stored head;

    memcpy(&head, record, sizeof head);
    r->line = head.line;
    split(record + sizeof head, texts, head.type == PARAMETER ? 2 : TEXTS);
    if (head.type == PARAMETER)
        return pt_btf_reader_parameter(r, texts[0], texts[1], ns);
    e.source = texts[0];
    e.type_name = texts[1];
    e.target = texts[2];
    e.action = texts[3];
    e.note = texts[4];
    e.type = head.type;
    e.source_instance = head.source_instance;
    e.target_instance = head.target_instance;
    return pt_btf_reader_event(r, &e, ns);
}

void pt_btf_reader_add_sorted(struct pt_btf_reader *r)
{
    int error = pt_spool_sort(&r->spool);
    char *record = error ? NULL : malloc(PT_BTF_RECORD_MAX);
    bool good = record != NULL;
    size_t size;

    if (!error && !record)
        error = ENOMEM;
    while (good && pt_spool_has_more(&r->spool)) {
        int64_t ns = pt_spool_time(&r->spool);

        error = pt_spool_take(&r->spool, record, PT_BTF_RECORD_MAX, &size);
        good = !error && take(r, ns, record);
    }
    free(record);
    if (error)
        pt_btf_reader_cannot_sort(r, error);
    else
        pt_places_report(&r->spool.places, r->job, PT_BTF_READ_ORDER);
}
