/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: the length of records, two bytes, and columns; or, if the length is 0, records.
 *
 * Columns are refused, or make records of that length.  Records, those made, too, come back from
 * columns as they were, but for bytes that pad data; the second time bit for bit.  Cells give the
 * same events.
 */
#include "log/columns.h"

#include <string.h>

#include "fuzz/target.h"
#include "log/byteorder.h"
#include "support/same_events.h"

static struct pt_columns writing, reading;
static unsigned long refused, made, rows_stay, written, as_cells;

/* Memory of exactly that size, so that checkers see what goes past it. */
static uint8_t *block(const void *from, size_t size)
{
    uint8_t *to = malloc(size ? size : 1);

    FUZZ_NEED(to);
    if (from)
        memcpy(to, from, size);
    return to;
}

/* The records by way of columns; NULL: they stay rows. */
static uint8_t *there_and_back(const uint8_t *records, uint32_t bytes)
{
    uint32_t room = 2 * bytes + 4096;
    uint8_t *packed = block(NULL, room), *back = NULL;
    uint32_t n = pt_columns_write(&writing, records, bytes, packed, room);

    if (n) {
        back = block(NULL, bytes);
        FUZZ_NEED(pt_columns_read(&reading, packed, n, back, bytes) == 0);
    }
    free(packed);
    return back;
}

static void check_records(const uint8_t *data, size_t size)
{
    uint8_t *records = block(data, size), *once = there_and_back(records, (uint32_t)size), *twice;

    if (once) {
        twice = there_and_back(once, (uint32_t)size);
        FUZZ_NEED(twice && memcmp(once, twice, size) == 0);
        free(twice);
        written++;
    } else {
        rows_stay++;
    }
    free(once);
    free(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bytes;

    if (size < 2 || size > 65536)
        return 0;
    bytes = data[0] | (uint32_t)data[1] << 8;
    if (bytes == 0) {
        check_records(data + 2, size - 2);
    } else {
        uint8_t *packed = block(data + 2, size - 2), *records = block(NULL, bytes);

        if (pt_columns_read(&reading, packed, (uint32_t)size - 2, records, bytes) == 0) {
            bool suited;

            made++;
            FUZZ_NEED(same_events(&reading, packed, (uint32_t)size - 2, records, bytes, &suited));
            as_cells += suited;
            check_records(records, bytes);
        } else {
            refused++;
        }
        free(records);
        free(packed);
    }
    return 0;
}

static void finish(void)
{
    printf("columns: %lu refused, %lu made, %lu as cells; records: %lu as columns, %lu stay rows\n",
           refused, made, as_cells, written, rows_stay);
    FUZZ_NEED(refused && made && as_cells && written && rows_stay);
    pt_columns_deinit(&writing);
    pt_columns_deinit(&reading);
}

const struct fuzz_replay fuzz_replay = { .rounds = 400, .finish = finish };
