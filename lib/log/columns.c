/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes records by column; see columns.h.
 *
 * One walk over the records finds their classes and times, and lists the places of each class.
 * Then the words of a class are gathered into arrays, four in one pass; a word that is the same in
 * all records is known by then.  column.c writes each array.  Another process may write the records
 * meanwhile: lengths and offsets are read once.
 */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3") /* -O2 does not vectorise them: twice the time */
#endif
#include "log/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "log/byteorder.h"
#include "shm/record.h"

enum {
    TABLE = 2 << 12, /* low halves of first words: of events, and of times */
    AHEAD = 2048,    /* bytes that memory has more time for, as another processor wrote them */
    LIST = 64,       /* places that stand together */
    WORDS = 4,       /* gathered in one pass */
    NONE = 255
};

/* Its places are lists, all but the last of them full. */
struct class
{
    uint32_t low, records, list, length, least; /* list: the first one */
    bool varies;
};

struct work {
    const uint8_t *rows;
    uint32_t count, class_count, list_count;
    uint8_t *sequence;      /* class of each record */
    uint64_t *place;        /* offsets of records, above them the length of data; by list */
    uint16_t *link;         /* the list after each */
    uint32_t *value[WORDS]; /* of one column each; before the first number is a 0 */
    uint32_t differ[WORDS]; /* bits of them that are not the same in all */
    uint8_t *at, *end;      /* the output */
    uint32_t next[PT_COLUMNS_CLASSES]; /* place of each class; a multiple of LIST: none */
    struct class classes[PT_COLUMNS_CLASSES];
    uint8_t table[TABLE];
};

/* ---- the walk ---- */

/* The class of records whose first word ends in low; NONE: there are too many, or no log has such
 * records. */
static unsigned new_class(struct work *w, uint32_t low)
{
    unsigned k = w->class_count;

    if (k == PT_COLUMNS_CLASSES || low >= TABLE)
        return NONE;
    w->classes[k] = (struct class){ .low = low };
    w->next[k] = 0;
    w->table[low] = (uint8_t)k;
    w->class_count++;
    return k;
}

/* The first place of a further list of a class whose lists end before next. */
static uint32_t new_list(struct work *w, unsigned k, uint32_t next)
{
    uint32_t list = w->list_count++;

    if (next)
        w->link[next / LIST - 1] = (uint16_t)list;
    else
        w->classes[k].list = list;
    w->classes[k].records += LIST;
    return list * LIST;
}

static inline uint32_t le16_at(const uint8_t *p)
{
    uint16_t x;

    memcpy(&x, p, sizeof x);
    return pt_le16(x);
}

static bool walk(struct work *w, uint32_t bytes)
{
    const uint8_t *rows = w->rows;
    uint32_t count = 0, *value = w->value[0];
    uint64_t *place = w->place;
    uint8_t *sequence = w->sequence;

    /* So that the 8 bytes that are read are there. */
    if (bytes % 8)
        return false;
    for (uint32_t at = 0; at < bytes; count++) {
        /* The length by itself: the next record waits for it. */
        uint32_t low = le16_at(rows + at), length = le16_at(rows + at + 2), to;
        uint32_t size = (length + PT_RECORD_HEAD + 7) & ~7u;
        unsigned k = w->table[low % TABLE];

        __builtin_prefetch(rows + at + AHEAD);
        if (k == NONE || low >= TABLE)
            k = new_class(w, low);
        if (k == NONE || size > bytes - at)
            return false;
        to = w->next[k];
        if (to % LIST == 0)
            to = new_list(w, k, to);
        w->next[k] = to + 1;
        place[to] = at | (uint64_t)length << 32;
        sequence[count] = (uint8_t)k;
        value[count] = pt_le32_at(rows + at + 4);
        at += size;
    }
    w->count = count;
    return count > 0 && count <= PT_COLUMNS_RECORDS;
}

/* The records of a list of a class that has `left` more from it on. */
static uint32_t in_list(uint32_t left)
{
    return left < LIST ? left : LIST;
}

/* Counts the records of a class, and compares their lengths. */
static void end_class(struct work *w, struct class *c, uint32_t next)
{
    uint32_t differ = 0, least;

    if (next % LIST)
        c->records -= LIST - next % LIST;
    c->length = least = w->place[c->list * LIST] >> 32;
    for (uint32_t list = c->list, left = c->records; left; list = w->link[list]) {
        const uint64_t *place = w->place + (size_t)list * LIST;
        uint32_t n = in_list(left);

        for (uint32_t i = 0; i < n; i++)
            differ |= (place[i] >> 32) ^ c->length;
        for (uint32_t i = 0; i < n && differ; i++)
            least = place[i] >> 32 < least ? place[i] >> 32 : least;
        left -= n;
    }
    c->varies = differ != 0;
    c->least = least;
}

/* ---- columns ---- */

static bool put(struct work *w, const void *from, size_t size)
{
    if ((size_t)(w->end - w->at) < size)
        return false;
    memcpy(w->at, from, size);
    w->at += size;
    return true;
}

/* n > 0 numbers of one of w->value, which differ in these bits. */
static bool put_column(struct work *w, const uint32_t *v, uint32_t n, uint32_t differ)
{
    w->at = pt_column_write(w->at, w->end, v, n, differ);
    return w->at != NULL;
}

static uint32_t differing(const uint32_t *v, uint32_t n)
{
    uint32_t differ = 0;

    for (uint32_t i = 1; i < n; i++)
        differ |= v[i] ^ v[0];
    return differ;
}

/* Packed into 1, 2, 4 or 8 bits each: numbers of so many bits, two in each byte and again. */
static bool put_sequence(struct work *w)
{
    unsigned wanted = pt_columns_bits(w->class_count);
    uint32_t n = w->count;
    uint8_t *s = w->sequence;

    if (wanted == 0)
        return true;
    for (unsigned bits = wanted; bits < 8; bits *= 2) {
        s[n] = 0;
        n = (n + 1) / 2;
        for (uint32_t i = 0; i < n; i++)
            s[i] = (uint8_t)(s[2 * i] | s[2 * i + 1] << bits);
    }
    return put(w, s, n);
}

/* ---- classes ---- */

static uint32_t words_of(const struct class *c)
{
    uint32_t words = 2 + (c->varies ? c->least / 4 : (c->length + 3) / 4);

    return words < PT_COLUMNS_WORDS ? words : PT_COLUMNS_WORDS;
}

static bool put_lengths(struct work *w, const struct class *c)
{
    uint32_t *v = w->value[0];

    for (uint32_t list = c->list, done = 0; done < c->records; list = w->link[list]) {
        const uint64_t *place = w->place + (size_t)list * LIST;
        uint32_t n = in_list(c->records - done);

        for (uint32_t i = 0; i < n; i++)
            v[done + i] = place[i] >> 32;
        done += n;
    }
    return put_column(w, v, c->records, 1);
}

/* The last word of data that is no multiple of 4 has bytes that only pad. */
static uint32_t mask_of(const struct class *c, uint32_t word)
{
    uint32_t after = word >= 2 && !c->varies ? c->length - 4 * (word - 2) : 4;

    return after < 4 ? (1u << 8 * after) - 1 : UINT32_MAX;
}

/* Not for 32-bit x86 without SSE, whose functions return no vectors. */
#if defined __has_builtin && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && \
    (!defined __i386__ || defined __SSE2__)
#if __has_builtin(__builtin_shufflevector)
#define FOUR_AT_ONCE
typedef uint32_t four __attribute__((vector_size(16)));

static inline four four_at(const uint8_t *rows, uint64_t place)
{
    four words;

    memcpy(&words, rows + (uint32_t)place, sizeof words);
    return words;
}

static inline four two_and_two(const uint8_t *rows, uint64_t place, uint64_t after)
{
    uint64_t two[2];
    four words;

    memcpy(&two[0], rows + (uint32_t)place, sizeof two[0]);
    memcpy(&two[1], rows + (uint32_t)after, sizeof two[1]);
    memcpy(&words, two, sizeof words);
    return words;
}

static inline void put_four(uint32_t *to, four words)
{
    memcpy(to, &words, sizeof words);
}

/* The words of as many of n records as are a multiple of 4; returns how many.  first has those of
 * the class's first record; *differ gets the bits in which others differ. */
static uint32_t gather_fours(const uint8_t *from, const uint64_t *place, uint32_t n, four first,
                             uint32_t **v, four *differ)
{
    uint32_t i;

    for (i = 0; i + 4 <= n; i += 4, place += 4) {
        four a = four_at(from, place[0]), b = four_at(from, place[1]);
        four c = four_at(from, place[2]), d = four_at(from, place[3]);
        four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        four ab_up = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        four cd_up = __builtin_shufflevector(c, d, 2, 6, 3, 7);

        put_four(v[0] + i, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
        put_four(v[1] + i, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
        put_four(v[2] + i, __builtin_shufflevector(ab_up, cd_up, 0, 1, 4, 5));
        put_four(v[3] + i, __builtin_shufflevector(ab_up, cd_up, 2, 3, 6, 7));
        *differ |= (a ^ first) | (b ^ first) | (c ^ first) | (d ^ first);
    }
    return i;
}

/* The same of two words each, which first has twice. */
static uint32_t gather_twos(const uint8_t *from, const uint64_t *place, uint32_t n, four first,
                            uint32_t **v, four *differ)
{
    uint32_t i;

    for (i = 0; i + 4 <= n; i += 4, place += 4) {
        four ab = two_and_two(from, place[0], place[1]);
        four cd = two_and_two(from, place[2], place[3]);

        put_four(v[0] + i, __builtin_shufflevector(ab, cd, 0, 2, 4, 6));
        put_four(v[1] + i, __builtin_shufflevector(ab, cd, 1, 3, 5, 7));
        *differ |= (ab ^ first) | (cd ^ first);
    }
    return i;
}
#endif
#endif

/* Words of n records. */
static void gather_list(const uint8_t *from, const uint64_t *place, uint32_t n, uint32_t words,
                        const uint32_t *first, uint32_t **v, uint32_t *differ)
{
    uint32_t i = 0;

#ifdef FOUR_AT_ONCE
    four was, bits = { 0 };

    memcpy(&was, first, sizeof was);
    i = words == 4 ? gather_fours(from, place, n, was, v, &bits)
                   : gather_twos(from, place, n, was, v, &bits);
    for (uint32_t j = 0; j < 4; j++)
        differ[j % words] |= bits[j];
#endif
    for (; i < n; i++)
        for (uint32_t j = 0; j < words; j++) {
            uint32_t word = pt_le32_at(from + (uint32_t)place[i] + 4 * (size_t)j);

            v[j][i] = word;
            differ[j] |= word ^ first[j];
        }
}

/* Sets w->value and w->differ to `words` words, 2 or 4, of a class.  What records have is a
 * multiple of 8 bytes, so the second one is there, if only to pad. */
static void gather(struct work *w, const struct class *c, uint32_t word, uint32_t words)
{
    const uint8_t *from = w->rows + 8 + 4 * (size_t)word;
    uint32_t first[WORDS], *v[WORDS];

    pt_assert(word % 2 == 0);
    for (uint32_t i = 0; i < WORDS; i++) {
        first[i] = pt_le32_at(from + (uint32_t)w->place[c->list * LIST] + 4 * (size_t)(i % words));
        v[i] = w->value[i];
        w->differ[i] = 0;
    }
    for (uint32_t list = c->list, left = c->records; left; list = w->link[list]) {
        uint32_t n = in_list(left);

        gather_list(from, w->place + (size_t)list * LIST, n, words, first, v, w->differ);
        for (uint32_t i = 0; i < WORDS; i++)
            v[i] += n;
        left -= n;
    }
}

static bool put_word(struct work *w, const struct class *c, uint32_t word, uint32_t *v,
                     uint32_t differ)
{
    uint32_t mask = mask_of(c, word);

    if (mask != UINT32_MAX) {
        for (uint32_t i = 0; i < c->records; i++)
            v[i] &= mask;
    }
    return put_column(w, v, c->records, differ & mask);
}

static bool put_words(struct work *w, const struct class *c, uint32_t words)
{
    for (uint32_t i = 0; i < words; i += WORDS) {
        uint32_t n = words - i < WORDS ? words - i : WORDS;

        gather(w, c, i, n > 2 ? WORDS : 2);
        for (uint32_t j = 0; j < n; j++)
            if (!put_word(w, c, i + j, w->value[j], w->differ[j]))
                return false;
    }
    return true;
}

static bool put_rest(struct work *w, const struct class *c, uint32_t words)
{
    uint32_t from = 4 * (words - 2);

    for (uint32_t list = c->list, left = c->records; left; list = w->link[list]) {
        uint32_t n = in_list(left), at = list * LIST;

        for (uint32_t i = 0; i < n; i++) {
            uint64_t place = w->place[at + i];
            const uint8_t *data = w->rows + (uint32_t)place + PT_RECORD_HEAD;
            uint32_t length = place >> 32;

            if (length > from && !put(w, data + from, length - from))
                return false;
        }
        left -= n;
    }
    return true;
}

static bool put_class(struct work *w, const struct class *c)
{
    uint32_t words = words_of(c);

    if (!put_words(w, c, words))
        return false;
    return (!c->varies && c->length <= 4 * (words - 2)) || put_rest(w, c, words);
}

static bool put_heads(struct work *w)
{
    struct pt_columns_head head = { pt_le32(w->count), pt_le32(w->class_count) };

    if (!put(w, &head, sizeof head))
        return false;
    for (uint32_t i = 0; i < w->class_count; i++) {
        const struct class *c = &w->classes[i];
        struct pt_columns_class stored = {
            .low = pt_le32(c->low),
            .records = pt_le32(c->records),
            .length = pt_le32(c->varies ? PT_COLUMNS_VARIABLE : c->length),
            .words = pt_le32(words_of(c)),
        };

        if (!put(w, &stored, sizeof stored))
            return false;
    }
    return true;
}

static bool put_all(struct work *w)
{
    if (!put_heads(w) || !put_sequence(w) ||
        !put_column(w, w->value[0], w->count, differing(w->value[0], w->count)))
        return false;
    for (uint32_t i = 0; i < w->class_count; i++)
        if (w->classes[i].varies && !put_lengths(w, &w->classes[i]))
            return false;
    for (uint32_t i = 0; i < w->class_count; i++)
        if (!put_class(w, &w->classes[i]))
            return false;
    return true;
}

/* Memory of the arrays for so many records. */
static bool lay_out(struct work *w, struct pt_columns *c, uint32_t most)
{
    size_t lists = most / LIST + PT_COLUMNS_CLASSES, places = lists * LIST;
    size_t bytes = sizeof *w->place * places + sizeof(uint32_t) * WORDS * ((size_t)most + 1) +
                   sizeof *w->link * lists + most + 1;
    uint32_t *at;

    if (pt_array_renew(&c->memory, &c->room, bytes) < 0)
        return false;
    w->place = (uint64_t *)(void *)c->memory;
    at = (uint32_t *)(void *)(w->place + places);
    for (unsigned i = 0; i < WORDS; i++, at += most) {
        *at++ = 0;
        w->value[i] = at;
    }
    w->link = (uint16_t *)(void *)at;
    w->sequence = (uint8_t *)(w->link + lists);
    return true;
}

uint32_t pt_columns_write(struct pt_columns *c, const void *records, uint32_t bytes, void *to,
                          uint32_t room)
{
    struct work w;

    w.rows = records;
    w.at = to;
    w.end = w.at + room;
    w.class_count = w.list_count = 0;
    memset(w.table, NONE, sizeof w.table);
    if (!lay_out(&w, c, bytes / PT_RECORD_HEAD) || !walk(&w, bytes))
        return 0;
    for (uint32_t i = 0; i < w.class_count; i++)
        end_class(&w, &w.classes[i], w.next[i]);
    return put_all(&w) ? (uint32_t)(w.at - (uint8_t *)to) : 0;
}

void pt_columns_deinit(struct pt_columns *c)
{
    free(c->memory);
    *c = (struct pt_columns){ .memory = NULL };
}
