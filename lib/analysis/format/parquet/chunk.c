/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A chunk: the values of a column in one row group, as a page of the dictionary if that is shorter,
 * and one page of data.  Integers are a dictionary, differences or plain, what takes the fewest
 * bytes before compression.
 */
#include <errno.h>
#include <string.h>
#include "analysis/format/parquet/compress.h"
#include "analysis/format/parquet/file.h"

enum { PLAIN = 0, RLE = 3, DELTA = 5, DICTIONARY = 8 }; /* encodings of the format */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { LEAST_TO_COMPRESS = 100 }; /* bytes; below, a frame is longer than what it saves */
/* Fields of the format's structures. */
enum { PAGE_TYPE = 1, PAGE_BYTES, PAGE_PACKED, PAGE_OF_DATA = 5, PAGE_OF_DICTIONARY = 7 };
enum { CHUNK_OFFSET = 2, CHUNK_META };
enum { META_TYPE = 1, META_ENCODINGS, META_PATH, META_CODEC, META_VALUES, META_BYTES, META_PACKED };
enum { META_DATA_AT = 9, META_DICTIONARY_AT = 11, META_STATISTICS = 12 };
enum { STATISTICS_NULLS = 3, STATISTICS_GREATEST = 5, STATISTICS_LEAST };

struct chunk {
    const struct pt_parquet_column *column;
    size_t rows, count; /* count: with a value */
    int encoding;
    size_t entries; /* of the dictionary, which is in file->dictionary */
    enum pt_parquet_codec codec;
    struct pt_parquet_range range;
};

static unsigned width_of(size_t entries)
{
    return entries < 3 ? 1 : 64 - (unsigned)__builtin_clzll(entries - 1);
}

/* ---- pages ---- */

/* Which rows have a value: numbers of one bit, after their length in bytes. */
static void put_levels(struct pt_bytes *page, const struct pt_bytes *rows, size_t row_count,
                       size_t count)
{
    struct pt_parquet_runs runs = { .to = page, .width = 1 };
    size_t head = page->used, next = 0;

    pt_parquet_put32(page, 0);
    for (size_t i = 0; rows && i < count; i++) {
        uint32_t row = pt_parquet_get32(rows, i);

        pt_parquet_runs_put(&runs, 0, row - next);
        pt_parquet_runs_put(&runs, 1, 1);
        next = (size_t)row + 1;
    }
    pt_parquet_runs_put(&runs, count == row_count, row_count - next);
    pt_parquet_runs_end(&runs);
    if (!page->failed) {
        uint32_t size = htole32((uint32_t)(page->used - head - 4));

        memcpy(page->at + head, &size, sizeof size);
    }
}

static void put_ids(struct pt_bytes *page, const struct pt_bytes *ids, size_t count, size_t entries)
{
    struct pt_parquet_runs runs = { .to = page, .width = width_of(entries) };

    pt_parquet_put_number(page, runs.width, 1);
    for (size_t i = 0; i < count;) {
        uint32_t id = pt_parquet_get32(ids, i);
        size_t end = i + 1;

        while (end < count && pt_parquet_get32(ids, end) == id)
            end++;
        pt_parquet_runs_put(&runs, id, end - i);
        i = end;
    }
    pt_parquet_runs_end(&runs);
}

/* The same entry, the only one, in all rows. */
static void put_same(struct pt_bytes *page, size_t count)
{
    struct pt_parquet_runs runs = { .to = page, .width = width_of(1) };

    pt_parquet_put_number(page, runs.width, 1);
    pt_parquet_runs_put(&runs, 0, count);
    pt_parquet_runs_end(&runs);
}

static void put_page_head(struct pt_bytes *to, int type, size_t bytes, size_t packed, size_t values,
                          int encoding)
{
    struct pt_thrift t = { .to = to };

    pt_thrift_i32(&t, PAGE_TYPE, type);
    pt_thrift_i32(&t, PAGE_BYTES, (int32_t)bytes);
    pt_thrift_i32(&t, PAGE_PACKED, (int32_t)packed);
    pt_thrift_struct(&t, type == PAGE_DATA ? PAGE_OF_DATA : PAGE_OF_DICTIONARY);
    pt_thrift_i32(&t, 1, (int32_t)values);
    pt_thrift_i32(&t, 2, encoding);
    if (type == PAGE_DATA) { /* of definition and of repetition levels */
        pt_thrift_i32(&t, 3, RLE);
        pt_thrift_i32(&t, 4, RLE);
    }
    pt_thrift_end(&t);
    pt_thrift_end(&t);
}

/* ---- encodings ---- */

static void put_plain(struct pt_bytes *page, const struct pt_parquet_column *c, size_t count)
{
    const uint8_t *at = c->text.at ? c->text.at : (const uint8_t *)"";

    if (c->type == PT_PARQUET_BOOLEAN) {
        pt_parquet_put_bits(page, c->values.at, count);
        return;
    }
    if (c->type != PT_PARQUET_BYTES) {
        pt_parquet_put(page, c->values.at, c->values.used);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t length = pt_parquet_get32(&c->values, i);

        pt_parquet_put32(page, length);
        pt_parquet_put(page, at, length);
        at += length;
    }
}

/* ids: NULL: all are the first. */
static void use_dictionary(struct pt_parquet_file *f, struct chunk *k,
                           const struct pt_bytes *values, const struct pt_bytes *ids,
                           size_t entries)
{
    k->encoding = DICTIONARY;
    k->entries = entries;
    pt_parquet_put(&f->dictionary, values->at, values->used);
    if (!ids)
        put_same(&f->page, k->count);
    else if (!ids->failed)
        put_ids(&f->page, ids, k->count, entries);
}

static void put_numbers(struct pt_parquet_file *f, struct chunk *k)
{
    const struct pt_parquet_column *c = k->column;
    bool wide = pt_parquet_is_wide(c), delta = pt_parquet_is_integer(c);
    size_t least = c->values.used, size = SIZE_MAX;

    if (pt_parquet_numbers_fill(&f->numbers, &c->values, k->count, wide))
        size = f->numbers.values.used + k->count * width_of(f->numbers.count) / 8;
    f->delta.used = 0;
    if (delta)
        pt_parquet_put_delta(&f->delta, &c->values, k->count, wide);
    delta = delta && f->delta.used < least;
    least = delta ? f->delta.used : least;
    if (size < least) {
        use_dictionary(f, k, &f->numbers.values, &f->numbers.ids, f->numbers.count);
    } else if (delta) {
        k->encoding = DELTA;
        pt_parquet_put(&f->page, f->delta.at, f->delta.used);
    } else {
        put_plain(&f->page, c, k->count);
    }
}

/* The texts of a column as a dictionary, if few are different. */
static bool number_texts(struct pt_parquet_file *f, const struct chunk *k)
{
    const struct pt_parquet_column *c = k->column;
    const uint8_t *at = c->text.at ? c->text.at : (const uint8_t *)"";

    pt_texts_clear(&f->texts);
    f->text_ids.used = 0;
    for (size_t i = 0; i < k->count; i++) {
        uint32_t length = pt_parquet_get32(&c->values, i);

        pt_parquet_put32(&f->text_ids, pt_texts_number(&f->texts, at, length));
        if (f->texts.count > PT_PARQUET_ENTRIES || f->texts.count > 64 + i / 2)
            return false;
        at += length;
    }
    return !f->texts.text.failed && !f->texts.offsets.failed && !f->texts.slots.failed;
}

static void put_texts(struct pt_parquet_file *f, struct chunk *k)
{
    bool numbered = number_texts(f, k);

    if (numbered && f->texts.text.used + k->count * width_of(f->texts.count) / 8 <
                        k->column->text.used + 4 * k->count)
        use_dictionary(f, k, &f->texts.text, &f->text_ids, f->texts.count);
    else
        put_plain(&f->page, k->column, k->count);
    pt_parquet_column_range(k->column, k->count, numbered ? &f->texts : NULL, &k->range);
}

static void put_names(struct pt_parquet_file *f, struct chunk *k)
{
    const struct pt_parquet_column *c = k->column;

    use_dictionary(f, k, &c->names.text, c->one_text ? NULL : &c->values, c->names.count);
    pt_parquet_column_range(c, k->count, &c->names, &k->range);
}

static void put_values(struct pt_parquet_file *f, struct chunk *k)
{
    const struct pt_parquet_column *c = k->column;

    if (c->optional)
        put_levels(&f->page, c->rows, k->rows, k->count);
    if (k->count == 0)
        return;
    if (c->has_names) {
        put_names(f, k);
    } else if (c->one_number) {
        use_dictionary(f, k, &c->values, NULL, 1);
        pt_parquet_column_range(c, 1, NULL, &k->range);
    } else if (c->type == PT_PARQUET_BYTES) {
        put_texts(f, k);
    } else {
        if (c->type == PT_PARQUET_BOOLEAN)
            put_plain(&f->page, c, k->count);
        else
            put_numbers(f, k);
        pt_parquet_column_range(c, k->count, NULL, &k->range);
    }
}

/* ---- the chunk ---- */

static void put_statistics(struct pt_thrift *t, size_t nulls, const struct pt_parquet_range *r)
{
    pt_thrift_struct(t, META_STATISTICS);
    pt_thrift_i64(t, STATISTICS_NULLS, (int64_t)nulls);
    if (r && r->known) {
        pt_thrift_binary(t, STATISTICS_GREATEST, r->greatest, r->greatest_length);
        pt_thrift_binary(t, STATISTICS_LEAST, r->least, r->least_length);
    }
    pt_thrift_end(t);
}

static void put_meta(struct pt_thrift *t, const struct chunk *k, uint64_t at, uint64_t data_at,
                     const struct pt_parquet_group *sizes)
{
    const struct pt_parquet_column *c = k->column;

    pt_thrift_element(t);
    pt_thrift_i64(t, CHUNK_OFFSET, (int64_t)at);
    pt_thrift_struct(t, CHUNK_META);
    pt_thrift_i32(t, META_TYPE, (int32_t)c->type);
    pt_thrift_list(t, META_ENCODINGS, PT_THRIFT_I32, k->entries ? 3 : 2);
    pt_parquet_put_zigzag(t->to, RLE);
    pt_parquet_put_zigzag(t->to, k->encoding);
    if (k->entries)
        pt_parquet_put_zigzag(t->to, PLAIN);
    pt_thrift_list(t, META_PATH, PT_THRIFT_BINARY, 1);
    pt_thrift_text(t, c->name, strlen(c->name));
    pt_thrift_i32(t, META_CODEC, (int32_t)k->codec);
    pt_thrift_i64(t, META_VALUES, (int64_t)k->rows);
    pt_thrift_i64(t, META_BYTES, (int64_t)sizes->bytes);
    pt_thrift_i64(t, META_PACKED, (int64_t)sizes->packed);
    pt_thrift_i64(t, META_DATA_AT, (int64_t)data_at);
    if (k->entries)
        pt_thrift_i64(t, META_DICTIONARY_AT, (int64_t)at);
    put_statistics(t, k->rows - k->count, k->count ? &k->range : NULL);
    pt_thrift_end(t);
    pt_thrift_end(t);
}

/* A page with its head; adds to the sizes of the chunk. */
static int write_page(struct pt_parquet_file *f, const struct chunk *k, int type,
                      const struct pt_bytes *page, struct pt_parquet_group *sizes)
{
    bool data = type == PAGE_DATA;
    const struct pt_bytes *packed = page;

    if (k->codec != PT_PARQUET_UNCOMPRESSED) {
        packed = &f->packed;
        if (!pt_parquet_compress(&f->compressor, page, &f->packed))
            return pt_parquet_file_no_memory(f);
    }
    f->scratch.used = 0;
    put_page_head(&f->scratch, type, page->used, packed->used, data ? k->rows : k->entries,
                  data ? k->encoding : PLAIN);
    sizes->bytes += f->scratch.used + page->used;
    sizes->packed += f->scratch.used + packed->used;
    if (pt_parquet_file_put(f, &f->scratch) != 0)
        return f->job->error;
    return pt_parquet_file_put(f, packed);
}

int pt_parquet_chunk_write(struct pt_parquet_file *f, const struct pt_parquet_column *c,
                           size_t rows, struct pt_parquet_group *group)
{
    struct chunk k = {
        .column = c, .rows = rows, .count = pt_parquet_column_count(c, rows), .encoding = PLAIN
    };
    struct pt_parquet_group sizes = { 0 };
    struct pt_thrift t = { .to = &f->meta };
    uint64_t at = f->at, data_at;

    if (pt_parquet_column_failed(c))
        return pt_parquet_file_no_memory(f);
    f->page.used = f->dictionary.used = 0;
    put_values(f, &k);
    if (f->page.failed || f->dictionary.failed || f->delta.failed || f->text_ids.failed)
        return pt_parquet_file_no_memory(f);
    if (f->page.used + f->dictionary.used >= LEAST_TO_COMPRESS)
        k.codec = pt_parquet_codec();
    if (k.entries && write_page(f, &k, PAGE_DICTIONARY, &f->dictionary, &sizes) != 0)
        return f->job->error;
    data_at = f->at;
    if (write_page(f, &k, PAGE_DATA, &f->page, &sizes) != 0)
        return f->job->error;
    put_meta(&t, &k, at, data_at, &sizes);
    group->bytes += sizes.bytes;
    group->packed += sizes.packed;
    return 0;
}

void pt_parquet_chunk_empty(struct pt_parquet_file *f, size_t rows)
{
    f->page.used = f->scratch.used = 0;
    put_levels(&f->page, NULL, rows, 0);
    put_page_head(&f->scratch, PAGE_DATA, f->page.used, f->page.used, rows, PLAIN);
    pt_parquet_put(&f->scratch, f->page.at, f->page.used);
}

void pt_parquet_chunk_empty_meta(struct pt_thrift *t, const struct pt_parquet_column *c,
                                 size_t rows, uint64_t at, size_t bytes)
{
    const struct chunk k = { .column = c, .rows = rows, .encoding = PLAIN };
    const struct pt_parquet_group sizes = { .bytes = bytes, .packed = bytes };

    put_meta(t, &k, at, at, &sizes);
}
