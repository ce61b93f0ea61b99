/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The parser of descriptions:
 *
 *   description = [("le" | "be") ";"] field {";" field} [";"]
 *   field       = type ["[" number "]" | ":" ("u8" | "u16" | "u32")] name [enumeration]
 *   enumeration = "{" name ["=" integer] {"," name ["=" integer]} "}"
 *
 * By recursive descent, without recursion: the language does not nest.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/event.h"
#include "model/layout.h"
#include "model/ctype_c.h"

#define NAME_MAX_BYTES 63u
#define ELEMENTS_MAX   65535u
#define LONG_NAME      "a name has up to 63 bytes, not"

struct parser {
    const char *from, *at;
    struct posixtrace_layout *l;
    struct posixtrace_layout_fault *fault;
    size_t text_used, enumerators_used;
    bool strict; /* a program declares it; else it is from a log or a stream */
    bool failed;
};

struct word {
    const char *at;
    size_t len;
};

static const struct base {
    char name[6];
    uint8_t kind, bits;
} bases[] = {
    { "u8", POSIXTRACE_FIELD_UNSIGNED, 8 },   { "u16", POSIXTRACE_FIELD_UNSIGNED, 16 },
    { "u32", POSIXTRACE_FIELD_UNSIGNED, 32 }, { "u64", POSIXTRACE_FIELD_UNSIGNED, 64 },
    { "i8", POSIXTRACE_FIELD_SIGNED, 8 },     { "i16", POSIXTRACE_FIELD_SIGNED, 16 },
    { "i32", POSIXTRACE_FIELD_SIGNED, 32 },   { "i64", POSIXTRACE_FIELD_SIGNED, 64 },
    { "x8", POSIXTRACE_FIELD_HEX, 8 },        { "x16", POSIXTRACE_FIELD_HEX, 16 },
    { "x32", POSIXTRACE_FIELD_HEX, 32 },      { "x64", POSIXTRACE_FIELD_HEX, 64 },
    { "f32", POSIXTRACE_FIELD_FLOAT, 32 },    { "f64", POSIXTRACE_FIELD_FLOAT, 64 },
    { "bool", POSIXTRACE_FIELD_BOOL, 8 },     { "char", POSIXTRACE_FIELD_CHAR, 8 },
    { "str", POSIXTRACE_FIELD_STRING, 8 },    { "bytes", POSIXTRACE_FIELD_BYTES, 8 },
};

/* Only the first fault counts, since later ones may be its consequences. */
static bool fail(struct parser *p, const char *at, const char *what, struct word w)
{
    if (!p->failed && p->fault) {
        p->fault->column = (size_t)(at - p->from) + 1;
        snprintf(p->fault->text, sizeof p->fault->text, "%s%s%.*s%s", what, w.len ? " '" : "",
                 (int)(w.len < 40 ? w.len : 40), w.len ? w.at : "", w.len ? "'" : "");
    }
    p->failed = true;
    return false;
}

static void skip_space(struct parser *p)
{
    while (pt_is_space(*p->at))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

/* A word, or of length 0 where there is none. */
static struct word take_word(struct parser *p)
{
    struct word w;

    skip_space(p);
    w.at = p->at;
    while (pt_is_word_byte(*p->at, p->at == w.at))
        p->at++;
    w.len = (size_t)(p->at - w.at);
    return w;
}

static bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.at, text, w.len) == 0;
}

/* The text at this place, for a message. */
static struct word here(const struct parser *p)
{
    struct word w = { p->at, 0 };

    while (w.at[w.len] && !pt_is_space(w.at[w.len]) && w.len < 12)
        w.len++;
    return w;
}

static const char *keep_name(struct parser *p, struct word w)
{
    char *to = p->l->text + p->text_used;

    memcpy(to, w.at, w.len);
    to[w.len] = '\0';
    p->text_used += w.len + 1;
    return to;
}

/* wide: up to 2^64 - 1; *value has its bits.  Keeps errno, as an event does that comes here. */
static bool take_integer(struct parser *p, bool wide, long long *value)
{
    int saved = errno, error;
    char *end;

    skip_space(p);
    errno = 0;
    *value = wide && *p->at != '-' ? (long long)strtoull(p->at, &end, 0) : strtoll(p->at, &end, 0);
    error = errno;
    errno = saved;
    if (end == p->at || error != 0)
        return fail(p, p->at, "not an integer of 64 bits:", here(p));
    p->at = end;
    return true;
}

/* Parses the optional extent after the base type: how many elements there are. */
static bool parse_extent(struct parser *p, struct posixtrace_field *f)
{
    bool text = f->kind == POSIXTRACE_FIELD_STRING || f->kind == POSIXTRACE_FIELD_BYTES;
    const char *at;
    struct word w;
    long long n;

    if (take(p, '[')) {
        at = p->at;
        if (!take_integer(p, false, &n))
            return false;
        if (n < 1 || n > (long long)ELEMENTS_MAX)
            return fail(p, at, "between [ and ] stands 1 to 65535", (struct word){ 0 });
        if (!take(p, ']'))
            return fail(p, p->at, "] is missing", (struct word){ 0 });
        f->count = (size_t)n;
        f->array = !text;
    } else if (take(p, ':')) {
        at = p->at;
        w = take_word(p);
        f->count_bits = word_is(w, "u8") ? 8 : word_is(w, "u16") ? 16 : word_is(w, "u32") ? 32 : 0;
        if (!f->count_bits)
            return fail(p, at, "a count is u8, u16 or u32, not", w);
        f->array = !text;
    } else if (!text) {
        f->count = 1;
    }
    return true;
}

/* qsort() may allocate, which a handler must not; most are in order already. */
static void sort_by_value(struct posixtrace_enumerator *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct posixtrace_enumerator x = e[i];
        size_t at = i;

        for (; at && e[at - 1].value > x.value; at--)
            e[at] = e[at - 1];
        e[at] = x;
    }
}

static bool is_wide(const struct posixtrace_field *f)
{
    return f->bits == 64 && f->kind != POSIXTRACE_FIELD_SIGNED;
}

/* *value has its bits where the field is wide, so only a sign can be too much there. */
static bool fits(const struct posixtrace_field *f, long long value, bool negative)
{
    if (f->kind != POSIXTRACE_FIELD_SIGNED)
        return !negative && (f->bits == 64 || value >> f->bits == 0);
    return f->bits == 64 || (value >> (f->bits - 1)) == (value < 0 ? -1 : 0);
}

/* Is there a value after that of the last name? */
static bool fits_after(const struct posixtrace_field *f)
{
    long long last = f->enumerators[f->enumerator_count - 1].value;

    if (f->bits == 64)
        return last != (f->kind == POSIXTRACE_FIELD_SIGNED ? INT64_MAX : -1);
    return fits(f, last + 1, last < -1);
}

static bool fail_range(struct parser *p, const struct posixtrace_field *f, struct word at)
{
    bool is_signed = f->kind == POSIXTRACE_FIELD_SIGNED;
    uint64_t most = UINT64_MAX >> (64 - f->bits + is_signed);
    char says[80] = "";

    if (p->fault) /* else this may be a signal handler, which must not call snprintf() */
        snprintf(says, sizeof says, "the field's values are %" PRId64 " to %" PRIu64 ", not",
                 is_signed ? -(int64_t)most - 1 : 0, most);
    return fail(p, at.at, says, at);
}

static bool is_twice(const struct posixtrace_field *f, struct word name, long long value)
{
    for (size_t i = 0; i < f->enumerator_count; i++)
        if (f->enumerators[i].value == value && word_is(name, f->enumerators[i].name))
            return true;
    return false;
}

static bool take_written_value(struct parser *p, const struct posixtrace_field *f, struct word name,
                               long long *value)
{
    struct word number;

    skip_space(p);
    number.at = p->at;
    if (!take_integer(p, is_wide(f), value))
        return false;
    number.len = (size_t)(p->at - number.at);
    if (!p->strict)
        return true;
    if (!fits(f, *value, *number.at == '-' && *value != 0))
        return fail_range(p, f, number);
    if (is_twice(f, name, *value))
        return fail(p, name.at, "a name has the same value twice; leave one out:", name);
    return true;
}

/* A name may have several values, as in CTF, but then each is written: {x=1, x=5}.  {x, x} is
 * certainly a mistake, and so is a value that the field cannot have. */
static bool take_value(struct parser *p, const struct posixtrace_field *f, struct word name,
                       long long *value)
{
    if (take(p, '='))
        return take_written_value(p, f, name, value);
    for (size_t i = 0; i < f->enumerator_count; i++)
        if (word_is(name, f->enumerators[i].name))
            return fail(p, name.at, "two values without a number are called", name);
    if (p->strict && f->enumerator_count && !fits_after(f))
        return fail(p, name.at, "the name before has the greatest value; write one for", name);
    return true;
}

static bool parse_enumeration(struct parser *p, struct posixtrace_field *f)
{
    struct posixtrace_enumerator *e = p->l->enumerators + p->enumerators_used;
    long long next = 0;

    if (f->kind > POSIXTRACE_FIELD_HEX)
        return fail(p, p->at, "only integers have names of values", (struct word){ 0 });
    f->enumerators = e;
    do {
        struct word w = take_word(p);

        if (w.len == 0 || w.len > NAME_MAX_BYTES)
            return fail(p, w.at,
                        w.len ? LONG_NAME : "not the name of a value:", w.len ? w : here(p));
        if (!take_value(p, f, w, &next))
            return false;
        e[f->enumerator_count++] = (struct posixtrace_enumerator){ keep_name(p, w), next };
        next = (long long)((unsigned long long)next + 1);
    } while (take(p, ','));
    p->enumerators_used += f->enumerator_count;
    sort_by_value(e, f->enumerator_count);
    if (!take(p, '}'))
        return fail(p, p->at, "} is missing", (struct word){ 0 });
    return true;
}

static bool parse_field(struct parser *p, struct word type)
{
    struct posixtrace_layout *l = p->l;
    struct posixtrace_field *f = &l->fields[l->count];
    size_t i = 0;
    struct word w;

    if (l->count == POSIXTRACE_FIELDS_MAX)
        return fail(p, type.at, "more than 64 fields", (struct word){ 0 });
    while (i < sizeof bases / sizeof *bases && !word_is(type, bases[i].name))
        i++;
    if (i == sizeof bases / sizeof *bases)
        return fail(p, type.at, type.len || *p->at ? "not a type:" : "a field is missing",
                    type.len ? type : here(p));
    *f = (struct posixtrace_field){ .kind = bases[i].kind, .bits = bases[i].bits };
    if (!parse_extent(p, f))
        return false;
    w = take_word(p);
    if (w.len == 0 || w.len > NAME_MAX_BYTES)
        return fail(p, w.at, w.len ? LONG_NAME : "not the name of a field:", w.len ? w : here(p));
    f->name = keep_name(p, w);
    if (pt_layout_find(l, f->name) < l->count)
        return fail(p, w.at, "two fields are called", w);
    l->count++;
    if (take(p, '{') && !parse_enumeration(p, f))
        return false;
    if (f->kind == POSIXTRACE_FIELD_BYTES && !f->count && !f->count_bits) {
        skip_space(p);
        if (*p->at && !(take(p, ';') && (skip_space(p), !*p->at)))
            return fail(p, p->at, "bytes without a count take all the rest, but here follows",
                        here(p));
    }
    return true;
}

static bool parse_all(struct parser *p)
{
    struct word w = take_word(p);

    if (word_is(w, "le") || word_is(w, "be")) {
        p->l->says_order = true;
        p->l->big_endian = word_is(w, "be");
        if (!take(p, ';'))
            return fail(p, p->at, "after the byte order stands ;", (struct word){ 0 });
        w = take_word(p);
    }
    do {
        if (!parse_field(p, w))
            return false;
        skip_space(p);
        if (!*p->at)
            return true;
        if (!take(p, ';'))
            return fail(p, p->at, "after a field stands ; not", here(p));
        w = take_word(p);
    } while (*p->at || w.len);
    return true;
}

/* Bytes of the data if no field varies. */
static size_t fixed_size(const struct posixtrace_layout *l)
{
    size_t sum = 0;

    for (size_t i = 0; i < l->count; i++) {
        if (l->fields[i].count == 0)
            return 0;
        sum += l->fields[i].count * (l->fields[i].bits / 8);
    }
    return sum;
}

static size_t count_of(const char *text, char c)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == c;
    return n;
}

struct extent {
    size_t fields, enumerators, text;
};

/* All that the description can need. */
static struct extent extent_of(const char *description)
{
    struct extent e = { .fields = count_of(description, ';') + 1,
                        .text = strlen(description) + 1,
                        .enumerators = count_of(description, ',') + count_of(description, '{') };

    if (e.fields > POSIXTRACE_FIELDS_MAX)
        e.fields = POSIXTRACE_FIELDS_MAX;
    return e;
}

size_t pt_layout_room(const char *description)
{
    struct extent e = extent_of(description);

    return sizeof(struct posixtrace_layout) + e.enumerators * sizeof(struct posixtrace_enumerator) +
           e.fields * sizeof(struct posixtrace_field) + e.text;
}

static int build(const char *description, void *room, bool strict,
                 struct posixtrace_layout_fault *fault)
{
    struct posixtrace_layout *l = room;
    struct parser p = {
        .from = description, .at = description, .fault = fault, .l = l, .strict = strict
    };
    struct extent e = extent_of(description);

    memset(l, 0, sizeof *l);
    l->enumerators = (struct posixtrace_enumerator *)(l + 1);
    l->fields = (struct posixtrace_field *)(l->enumerators + e.enumerators);
    l->text = (char *)(l->fields + e.fields);
    if (!parse_all(&p))
        return -EINVAL;
    l->size = fixed_size(l);
    return 0;
}

int pt_layout_build(const char *description, void *room)
{
    return build(description, room, false, NULL);
}

static int parse(const char *description, bool strict, struct posixtrace_layout **layout,
                 struct posixtrace_layout_fault *fault)
{
    void *room;
    int r;

    if (strnlen(description, PT_DESCRIPTION_MAX + 1) > PT_DESCRIPTION_MAX)
        return -ENAMETOOLONG;
    room = malloc(pt_layout_room(description));
    if (!room)
        return -ENOMEM;
    r = build(description, room, strict, fault);
    if (r < 0)
        free(room);
    else
        *layout = room;
    return r;
}

int pt_layout_parse(const char *description, struct posixtrace_layout **layout,
                    struct posixtrace_layout_fault *fault)
{
    return parse(description, true, layout, fault);
}

int pt_layout_read(const char *description, struct posixtrace_layout **layout)
{
    return parse(description, false, layout, NULL);
}
