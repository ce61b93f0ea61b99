/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines, each an object TracesData with spans of one process.  Some processes have a line under
 * construction; the one that has waited longest makes room for a further one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

static void put_hex(struct pt_json *j, const char *key, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * 16];
    uint8_t any = 0;

    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
        any |= bytes[i];
    }
    if (any)
        pt_otlp_put_text(j, key, text, 2 * size);
}

static void put_resource(struct pt_otlp *o, const struct pt_otlp_process *p)
{
    const char *service = o->service ? o->service : p->name[0] ? p->name : "unknown_service";
    const struct posixtrace_info *info = &o->info;
    struct pt_json *j = &o->out;

    PT_JSON_TEXT(j, "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
                    "{\"key\":\"telemetry.sdk.name\",\"value\":{\"stringValue\":\"posixtrace\"}}");
    pt_otlp_put_text(j, "service.name", service, strlen(service));
    if (p->pid)
        pt_otlp_put_int(j, "process.pid", p->pid);
    if (info->host[0])
        pt_otlp_put_text(j, "host.name", info->host, strnlen(info->host, sizeof info->host));
    put_hex(j, "posixtrace.boot.id", info->boot_id, sizeof info->boot_id);
    put_hex(j, "posixtrace.log.id", info->id, sizeof info->id);
    if (o->log_file)
        pt_otlp_put_text(j, "posixtrace.log.file", o->log_file, strlen(o->log_file));
    PT_JSON_TEXT(j, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"posixtrace\",\"version\":");
    pt_json_string(j, o->version, strlen(o->version));
    PT_JSON_TEXT(j, "},\"spans\":[");
}

static void write_line(struct pt_otlp *o, struct pt_otlp_process *p)
{
    if (p->spans == 0)
        return;
    put_resource(o, p);
    pt_json_flush(&o->out);
    if (!o->out.failed && fwrite(p->text, 1, p->bytes, o->out.file) != p->bytes)
        o->out.failed = true;
    PT_JSON_TEXT(&o->out, "]}]}]}\n");
    p->bytes = p->spans = 0;
}

static struct pt_otlp_process *process_of(struct pt_otlp *o, int32_t pid)
{
    struct pt_otlp_process *p = o->processes;

    for (size_t i = 0; i < PT_OTLP_PROCESSES; i++) {
        struct pt_otlp_process *q = &o->processes[i];

        if (q->used && q->pid == pid)
            return q;
        if (q->used < p->used)
            p = q;
    }
    write_line(o, p);
    p->pid = pid;
    p->name[0] = '\0';
    return p;
}

struct pt_otlp_process *pt_otlp_span_begin(struct pt_otlp *o, int32_t pid)
{
    struct pt_otlp_process *p = process_of(o, pid);
    const char *name = pt_timeline_process_name(o->timeline, pid);

    if (p->spans == PT_OTLP_LINE_SPANS || p->bytes > PT_OTLP_LINE_BYTES - PT_OTLP_SPAN_BYTES)
        write_line(o, p);
    p->used = ++o->clock;
    if (name[0])
        memcpy(p->name, name, sizeof p->name);
    if (p->spans++ > 0)
        pt_otlp_append(o, p, ",", 1);
    return o->job->error ? NULL : p;
}

void pt_otlp_append(struct pt_otlp *o, struct pt_otlp_process *p, const char *text, size_t length)
{
    size_t room = p->room ? p->room : 64 << 10;
    char *more;

    while (room < p->bytes + length)
        room *= 2;
    if (room > p->room) {
        more = realloc(p->text, room);
        if (!more) {
            pt_job_fail(o->job, ENOMEM, "no memory for a line of spans");
            return;
        }
        p->text = more;
        p->room = room;
    }
    if (length > 0)
        memcpy(p->text + p->bytes, text, length);
    p->bytes += length;
}

void pt_otlp_take(struct pt_otlp *o, struct pt_otlp_process *p)
{
    pt_otlp_append(o, p, o->scratch.text, o->scratch.used);
    o->scratch.used = 0;
}

void pt_otlp_lines_end(struct pt_otlp *o)
{
    for (size_t i = 0; i < PT_OTLP_PROCESSES; i++)
        write_line(o, &o->processes[i]);
    pt_json_flush(&o->out);
}

void pt_otlp_lines_free(struct pt_otlp *o)
{
    for (size_t i = 0; i < PT_OTLP_PROCESSES; i++)
        free(o->processes[i].text);
}
