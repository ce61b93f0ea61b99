/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a description, a zero byte, and data.  The description is refused with a
 * place that is in it, or gives fields; the data is split without a look outside (it lies
 * in a block of exactly its size), and what of it is of the description lies in it, in
 * order, and can be written as text and as JSON, also where there is no room for all.
 */
#include <posixtrace/format.h>
#include <posixtrace/typed.h>
#include <string.h>
#include "fuzz/target.h"

static unsigned long refused, fitting, other;

static void check_fault(const struct posixtrace_layout_fault *fault, size_t length)
{
    FUZZ_NEED(fault->column >= 1 && fault->column <= length + 1);
    FUZZ_NEED(fault->text[0] && memchr(fault->text, '\0', sizeof fault->text));
}

static void check_fields(const posixtrace_layout_t *layout)
{
    size_t count = posixtrace_layout_count(layout);

    FUZZ_NEED(count >= 1 && count <= POSIXTRACE_FIELDS_MAX);
    FUZZ_NEED(!posixtrace_layout_field(layout, count));
    for (size_t i = 0; i < count; i++) {
        const struct posixtrace_field *f = posixtrace_layout_field(layout, i);

        FUZZ_NEED(posixtrace_layout_find(layout, f->name) == i);
        FUZZ_NEED(strlen(f->name) >= 1 && strlen(f->name) <= 63);
        for (size_t e = 0; e < f->enumerator_count; e++) {
            FUZZ_NEED(posixtrace_field_enumerator(f, f->enumerators[e].value));
            FUZZ_NEED(e == 0 || f->enumerators[e - 1].value <= f->enumerators[e].value);
        }
    }
}

/* Where the values are, and a look at each. */
static void check_values(const posixtrace_layout_t *layout, const uint8_t *data, size_t len,
                         const struct posixtrace_value *values, size_t count)
{
    const uint8_t *behind = data;

    for (size_t i = 0; i < count; i++) {
        const struct posixtrace_field *f = posixtrace_layout_field(layout, i);
        const uint8_t *at = values[i].at;

        FUZZ_NEED(at >= behind && at <= data + len);
        FUZZ_NEED(values[i].count <= (size_t)(data + len - at) / (f->bits / 8));
        behind = at + values[i].count * (f->bits / 8);
        for (size_t e = 0; e < values[i].count && f->kind <= POSIXTRACE_FIELD_CHAR; e++) {
            if (f->kind == POSIXTRACE_FIELD_FLOAT)
                posixtrace_value_float(layout, i, &values[i], e);
            else
                posixtrace_value_integer(layout, i, &values[i], e);
        }
    }
}

static void check_text(const posixtrace_layout_t *layout, const uint8_t *data, size_t len,
                       size_t (*write)(const posixtrace_layout_t *, const void *, size_t, char *,
                                       size_t))
{
    size_t length = write(layout, data, len, NULL, 0), room;
    char *whole = malloc(length + 1), *part;

    FUZZ_NEED(length > 0 && whole && write(layout, data, len, whole, length + 1) == length);
    FUZZ_NEED(strlen(whole) == length);
    for (size_t i = 0; i < length; i++)
        FUZZ_NEED((uint8_t)whole[i] >= 0x20 && whole[i] != 0x7f);
    for (room = 1; room <= length; room += 1 + length / 8) {
        part = malloc(room);
        FUZZ_NEED(part && write(layout, data, len, part, room) == length);
        FUZZ_NEED(strlen(part) < room && strncmp(part, whole, strlen(part)) == 0);
        free(part);
    }
    free(whole);
}

static void split(const posixtrace_layout_t *layout, const uint8_t *bytes, size_t len)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    size_t count = SIZE_MAX;
    uint8_t *data = malloc(len ? len : 1);
    int error;

    FUZZ_NEED(data);
    if (len)
        memcpy(data, bytes, len);
    error = posixtrace_layout_split(layout, len ? data : NULL, len, values, &count);
    FUZZ_NEED((error == 0 && count == posixtrace_layout_count(layout)) || error == EMSGSIZE);
    FUZZ_NEED(count <= posixtrace_layout_count(layout));
    if (len)
        check_values(layout, data, len, values, count);
    if (posixtrace_layout_size(layout))
        FUZZ_NEED((error == 0) == (posixtrace_layout_size(layout) == len));
    if (error == 0) {
        check_text(layout, data, len, posixtrace_layout_text);
        check_text(layout, data, len, posixtrace_layout_json);
        fitting++;
    } else {
        FUZZ_NEED(posixtrace_layout_text(layout, data, len, NULL, 0) == 0);
        other++;
    }
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct posixtrace_layout_fault fault;
    size_t length = strnlen((const char *)bytes, size);
    posixtrace_layout_t *layout;
    char *text = malloc(length + 1);
    int error;

    FUZZ_NEED(text);
    if (length)
        memcpy(text, bytes, length);
    text[length] = '\0';
    error = posixtrace_layout_parse(text, &layout, &fault);
    FUZZ_NEED((error == ENAMETOOLONG) == (length > POSIXTRACE_DESCRIPTION_MAX));
    if (error == 0) {
        check_fields(layout);
        split(layout, bytes + size, 0);
        if (size > length)
            split(layout, bytes + length + 1, size - length - 1);
        posixtrace_layout_free(layout);
    } else if (error == EINVAL) {
        check_fault(&fault, length);
        refused++;
    }
    free(text);
    return 0;
}

static void finish(void)
{
    printf("%lu refused, %lu data of its description, %lu not\n", refused, fitting, other);
    FUZZ_NEED(refused > 0 && fitting > 0 && other > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 2000, .finish = finish };
