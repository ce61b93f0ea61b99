/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The metadata of a CTF trace: TSDL, as section 7 of the specification of CTF 1.8 has it.
 *
 * A field's name gets an underscore in front, which readers take away again: so no name
 * is a keyword.  A count that goes before a field is a field itself, with another
 * underscore in front and "_length" appended, as LTTng calls them.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "analysis/format/ctf/ctf.h"

static const char kinds[] = { [POSIXTRACE_FIELD_UNSIGNED] = 'u', [POSIXTRACE_FIELD_SIGNED] = 'i',
                              [POSIXTRACE_FIELD_HEX] = 'x',      [POSIXTRACE_FIELD_FLOAT] = 'f',
                              [POSIXTRACE_FIELD_BOOL] = 'u',     [POSIXTRACE_FIELD_CHAR] = 't' };

/* In quotes.  Names come from traced programs and hold any bytes. */
static void put_string(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(to, "\\%03o", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

static void put_aliases(FILE *to)
{
    static const char *const orders[] = { "le", "be" };

    for (unsigned o = 0; o < 2; o++) {
        for (unsigned bits = 8; bits <= 64; bits *= 2)
            for (const char *k = "uix"; *k; k++)
                fprintf(to,
                        "typealias integer { size = %u; align = 8; signed = %s; base = %d; "
                        "byte_order = %s; } := %c%u_%s;\n",
                        bits, *k == 'i' ? "true" : "false", *k == 'x' ? 16 : 10, orders[o], *k,
                        bits, orders[o]);
        for (unsigned bits = 32; bits <= 64; bits *= 2)
            fprintf(to,
                    "typealias floating_point { exp_dig = %d; mant_dig = %d; align = 8; "
                    "byte_order = %s; } := f%u_%s;\n",
                    bits == 32 ? 8 : 11, bits == 32 ? 24 : 53, orders[o], bits, orders[o]);
    }
    fputs("typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text;\n"
          "\n",
          to);
}

static void put_trace(FILE *to, const struct ctf_about *a)
{
    fputs("trace {\n    major = 1;\n    minor = 8;\n    uuid = \"", to);
    for (unsigned i = 0; i < sizeof a->uuid; i++)
        fprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", a->uuid[i]);
    fputs("\";\n    byte_order = le;\n    packet.header := struct {\n        u32_le magic;\n"
          "        u8_le uuid[16];\n        u32_le stream_id;\n"
          "        u64_le stream_instance_id;\n    };\n};\n\n",
          to);
}

static void put_env(FILE *to, const struct ctf_about *a)
{
    time_t seconds = (time_t)(a->created_ns / 1000000000);
    char when[64] = "";
    struct tm tm;

    if (a->created_ns && gmtime_r(&seconds, &tm))
        strftime(when, sizeof when, "%Y%m%dT%H%M%S+0000", &tm);
    fputs("env {\n    tracer_name = \"posixtrace\";\n    trace_name = ", to);
    put_string(to, a->name);
    fputs(";\n    generation_version = ", to);
    put_string(to, a->version);
    fprintf(to, ";\n    trace_creation_datetime = \"%s\";\n};\n\n", when);
}

static void put_clock(FILE *to, const struct ctf_about *a)
{
    fprintf(to,
            "clock {\n    name = \"posixtrace\";\n"
            "    description = \"CLOCK_REALTIME in nanoseconds\";\n    freq = 1000000000;\n"
            "    offset_s = %" PRIi64 ";\n    offset = 0;\n    absolute = true;\n};\n\n"
            "typealias integer {\n    size = 64; align = 8; signed = false; byte_order = le;\n"
            "    map = clock.posixtrace.value;\n} := clock_value;\n\n",
            a->offset_s);
}

static void put_stream(FILE *to)
{
    fputs("stream {\n    id = 0;\n    event.header := struct {\n        u16_le id;\n"
          "        clock_value timestamp;\n    };\n    event.context := struct {\n"
          "        i32_le _vpid;\n        i32_le _vtid;\n        x64_le _ip;\n"
          "        enum : u8_le { \"no\" = 0, \"yes\" = 1 } _truncated;\n    };\n"
          "    packet.context := struct {\n        clock_value timestamp_begin;\n"
          "        clock_value timestamp_end;\n        u64_le content_size;\n"
          "        u64_le packet_size;\n        u64_le packet_seq_num;\n"
          "        u64_le events_discarded;\n        i32_le _pid;\n        i32_le _tid;\n"
          "        x64_le _thread_id;\n        text _thread_name[16];\n    };\n};\n\n",
          to);
}

/* The name of the count of a field; not one that a field has. */
static void count_name(const posixtrace_layout_t *layout, const struct posixtrace_field *f,
                       char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "_%s_length", f->name);

    while (posixtrace_layout_find(layout, to) < posixtrace_layout_count(layout) &&
           used + 1 < size) {
        to[used++] = '_';
        to[used] = '\0';
    }
}

static bool holds(const struct posixtrace_field *f, int64_t value)
{
    if (f->kind == POSIXTRACE_FIELD_SIGNED)
        return f->bits == 64 ||
               (value >= -(INT64_C(1) << (f->bits - 1)) && value < INT64_C(1) << (f->bits - 1));
    return f->bits == 64 || (value >= 0 && value < INT64_C(1) << f->bits);
}

/* Values that the field cannot have, and second names of a value, are left out. */
static bool put_enumeration(FILE *to, const struct posixtrace_field *f, const char *order)
{
    bool any = false;

    for (size_t i = 0; i < f->enumerator_count; i++) {
        const struct posixtrace_enumerator *e = &f->enumerators[i];

        if (!holds(f, e->value) || posixtrace_field_enumerator(f, e->value) != e->name)
            continue;
        if (!any)
            fprintf(to, "enum : %c%u_%s { ", kinds[f->kind], f->bits, order);
        fputs(any ? ", " : "", to);
        put_string(to, e->name);
        fprintf(to, f->kind == POSIXTRACE_FIELD_SIGNED ? " = %" PRIi64 : " = %" PRIu64, e->value);
        any = true;
    }
    if (any)
        fputs(" }", to);
    return any;
}

static void put_type(FILE *to, const struct posixtrace_field *f, bool text, const char *order)
{
    if (f->kind == POSIXTRACE_FIELD_BOOL)
        fprintf(to, "enum : u8_%s { \"false\" = 0, \"true\" = 1 }", order);
    else if (f->kind == POSIXTRACE_FIELD_BYTES || (f->kind >= POSIXTRACE_FIELD_CHAR && !text))
        fprintf(to, "x8_%s", order);
    else if (f->kind == POSIXTRACE_FIELD_CHAR || f->kind == POSIXTRACE_FIELD_STRING)
        fputs("text", to);
    else if (!f->enumerator_count || !put_enumeration(to, f, order))
        fprintf(to, "%c%u_%s", kinds[f->kind], f->bits, order);
}

static void put_field(FILE *to, const posixtrace_layout_t *layout, const struct posixtrace_field *f,
                      bool text)
{
    const char *order = posixtrace_layout_is_big_endian(layout) ? "be" : "le";
    bool rest = f->kind == POSIXTRACE_FIELD_BYTES && !f->count && !f->count_bits;
    char count[192];

    if (f->kind == POSIXTRACE_FIELD_STRING && !f->count && !f->count_bits) {
        fprintf(to, "        string { encoding = UTF8; } _%s;\n", f->name);
        return;
    }
    count_name(layout, f, count, sizeof count);
    if (f->count_bits || rest)
        fprintf(to, "        u%u_%s _%s;\n", rest ? 32 : f->count_bits, rest ? "le" : order, count);
    fputs("        ", to);
    put_type(to, f, text, order);
    fprintf(to, " _%s", f->name);
    if (f->count_bits || rest)
        fprintf(to, "[_%s]", count);
    else if (f->array || f->kind == POSIXTRACE_FIELD_STRING || f->kind == POSIXTRACE_FIELD_BYTES)
        fprintf(to, "[%zu]", f->count);
    fputs(";\n", to);
}

static void put_class(FILE *to, const struct ctf_class *c, size_t id)
{
    const struct posixtrace_field *f;

    fputs("event {\n    name = ", to);
    put_string(to, c->name);
    fprintf(to, ";\n    id = %zu;\n    stream_id = 0;\n", id);
    if (c->form != CTF_NOTHING)
        fputs("    fields := struct {\n", to);
    if (c->form == CTF_BYTES)
        fputs("        u32_le __data_length;\n        x8_le _data[__data_length];\n", to);
    for (size_t i = 0; c->layout && (f = posixtrace_layout_field(c->layout, i)); i++)
        put_field(to, c->layout, f, c->form != CTF_NO_TEXT);
    if (c->form != CTF_NOTHING)
        fputs("    };\n", to);
    fputs("};\n\n", to);
}

void pt_ctf_metadata_write(FILE *to, const struct ctf_about *about,
                           const struct ctf_classes *classes)
{
    fputs("/* CTF 1.8 */\n\n", to);
    put_aliases(to);
    put_trace(to, about);
    put_env(to, about);
    put_clock(to, about);
    put_stream(to);
    for (size_t i = 0; i < classes->count; i++)
        put_class(to, &classes->list[i], i);
}
