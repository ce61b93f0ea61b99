/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes records by column; see columns.h.
 *
 * One walk over the records finds their classes and times.  Then each column is gathered into an
 * array, its form is chosen by a sample, and its planes are written, so that the inner loops are
 * ones that compilers vectorise.  Another process may write the records meanwhile: lengths
 * and offsets are read once.
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
    SAMPLE = 64,     /* numbers of a column that its form is chosen by */
    EXCEPTION = 6,   /* bytes */
    TABLE = 2 << 12, /* low halves of first words: of events, and of times */
    NONE = 255
};

struct class
{
    uint32_t low, records, first, length, least; /* first: of its places */
    uint64_t address, differ;                    /* of the first record, and what others change */
    bool varies;
};

struct work {
    const uint8_t *rows;
    uint32_t count, class_count;
    uint8_t *sequence;         /* class of each record */
    uint32_t *offset, *place;  /* of each record; the same by class */
    uint16_t *length, *sorted; /* of their data, too; sorted only if some class varies */
    uint32_t *value, *second;  /* of one column each; before the first number is a 0 */
    bool varies;
    uint8_t *at, *end; /* the output */
    struct class classes[PT_COLUMNS_CLASSES];
    uint8_t table[TABLE];
};

/* ---- the walk ---- */

/* The class of records whose first word ends in low; NONE: there are too many, or no log has such
 * records. */
static unsigned new_class(struct work *w, uint32_t low, uint32_t length, uint64_t address)
{
    if (w->class_count == PT_COLUMNS_CLASSES || low >= TABLE)
        return NONE;
    w->classes[w->class_count] = (struct class){
        .low = low, .length = length, .least = length, .address = address
    };
    w->table[low] = (uint8_t)w->class_count;
    return w->class_count++;
}

/* What differs among the records of a class. */
static inline void compare(struct work *w, struct class *c, uint32_t length, uint64_t address)
{
    if (address != c->address)
        c->differ |= address ^ c->address;
    if (length != c->length) {
        c->varies = w->varies = true;
        c->least = length < c->least ? length : c->least;
    }
}

static bool walk(struct work *w, uint32_t bytes)
{
    const uint8_t *rows = w->rows;
    uint32_t count = 0, *value = w->value, *offset = w->offset;
    uint16_t *lengths = w->length;
    uint8_t *sequence = w->sequence;

    memset(w->table, NONE, sizeof w->table);
    for (uint32_t at = 0; at < bytes; count++) {
        uint32_t word, length, size;
        uint64_t address;
        unsigned k;

        if (bytes - at < PT_RECORD_HEAD || count == PT_COLUMNS_RECORDS)
            return false;
        word = pt_le32_at(rows + at);
        address = pt_le64_at(rows + at + 8);
        length = word >> 16;
        size = pt_record_size(length);
        k = w->table[word % TABLE];
        if (k == NONE || (word & 0xffff) >= TABLE)
            k = new_class(w, word & 0xffff, length, address);
        if (k == NONE || size > bytes - at)
            return false;
        compare(w, &w->classes[k], length, address);
        sequence[count] = (uint8_t)k;
        value[count] = pt_le32_at(rows + at + 4);
        lengths[count] = (uint16_t)length;
        offset[count] = at;
        at += size;
    }
    w->count = count;
    return count > 0;
}

/* Two counters for each class, as often the next record is of the same one, and would wait for its
 * counter. */
static void count_records(struct work *w)
{
    uint32_t even[PT_COLUMNS_CLASSES] = { 0 }, odd[PT_COLUMNS_CLASSES] = { 0 };

    for (uint32_t i = 0; i + 1 < w->count; i += 2) {
        even[w->sequence[i]]++;
        odd[w->sequence[i + 1]]++;
    }
    if (w->count % 2)
        even[w->sequence[w->count - 1]]++;
    for (uint32_t i = 0; i < w->class_count; i++)
        w->classes[i].records = even[i] + odd[i];
}

/* The offsets of the records of each class, one class after the other. */
static void sort_by_class(struct work *w)
{
    uint32_t next[PT_COLUMNS_CLASSES], first = 0, count = w->count;
    const uint32_t *offset = w->offset;
    const uint8_t *sequence = w->sequence;
    uint32_t *place = w->place;

    if (w->class_count == 1) {
        w->classes[0].records = w->count;
        w->place = w->offset;
        w->sorted = w->length;
        return;
    }
    count_records(w);
    for (uint32_t i = 0; i < w->class_count; i++) {
        next[i] = w->classes[i].first = first;
        first += w->classes[i].records;
    }
    if (!w->varies) {
        for (uint32_t i = 0; i < count; i++)
            place[next[sequence[i]]++] = offset[i];
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = next[sequence[i]]++;

        place[to] = offset[i];
        w->sorted[to] = w->length[i];
    }
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

/* The bytes of a number that make the column of the sample shortest; *cost: how long. */
static uint32_t best_bytes(const uint32_t *x, uint32_t n, uint32_t *cost)
{
    uint32_t more0 = 0, more1 = 0, more2 = 0, more3 = 0, best = 4;

    for (uint32_t i = 0; i < n; i++) {
        more0 += x[i] != 0;
        more1 += x[i] > 0xff;
        more2 += x[i] > 0xffff;
        more3 += x[i] > 0xffffff;
    }
    *cost = 4 * n;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t more = k == 0 ? more0 : k == 1 ? more1 : k == 2 ? more2 : more3;
        uint32_t is = k * n + more * EXCEPTION;

        if (is < *cost) {
            *cost = is;
            best = k;
        }
    }
    return best;
}

/* What the numbers of k bytes leave of their range above the greatest of the sample, halved: so
 * much less may the base be, since the sample has not the least and the greatest of all. */
static uint32_t slack(const uint32_t *x, uint32_t n, uint32_t k)
{
    uint32_t most = k < 4 ? (1u << 8 * k) - 1 : UINT32_MAX, greatest = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t within = x[i] <= most ? x[i] : 0;

        greatest = within > greatest ? within : greatest;
    }
    return (most - greatest) / 2;
}

/* Chooses mode and base by values at equal distances. */
static void choose(const uint32_t *v, uint32_t n, struct pt_column_head *head)
{
    uint32_t plain[SAMPLE], delta[SAMPLE], count = 0, step = n / SAMPLE + 1;
    uint32_t low = UINT32_MAX, plain_cost, delta_cost, plain_k, delta_k;
    int32_t least = INT32_MAX;

    for (uint32_t i = step / 2; i < n && count < SAMPLE; i += step) {
        plain[count] = v[i];
        delta[count] = v[i] - (i ? v[i - 1] : 0);
        if (plain[count] < low)
            low = plain[count];
        if ((int32_t)delta[count] < least)
            least = (int32_t)delta[count];
        count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        plain[i] -= low;
        delta[i] -= (uint32_t)least;
    }
    plain_k = best_bytes(plain, count, &plain_cost);
    delta_k = best_bytes(delta, count, &delta_cost);
    if (delta_cost < plain_cost) {
        head->mode = (uint16_t)(PT_COLUMNS_DELTA + delta_k);
        head->base = (uint32_t)least - slack(delta, count, delta_k);
    } else {
        uint32_t less = slack(plain, count, plain_k);

        head->mode = (uint16_t)plain_k;
        head->base = less < low ? low - less : 0;
    }
}

/* A number of a column; v[-1] is 0. */
static inline uint32_t number(const uint32_t *v, uint32_t i, const struct pt_column_head *head)
{
    return v[i] - head->base - (head->mode < PT_COLUMNS_DELTA ? 0 : v[(ptrdiff_t)i - 1]);
}

/* Room has been checked. */
static void put_exceptions(struct work *w, const uint32_t *v, uint32_t n,
                           const struct pt_column_head *head, uint32_t most, uint32_t count)
{
    uint8_t *places = w->at, *numbers = w->at + 2 * (size_t)count;

    for (uint32_t i = 0; i < n; i++) {
        uint16_t place;
        uint32_t number_le, x = number(v, i, head);

        if (x <= most)
            continue;
        place = pt_le16((uint16_t)i);
        number_le = pt_le32(x);
        memcpy(places, &place, sizeof place);
        memcpy(numbers, &number_le, sizeof number_le);
        places += sizeof place;
        numbers += sizeof number_le;
    }
    pt_assert(places == w->at + 2 * (size_t)count);
    w->at = numbers;
}

static uint32_t count_above(const uint32_t *v, uint32_t n, struct pt_column_head head,
                            uint32_t most)
{
    uint32_t count = 0;

    if (head.mode < PT_COLUMNS_DELTA)
        for (uint32_t i = 0; i < n; i++)
            count += v[i] - head.base > most;
    else
        for (uint32_t i = 0; i < n; i++)
            count += v[i] - v[(ptrdiff_t)i - 1] - head.base > most;
    return count;
}

static void put_plane(const uint32_t *v, uint32_t n, struct pt_column_head head, uint32_t shift,
                      uint8_t *restrict to)
{
    if (head.mode < PT_COLUMNS_DELTA)
        for (uint32_t i = 0; i < n; i++)
            to[i] = (uint8_t)((v[i] - head.base) >> shift);
    else
        for (uint32_t i = 0; i < n; i++)
            to[i] = (uint8_t)((v[i] - v[(ptrdiff_t)i - 1] - head.base) >> shift);
}

static bool put_numbers(struct work *w, const uint32_t *v, uint32_t n, struct pt_column_head *head)
{
    uint32_t k = head->mode % PT_COLUMNS_DELTA;
    uint32_t most = k == 4 ? UINT32_MAX : (1u << 8 * k) - 1;
    uint32_t count = k == 4 ? 0 : count_above(v, n, *head, most);
    struct pt_column_head stored;

    stored = (struct pt_column_head){ .mode = pt_le16(head->mode),
                                      .exceptions = pt_le16((uint16_t)count),
                                      .base = pt_le32(head->base) };
    if ((size_t)(w->end - w->at) < sizeof stored + (size_t)n * k + (size_t)count * EXCEPTION)
        return false;
    put(w, &stored, sizeof stored);
    for (uint32_t plane = 0; plane < k; plane++) {
        put_plane(v, n, *head, 8 * plane, w->at);
        w->at += n;
    }
    if (count)
        put_exceptions(w, v, n, head, most, count);
    return true;
}

static bool put_constant(struct work *w, uint32_t number)
{
    struct pt_column_head stored = { .base = pt_le32(number) };

    return put(w, &stored, sizeof stored);
}

/* n > 0 numbers of w->value or w->second. */
static bool put_column(struct work *w, const uint32_t *v, uint32_t n)
{
    struct pt_column_head head;
    uint32_t differ = 0, step = n > 1 ? v[1] - v[0] : 0, steps_differ = 0;

    for (uint32_t i = 1; i < n; i++) {
        differ |= v[i] ^ v[0];
        steps_differ |= (v[i] - v[i - 1]) ^ step;
    }
    if (!differ)
        return put_constant(w, v[0]);
    if (!steps_differ)
        head = (struct pt_column_head){ .mode = PT_COLUMNS_DELTA, .base = step };
    else
        choose(v, n, &head);
    return put_numbers(w, v, n, &head);
}

/* Packed into 1, 2, 4 or 8 bits each. */
static bool put_sequence(struct work *w)
{
    unsigned bits = pt_columns_bits(w->class_count), each = bits ? 8 / bits : 1;
    uint32_t size = bits ? (w->count + each - 1) / each : 0;

    if ((size_t)(w->end - w->at) < size)
        return false;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t byte = 0, first = i * each;

        for (unsigned j = 0; j < each && first + j < w->count; j++)
            byte |= (uint32_t)w->sequence[first + j] << j * bits;
        w->at[i] = (uint8_t)byte;
    }
    w->at += size;
    return true;
}

/* ---- classes ---- */

static uint32_t words_of(const struct class *c)
{
    uint32_t words = 2 + (c->varies ? c->least / 4 : (c->length + 3) / 4);

    return words < PT_COLUMNS_WORDS ? words : PT_COLUMNS_WORDS;
}

static bool put_lengths(struct work *w, const struct class *c)
{
    for (uint32_t i = 0; i < c->records; i++)
        w->value[i] = w->sorted[c->first + i];
    return put_column(w, w->value, c->records);
}

/* The last word of data that is no multiple of 4 has bytes that only pad. */
static uint32_t mask_of(const struct class *c, uint32_t word)
{
    uint32_t after = word >= 2 && !c->varies ? c->length - 4 * (word - 2) : 4;

    return after < 4 ? (1u << 8 * after) - 1 : UINT32_MAX;
}

/* Sets value and second to a word and the next one.  What records have is a multiple of 8 bytes, so
 * the next one is there, if only to pad. */
static void gather(struct work *w, const struct class *c, uint32_t word)
{
    const uint32_t *place = w->place + c->first;
    const uint8_t *from = w->rows + 8 + 4 * (size_t)word;
    uint32_t *value = w->value, *second = w->second, n = c->records;

    pt_assert(word % 2 == 0);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t both = pt_le64_at(from + place[i]);

        value[i] = (uint32_t)both;
        second[i] = (uint32_t)(both >> 32);
    }
}

static bool put_word(struct work *w, const struct class *c, uint32_t word, uint32_t *v)
{
    uint32_t mask = mask_of(c, word);

    for (uint32_t i = 0; mask != UINT32_MAX && i < c->records; i++)
        v[i] &= mask;
    return put_column(w, v, c->records);
}

static bool put_words(struct work *w, const struct class *c, uint32_t words)
{
    if (!c->differ) {
        if (!put_constant(w, (uint32_t)c->address) || !put_constant(w, c->address >> 32))
            return false;
    }
    for (uint32_t i = c->differ ? 0 : 2; i < words; i += 2) {
        gather(w, c, i);
        if (!put_word(w, c, i, w->value) || (i + 1 < words && !put_word(w, c, i + 1, w->second)))
            return false;
    }
    return true;
}

static bool put_rest(struct work *w, const struct class *c, uint32_t words)
{
    uint32_t from = 4 * (words - 2);

    for (uint32_t i = 0; i < c->records; i++) {
        const uint8_t *data = w->rows + w->place[c->first + i] + PT_RECORD_HEAD;
        uint32_t length = c->varies ? w->sorted[c->first + i] : c->length;

        if (length > from && !put(w, data + from, length - from))
            return false;
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
    if (!put_heads(w) || !put_sequence(w) || !put_column(w, w->value, w->count))
        return false;
    for (uint32_t i = 0; i < w->class_count; i++)
        if (w->classes[i].varies && !put_lengths(w, &w->classes[i]))
            return false;
    for (uint32_t i = 0; i < w->class_count; i++)
        if (!put_class(w, &w->classes[i]))
            return false;
    return true;
}

uint32_t pt_columns_write(struct pt_columns *c, const void *records, uint32_t bytes, void *to,
                          uint32_t room)
{
    uint32_t most = bytes / PT_RECORD_HEAD;
    struct work w = { .rows = records, .at = to };

    if (!pt_columns_reserve(c, most))
        return 0;
    w.end = w.at + room;
    w.value = (uint32_t *)(void *)c->memory + 1;
    w.second = w.value + most + 1;
    w.value[-1] = w.second[-1] = 0;
    w.offset = w.second + most;
    w.place = w.offset + most;
    w.length = (uint16_t *)(void *)(w.place + most);
    w.sorted = w.length + most;
    w.sequence = (uint8_t *)(w.sorted + most);
    if (!walk(&w, bytes))
        return 0;
    sort_by_class(&w);
    return put_all(&w) ? (uint32_t)(w.at - (uint8_t *)to) : 0;
}

bool pt_columns_reserve(struct pt_columns *c, uint32_t records)
{
    return pt_array_renew(&c->memory, &c->room,
                          PT_COLUMNS_MORE + (size_t)records * PT_COLUMNS_MEMORY) == 0;
}

void pt_columns_deinit(struct pt_columns *c)
{
    free(c->memory);
    *c = (struct pt_columns){ .memory = NULL };
}
