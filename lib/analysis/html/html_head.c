/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The head of the page: docs/report-page.md. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"
#include "analysis/html/html_web.h"
#include "analysis/report/report_state.h"

__attribute__((format(printf, 2, 3))) static void put(struct pt_html_bytes *to, const char *format,
                                                      ...)
{
    char text[320];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pt_html_put_text(to, text);
}

static void put_string(struct pt_html_bytes *to, const char *text)
{
    pt_html_json_string(to, text ? text : "", text ? strlen(text) : 0);
}

static void put_strings(struct pt_html_bytes *to, const char *key, char *const *texts, size_t count)
{
    put(to, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        put(to, i ? "," : "");
        put_string(to, texts[i]);
    }
    put(to, "],\n");
}

static void put_log(const struct pt_html *h, struct pt_html_bytes *to)
{
    put(to, "\"log\":{\"name\":");
    put_string(to, h->options.name);
    put(to, ",\"id\":\"");
    for (size_t i = 0; i < sizeof h->info.id; i++)
        put(to, "%02x", h->info.id[i]);
    put(to, "\",\"print\":");
    put_string(to, h->options.print);
    put(to, ",\"why\":");
    put_string(to, h->options.why);
    put(to, "},\n\"origin\":\"%" PRId64 "\",\"span\":%" PRId64 ",\"events\":%" PRIu64 ",\n",
        h->origin, h->span, h->events);
}

static void put_lost(const struct pt_html *h, struct pt_html_bytes *to)
{
    uint64_t total = 0, marks = 0;
    bool any = false;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        total += h->info.lost[i];
    posixtrace_event_count(h->trid, POSIX_TRACE_OVERFLOW, &marks);
    put(to, "\"lost\":{\"total\":\"%" PRIu64 "\",\"causes\":[", total);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        if (h->info.lost[i] == 0)
            continue;
        put(to, any ? ",[" : "[");
        put_string(to, posixtrace_loss_cause_text(i));
        put(to, ",\"%" PRIu64 "\"]", h->info.lost[i]);
        any = true;
    }
    put(to, "]},\"unmarked\":%s,\n", total > 0 && marks == 0 ? "true" : "false");
}

/* ---- types ---- */

static void put_names(const struct posixtrace_field *f, char kind, struct pt_html_bytes *to)
{
    if (f->kind == POSIXTRACE_FIELD_BOOL && !f->array)
        put(to, ",\"names\":[[\"0\",\"false\"],[\"1\",\"true\"]]");
    if (f->enumerator_count == 0 || !strchr("uix", kind))
        return;
    put(to, ",\"names\":[");
    for (size_t i = 0, n = 0; i < f->enumerator_count; i++) {
        const struct posixtrace_enumerator *e = &f->enumerators[i];

        if (posixtrace_field_enumerator(f, e->value) != e->name)
            continue;
        put(to, n++ ? ",[\"" : "[\"");
        if (kind == 'i')
            put(to, "%" PRId64 "\",", e->value);
        else
            put(to, "%" PRIu64 "\",", (uint64_t)e->value);
        put_string(to, e->name);
        put(to, "]");
    }
    put(to, "]");
}

/* Names of addresses that the field has. */
static void put_addresses(const struct pt_html *h, const struct pt_html_field *f,
                          struct pt_html_bytes *to)
{
    bool any = false;

    for (size_t i = 0; i < f->named_count; i++) {
        const char *name = f->named[i].ambiguous
                               ? NULL
                               : pt_html_address_name(h, f->address, &f->named[i]);

        if (!name)
            continue;
        put(to, "%s\"%" PRIu64 "\",", any ? ",[" : ",\"names\":[[", f->named[i].address);
        put_string(to, name);
        put(to, "]");
        any = true;
    }
    put(to, any ? "]" : "");
}

static void put_type(const struct pt_html *h, const struct pt_html_type *t,
                     struct pt_html_bytes *to)
{
    put(to, "{\"name\":");
    put_string(to, t->name);
    put(to, ",\"system\":%s,\"begin\":%d,\"end\":%d,\"fields\":[", t->is_system ? "true" : "false",
        (int)t->begin, (int)t->end);
    for (size_t i = 0; i < t->count; i++) {
        const struct posixtrace_field *f = posixtrace_layout_field(t->layout, i);

        put(to, i ? ",{\"name\":" : "{\"name\":");
        put_string(to, f->name);
        put(to, ",\"kind\":\"%c\",\"bits\":%u", t->fields[i].kind, f->bits);
        put_names(f, t->fields[i].kind, to);
        put_addresses(h, &t->fields[i], to);
        put(to, "}");
    }
    put(to, "]}");
}

/* By name, or in hexadecimal. */
static void put_address(const struct pt_html *h, enum pt_html_address kind,
                        const struct pt_html_site *site, struct pt_html_bytes *to)
{
    const char *text = pt_html_address_name(h, kind, site);

    if (text)
        put_string(to, text);
    else
        put(to, "\"0x%" PRIx64 "\"", site->address);
}

static void put_types(const struct pt_html *h, struct pt_html_bytes *to)
{
    put(to, "\"types\":[");
    for (uint32_t i = 0; i < h->type_count; i++) {
        put(to, i ? ",\n" : "");
        put_type(h, h->type_list[i], to);
    }
    put(to, "],\n\"sites\":[");
    for (size_t i = 0; i < h->site_count; i++) {
        put(to, i ? "," : "");
        put_address(h, PT_HTML_CODE, &h->sites[i], to);
    }
    put(to, "],\n");
}

/* ---- lanes and rows ---- */

static void put_lanes(const struct pt_html *h, struct pt_html_bytes *to)
{
    put(to, "\"processes\":[");
    for (size_t i = 0; i < h->processes.count; i++) {
        const struct pt_html_process *p = h->processes.items[i];

        put(to, "%s{\"pid\":%d,\"name\":", i ? ",\n" : "", (int)p->pid);
        put_string(to, p->name);
        put(to, "}");
    }
    put(to, "],\n\"lanes\":[");
    for (size_t i = 0; i < h->lanes.count; i++) {
        const struct pt_html_lane *l = h->lanes.items[i];

        put(to, "%s{\"process\":%d,\"tid\":%d,\"name\":", i ? ",\n" : "",
            l->process ? (int)l->process->number : -1, l->shared ? 0 : (int)l->tid);
        put_string(to, l->name);
        put(to,
            ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"events\":%" PRIu64 ",\"lost\":\"%" PRIu64
            "\"}",
            l->events ? l->begin : 0, l->end, l->events, l->lost);
    }
    put(to, "],\n");
}

/* Of all values, so that the scale is the same whatever part is in view. */
static void put_range(const struct pt_html_row *r, struct pt_html_bytes *to)
{
    if (r->least <= r->most)
        put(to, ",\"least\":%.17g,\"greatest\":%.17g", r->least, r->most);
}

static void put_row(const struct pt_html *h, const struct pt_html_row *r, struct pt_html_bytes *to)
{
    const struct pt_html_process *process;
    struct pt_html_site site;
    static const char *const kinds[] = { "slice", "state", "events", "counter",
                                         "loss",  "cpu",   "lock" };

    put(to, "{\"kind\":\"%s\"", kinds[r->kind]);
    switch (r->kind) {
    case PT_HTML_SLICE:
        put(to, ",\"lane\":%" PRIu32 ",\"depth\":%" PRIu32, r->owner, r->part);
        break;
    case PT_HTML_STATE:
    case PT_HTML_EVENTS: put(to, ",\"lane\":%" PRIu32, r->owner); break;
    case PT_HTML_COUNTER:
        put(to, ",\"process\":%d,\"name\":", (int)r->owner);
        put_string(to, h->counter_names[r->part]);
        put_range(r, to);
        break;
    case PT_HTML_LOSS: put(to, ",\"lane\":-1"); break;
    case PT_HTML_CPU: put(to, ",\"cpu\":%" PRIu32, r->owner); break;
    case PT_HTML_LOCK:
        process = h->processes.items[r->owner];
        put(to, ",\"process\":%d,\"object\":\"%" PRIu64 "\",\"name\":", (int)r->owner, r->object);
        site = (struct pt_html_site){ r->object, h->origin + h->span, process->pid, false };
        put_address(h, PT_HTML_DATA, &site, to);
        break;
    }
    put(to, "}");
}

static void put_rows(const struct pt_html *h, struct pt_html_bytes *to)
{
    put(to, "\"rows\":[");
    for (uint32_t i = 0; i < h->row_count; i++) {
        put(to, i ? ",\n" : "");
        put_row(h, &h->rows[i], to);
    }
    put(to, "],\n");
}

static void put_states(struct pt_html_bytes *to)
{
    static const char *const further[] = { [PT_REPORT_RUN] = "running",
                                           [PT_REPORT_RUNNABLE] = "runnable",
                                           [PT_REPORT_UNNAMED] = "unnamed",
                                           [PT_REPORT_UNKNOWN] = "unknown" };

    put(to, "\"states\":[");
    for (unsigned i = 0; i <= PT_REPORT_UNKNOWN; i++) {
        put(to, i ? "," : "");
        put_string(to, i < POSIXTRACE_WAIT_KINDS ? posixtrace_wait_text(i) : further[i]);
    }
    put(to, "],\n");
}

/* ---- tiles ---- */

static uint32_t place(const struct pt_html *h, uint32_t block)
{
    return h->blocks.items[block].number;
}

static void put_tiles(const struct pt_html *h, const struct pt_html_tiles *tiles,
                      struct pt_html_bytes *to)
{
    bool any = false;

    put(to, "[");
    for (size_t i = 0; i < tiles->count; i++) {
        const struct pt_html_tile *t = &tiles->at[i];

        if (t->block == PT_HTML_NO_BLOCK)
            continue;
        put(to,
            "%s{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"block\":%" PRIu32 ",\"items\":%" PRIu64
            "}",
            any ? ",\n" : "", t->from, t->to, place(h, t->block), t->items);
        any = true;
    }
    put(to, "]");
}

static void put_level(const struct pt_html *h, const struct pt_html_tiles *tiles,
                      int64_t resolution, bool *any, struct pt_html_bytes *to)
{
    uint64_t items = 0;

    if (tiles->count == 0)
        return;
    for (size_t i = 0; i < tiles->count; i++)
        items += tiles->at[i].items;
    put(to, "%s{\"resolution\":%" PRId64 ",\"items\":%" PRIu64 ",\"tiles\":", *any ? ",\n" : "",
        resolution, items);
    put_tiles(h, tiles, to);
    put(to, "}");
    *any = true;
}

static void put_levels(const struct pt_html *h, struct pt_html_bytes *to)
{
    bool any = false;

    put(to, "\"levels\":[");
    for (unsigned n = h->level_count; n > 0; n--)
        put_level(h, &h->levels[n - 1].tiles, INT64_C(1) << h->levels[n - 1].shift, &any, to);
    put(to, "],\n\"counters\":[");
    any = false;
    for (unsigned n = h->counter_count; n > 0; n--)
        put_level(h, &h->counters[n - 1].tiles, n > 1 ? INT64_C(1) << h->counters[n - 1].shift : 0,
                  &any, to);
    put(to, "],\n");
}

static void put_event_tiles(const struct pt_html *h, struct pt_html_bytes *to)
{
    bool any = false;

    put(to, "\"detail\":{\"events\":[");
    for (size_t i = 0; i < h->now.count; i++) {
        const struct pt_html_event_tile *t = &h->now.tiles[i];

        if (t->block == PT_HTML_NO_BLOCK)
            continue;
        put(to, "%s{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"block\":%" PRIu32 ",\"fields\":",
            any ? ",\n" : "", t->from, t->to, place(h, t->block));
        if (t->fields == PT_HTML_NO_BLOCK)
            put(to, "-1");
        else
            put(to, "%" PRIu32, place(h, t->fields));
        put(to, ",\"events\":%" PRIu64 ",\"first\":%" PRIu64 "}", t->events, t->first);
        any = true;
    }
    put(to, "]");
}

static void put_detail(const struct pt_html *h, struct pt_html_bytes *to)
{
    put_event_tiles(h, to);
    put(to, ",\n\"long\":");
    put_tiles(h, &h->long_tiles, to);
    put(to, ",\n\"items\":");
    put_tiles(h, &h->detail_tiles, to);
    put(to, ",\n\"flows\":");
    put_tiles(h, &h->flow_tiles, to);
    put(to, ",\n\"missing\":[");
    for (size_t i = 0; i < h->missing.count; i++)
        put(to, "%s[%" PRId64 ",%" PRId64 "]", i ? "," : "", h->missing.at[i].from,
            h->missing.at[i].to);
    put(to, "]},\n");
}

static void put_optional(struct pt_html_bytes *to, const char *key, const char *json)
{
    if (!json)
        return;
    put(to, "\"%s\":", key);
    pt_html_json_copy(to, json);
    put(to, ",");
}

static void put_reports(const struct pt_html *h, struct pt_html_bytes *to)
{
    put_optional(to, "flame", h->options.flame);
    put_optional(to, "distributions", h->options.distributions);
    put(to, "\"report\":");
    pt_html_json_copy(to, h->options.report ? h->options.report : "null");
    put(to, ",\n\"why\":[");
    for (size_t i = 0; i < h->options.why_count; i++) {
        put(to, i ? "," : "");
        pt_html_json_copy(to, h->options.why_reports[i]);
    }
    put(to, "]");
}

void pt_html_head(struct pt_html *h, struct pt_html_bytes *to)
{
    put(to, "{\"version\":1,\"producer\":\"posixtrace %s\",\"first\":%" PRIu32 ",\n",
        pt_html_version, h->first_blocks);
    put_log(h, to);
    put_lost(h, to);
    put_strings(to, "notes", h->notes, h->note_count);
    put_strings(to, "labels", h->labels, h->labels_known);
    put_states(to);
    put_types(h, to);
    put_lanes(h, to);
    put_rows(h, to);
    put_levels(h, to);
    put_detail(h, to);
    put_reports(h, to);
    put(to, "}\n");
    if (to->failed)
        pt_html_fail(h, ENOMEM);
}
