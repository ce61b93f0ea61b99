/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A BTF file, line by line, in constant memory: a buffer, and the mappings of
 * numbers to names, which are bounded.  Spellings vary between writers (timescale,
 * timeScale; entityType for typeTable), so parameters are known in any case.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "analysis/format/btf/btf.h"

#define BUFFER  (128u << 10)
#define IDS_MAX 65536u

enum { TABLE_NONE, TABLE_TYPES, TABLE_ENTITIES, TABLE_ENTITY_TYPES };

int pt_btf_file_init(struct pt_btf_file *f, FILE *from)
{
    memset(f, 0, sizeof *f);
    f->from = from;
    f->multiply = f->divide = 1;
    f->buffer = malloc(BUFFER + 1);
    return f->buffer ? 0 : ENOMEM;
}

void pt_btf_file_deinit(struct pt_btf_file *f)
{
    free(f->buffer);
    free(f->type_map);
    free(f->entity_map);
    pt_btf_names_free(&f->mapped);
    memset(f, 0, sizeof *f);
}

/* ---- lines ---- */

/* Reads more bytes after those that are left; false: end of file, or no room. */
static bool fill(struct pt_btf_file *f)
{
    size_t left = f->end - f->at, got;

    memmove(f->buffer, f->buffer + f->at, left);
    f->at = 0;
    f->end = left;
    if (f->ended || left == BUFFER)
        return false;
    got = fread(f->buffer + left, 1, BUFFER - left, f->from);
    f->ended = got < BUFFER - left;
    f->end += got;
    return got > 0;
}

/* The rest of a line that does not fit into the buffer. */
static int skip_line(struct pt_btf_file *f)
{
    char *newline;

    do {
        newline = memchr(f->buffer + f->at, '\n', f->end - f->at);
        f->at = newline ? (size_t)(newline - f->buffer) + 1 : f->end;
    } while (!newline && fill(f));
    return ferror(f->from) ? -(errno ? errno : EIO) : PT_BTF_TOO_LONG;
}

int pt_btf_file_next(struct pt_btf_file *f, char **text)
{
    char *newline, *end;
    size_t seen = 0;

    while (!(newline = memchr(f->buffer + f->at + seen, '\n', f->end - f->at - seen))) {
        seen = f->end - f->at;
        if (fill(f))
            continue;
        if (ferror(f->from))
            return -(errno ? errno : EIO);
        if (f->end == f->at)
            return PT_BTF_END;
        f->line++;
        if (f->end - f->at == BUFFER)
            return skip_line(f);
        newline = f->buffer + f->end;
        break;
    }
    if (newline != f->buffer + f->end)
        f->line++;
    *text = f->buffer + f->at;
    f->at = (size_t)(newline - f->buffer) + (newline != f->buffer + f->end);
    end = newline > *text && newline[-1] == '\r' ? newline - 1 : newline;
    *end = '\0';
    if (f->line == 1 && strncmp(*text, "\xef\xbb\xbf", 3) == 0)
        *text += 3;
    return memchr(*text, '\0', (size_t)(end - *text)) ? PT_BTF_HAS_NUL : PT_BTF_LINE;
}

/* ---- parameters ---- */

static char *trim(char *text)
{
    char *end;

    while (*text == ' ' || *text == '\t')
        text++;
    end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return text;
}

/* Ends the first word of text; returns the rest, without blanks around it. */
static char *cut_word(char *text)
{
    char *end = text + strcspn(text, " \t");

    if (!*end)
        return end;
    *end = '\0';
    return trim(end + 1);
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static const char *map(struct pt_btf_file *f, uint32_t **table, const char *id, const char *name)
{
    uint32_t number;
    unsigned long at = strtoul(id, NULL, 10);

    if (!is_number(id) || !*name)
        return "a mapping is a number and a name";
    if (strlen(id) > 9 || at >= IDS_MAX)
        return "numbers in mappings go up to 65535";
    if (!*table)
        *table = calloc(IDS_MAX, sizeof **table);
    number = *table ? pt_btf_names_put(&f->mapped, name) : PT_BTF_NO_NAME;
    if (number == PT_BTF_NO_NAME)
        return "too many names in mappings";
    if ((*table)[at] && (*table)[at] != number + 1)
        return "this number is mapped already";
    (*table)[at] = number + 1;
    return NULL;
}

/* The name that a mapping has for a number, or the text itself. */
static const char *mapped(const struct pt_btf_file *f, const uint32_t *table, const char *text)
{
    unsigned long at;

    if (!table || !is_number(text) || strlen(text) > 9)
        return text;
    at = strtoul(text, NULL, 10);
    return at < IDS_MAX && table[at] ? f->mapped.texts[table[at] - 1] : text;
}

static void map_entity_type(const struct pt_btf_file *f, struct pt_btf_header *h, const char *type,
                            const char *entity)
{
    h->type = pt_btf_type_find(mapped(f, f->type_map, type));
    h->entity = mapped(f, f->entity_map, entity);
    if (h->type == PT_BTF_TYPES)
        h->fault = "not an entity type";
    else if (!*h->entity)
        h->fault = "the name of an entity is missing";
}

static void take_mapping(struct pt_btf_file *f, struct pt_btf_header *h, int table, char *row)
{
    char *name = cut_word(row);

    h->kind = PT_BTF_MAPPING;
    if (table == TABLE_ENTITY_TYPES)
        map_entity_type(f, h, row, name);
    else if (table == TABLE_TYPES || table == TABLE_ENTITIES)
        h->fault = map(f, table == TABLE_TYPES ? &f->type_map : &f->entity_map, row, name);
    else
        h->fault = "a row of no table";
}

static void take_scale(struct pt_btf_file *f, struct pt_btf_header *h)
{
    static const struct {
        const char *name;
        uint32_t multiply, divide;
    } scales[] = {
        { "ps", 1, 1000 },    { "ns", 1, 1 },         { "us", 1000, 1 },
        { "ms", 1000000, 1 }, { "s", 1000000000, 1 },
    };

    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (strcasecmp(h->value, scales[i].name) != 0)
            continue;
        f->multiply = scales[i].multiply;
        f->divide = scales[i].divide;
        strcpy(f->scale, scales[i].name);
        return;
    }
    h->fault = "the time scale is ps, ns, us, ms or s";
}

static void take_named(struct pt_btf_file *f, struct pt_btf_header *h)
{
    static const struct {
        const char *name;
        enum pt_btf_parameter kind;
        int table;
        bool row;
    } known[] = {
        { "version", PT_BTF_VERSION, 0, false },
        { "creator", PT_BTF_CREATOR, 0, false },
        { "creationdate", PT_BTF_CREATION_DATE, 0, false },
        { "timescale", PT_BTF_TIMESCALE, 0, false },
        { "inputfile", PT_BTF_INPUT_FILE, 0, false },
        { "typetable", PT_BTF_MAPPING, TABLE_TYPES, false },
        { "entitytype", PT_BTF_MAPPING, TABLE_TYPES, false },
        { "entitytable", PT_BTF_MAPPING, TABLE_ENTITIES, false },
        { "entitytypetable", PT_BTF_MAPPING, TABLE_ENTITY_TYPES, false },
        { "typemapping", PT_BTF_MAPPING, TABLE_TYPES, true },
        { "entitymapping", PT_BTF_MAPPING, TABLE_ENTITIES, true },
        { "entitytypemapping", PT_BTF_MAPPING, TABLE_ENTITY_TYPES, true },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(h->name, known[i].name) != 0)
            continue;
        h->kind = known[i].kind;
        f->table = known[i].row ? TABLE_NONE : known[i].table;
        if (known[i].row)
            take_mapping(f, h, known[i].table, h->value);
        else if (h->kind == PT_BTF_TIMESCALE)
            take_scale(f, h);
        else if (h->kind == PT_BTF_VERSION)
            snprintf(f->version, sizeof f->version, "%s", h->value);
        return;
    }
    f->table = TABLE_NONE;
}

void pt_btf_file_parameter(struct pt_btf_file *f, char *text, struct pt_btf_header *h)
{
    *h = (struct pt_btf_header){
        .kind = PT_BTF_COMMENT, .name = text + 1, .value = text + 1, .type = PT_BTF_TYPES
    };
    if (text[1] == ' ' || text[1] == '\t' || text[1] == '\0') {
        h->value = trim(text + 1);
        return;
    }
    if (text[1] == '-') {
        take_mapping(f, h, f->table, trim(text + 2));
        return;
    }
    h->kind = PT_BTF_OTHER;
    h->value = cut_word(h->name);
    take_named(f, h);
}

/* ---- events ---- */

/* Parses an integer of 64 bits, without other text; not the smallest, which means "none". */
static bool take_integer(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    uint64_t v = 0;

    text += negative;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (unsigned)(*text - '0'), &v) || v > INT64_MAX)
            return false;
    *value = negative ? -(int64_t)v : (int64_t)v;
    return *text == '\0';
}

static bool take_instance(const char *text, int64_t *value)
{
    *value = PT_BTF_NO_INSTANCE;
    return *text == '\0' || take_integer(text, value);
}

/* At most 8 fields: the last one may have commas. */
static unsigned split(char *text, char *field[8])
{
    unsigned n = 0;
    char *comma;

    for (; n < 7 && (comma = strchr(text, ',')); text = comma + 1) {
        *comma = '\0';
        field[n++] = trim(text);
    }
    field[n] = trim(text);
    return n + 1;
}

const char *pt_btf_file_event(const struct pt_btf_file *f, char *text, struct pt_btf_event *e)
{
    char *field[8];
    unsigned n = split(text, field);

    if (n < 7)
        return "an event has 7 or 8 fields";
    if (!take_integer(field[0], &e->time))
        return "the time is not a whole number";
    if (!take_instance(field[2], &e->source_instance))
        return "the instance of the source is not a whole number";
    if (!take_instance(field[5], &e->target_instance))
        return "the instance of the target is not a whole number";
    e->source = mapped(f, f->entity_map, field[1]);
    e->type_name = mapped(f, f->type_map, field[3]);
    e->target = mapped(f, f->entity_map, field[4]);
    e->action = field[6];
    e->has_note = n == 8;
    e->note = n == 8 ? field[7] : "";
    if (!*e->source || !*e->type_name || !*e->target || !*e->action)
        return "source, target type, target and event may not be empty";
    if (strlen(e->source) > PT_BTF_NAME_MAX || strlen(e->target) > PT_BTF_NAME_MAX)
        return "the name of an entity is longer than 1023 bytes";
    e->type = pt_btf_type_find(e->type_name);
    return NULL;
}

bool pt_btf_file_time(const struct pt_btf_file *f, char *text, int64_t *time, int64_t *ns)
{
    char *comma = strchr(text, ',');

    if (!comma)
        return false;
    *comma = '\0';
    return take_integer(trim(text), time) && *time >= 0 && pt_btf_file_ns(f, *time, ns);
}

bool pt_btf_file_ns(const struct pt_btf_file *f, int64_t time, int64_t *ns)
{
    *ns = time / f->divide;
    return !__builtin_mul_overflow(*ns, (int64_t)f->multiply, ns);
}

static int64_t offset_of(const char *zone)
{
    int hours, minutes;

    if (sscanf(zone + 1, "%2d:%2d", &hours, &minutes) != 2)
        return 0;
    return (*zone == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

bool pt_btf_date(const char *text, int64_t *ns)
{
    struct tm tm = { 0 };
    int64_t fraction = 0, unit = 100000000, seconds;
    int used = 0;

    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6 ||
        used == 0)
        return false;
    if (tm.tm_year < 1970 || tm.tm_year > 2262 || tm.tm_mon < 1 || tm.tm_mon > 12 ||
        tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 || tm.tm_hour > 23 || tm.tm_min < 0 ||
        tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    text += used;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
            fraction += unit * (*text - '0');
    seconds = timegm(&tm);
    if (*text == '+' || *text == '-')
        seconds -= offset_of(text);
    return !__builtin_mul_overflow(seconds, (int64_t)1000000000, ns) &&
           !__builtin_add_overflow(*ns, fraction, ns) && *ns >= 0;
}
