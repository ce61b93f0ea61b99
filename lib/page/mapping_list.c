/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See mapping_list.h. */
#include <errno.h>
#include <string.h>
#include "page/mapping_list.h"

#define COUNT      (PT_MAPPING_END - 1)
#define TEXT_BYTES ((uint32_t)sizeof((struct pt_mapping_list *)NULL)->text)
#define LAST_TEXT  (TEXT_BYTES - (PT_MAPPING_MAX + 1u)) /* where one that may be long begins */
#define IN_USE     (1ull << 63)
#define SHORT_TEXT 48u /* bytes at most */

/* The ends of the parts. */
static const struct {
    uint32_t count, bytes;
} parts[PT_MAPPING_ROOMS] = {
    [PT_MAPPING_NEW] = { COUNT - 1024 - 64, LAST_TEXT - 1024 * SHORT_TEXT - 64 * SHORT_TEXT },
    [PT_MAPPING_NO_MORE] = { COUNT - 64, LAST_TEXT - 64 * SHORT_TEXT },
    [PT_MAPPING_LAST] = { COUNT, LAST_TEXT },
};

static struct pt_mapping_list *list_of(const struct pt_names *n)
{
    return (struct pt_mapping_list *)((uintptr_t)n + PT_NAMES_LIST);
}

/* used: bytes of the texts that may be looked at. */
static const char *text_of(const struct pt_names *n, uint64_t e, uint32_t used, uint32_t *length)
{
    const char *text = list_of(n)->text + (uint32_t)e;

    *length = (uint32_t)(e >> 32) & 0xffffu;
    if (e == 0 || *length > PT_MAPPING_MAX || (uint32_t)e > LAST_TEXT ||
        (uint32_t)e + *length >= used || text[*length] != '\0')
        return NULL;
    return text;
}

static uint32_t used_bytes(const struct pt_names *n)
{
    uint32_t used = pt_load_acquire(&n->mapping_bytes);

    return used < TEXT_BYTES ? used : TEXT_BYTES;
}

/* Reserves memory for so many entries and bytes of texts. */
static bool is_backed(const struct pt_names *n, uint32_t count, uint32_t used)
{
    return pt_names_back(list_of(n)->entry, count * sizeof(uint64_t)) == 0 &&
           pt_names_back(list_of(n)->text, used) == 0;
}

uint32_t pt_mapping_list_end(const struct pt_names *n)
{
    uint32_t count = pt_load_acquire(&n->mappings);

    return 1 + (count < COUNT ? count : COUNT);
}

const char *pt_mapping_list_get(const struct pt_names *n, uint32_t id)
{
    uint32_t used = used_bytes(n), i = id - 1, length;
    const uint64_t *entry = &list_of(n)->entry[i < COUNT ? i : 0];
    uint64_t e;

    if (i >= pt_mapping_list_end(n) - 1 || pt_names_back(entry, sizeof *entry) < 0)
        return NULL;
    e = pt_load_acquire(entry);
    if ((uint32_t)e > LAST_TEXT ||
        pt_names_back(list_of(n)->text + (uint32_t)e, PT_MAPPING_MAX + 1u) < 0)
        return NULL;
    return text_of(n, e, used, &length);
}

uint32_t pt_mapping_list_find(const struct pt_names *n, const char *text, size_t length)
{
    uint32_t end = pt_mapping_list_end(n), used = used_bytes(n), stored;

    if (!is_backed(n, end - 1, used))
        return 0;
    for (uint32_t id = 1; id < end; id++) {
        uint64_t e = pt_load_acquire(&list_of(n)->entry[id - 1]);
        const char *is = (e >> 32 & 0xffffu) == length ? text_of(n, e, used, &stored) : NULL;

        if (is && memcmp(is, text, length) == 0)
            return id;
    }
    return 0;
}

bool pt_mapping_list_is_full(const struct pt_names *n)
{
    return pt_mapping_list_end(n) - 1 >= parts[PT_MAPPING_NEW].count ||
           used_bytes(n) + SHORT_TEXT >= parts[PT_MAPPING_NEW].bytes;
}

/* Is it a text about mappings of that process?  "= 17 ...", and the same with + and <.  The NUL
 * after it may be gone: there may be no memory there. */
static bool is_about(const char *text, uint32_t length, uint32_t pid)
{
    uint32_t i = 2, end = length < 12 ? length : 12;
    uint64_t number = 0;

    if (length < 2 || (text[0] != '=' && text[0] != '+' && text[0] != '<') || text[1] != ' ')
        return false;
    for (; i < end && text[i] >= '0' && text[i] <= '9'; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    return number == pid && i < length && text[i] == ' ';
}

bool pt_mapping_list_has(const struct pt_names *n, uint32_t pid)
{
    uint32_t end = pt_mapping_list_end(n), used = used_bytes(n), length;
    bool found = false;

    if (!is_backed(n, end - 1, used))
        return true;
    for (uint32_t id = 1; id < end && !found; id++) {
        const char *text = text_of(n, pt_load_acquire(&list_of(n)->entry[id - 1]), used, &length);

        found = text && is_about(text, length, pid);
    }
    return found;
}

/* Takes room for the text and writes it there. */
static int store(struct pt_names *n, enum pt_mapping_room kind, const char *text, size_t length,
                 uint64_t *entry)
{
    char *texts = list_of(n)->text;
    const struct pt_names_part part = { texts, parts[kind].bytes - (uint32_t)length - 1,
                                        PT_MAPPING_MAX + 1u };
    uint32_t off;
    int r = pt_names_take(&part, &n->mapping_bytes, (uint32_t)length + 1, &off);

    if (r < 0)
        return r;
    memcpy(texts + off, text, length);
    texts[off + length] = '\0';
    *entry = off | (uint64_t)length << 32 | IN_USE;
    return 0;
}

int pt_mapping_list_add(struct pt_names *n, enum pt_mapping_room kind, const char *text,
                        size_t length, uint32_t *id)
{
    struct pt_mapping_list *list = list_of(n);
    uint64_t mine = 0;

    if (length > PT_MAPPING_MAX)
        return -EINVAL;
    for (;;) {
        uint32_t i = pt_load_acquire(&n->mappings), count = i;
        uint64_t none = 0;
        bool done;
        int r;

        if (i >= parts[kind].count)
            return -ENOSPC;
        /* The entry first: a text that gets none has used up room. */
        r = pt_names_back(&list->entry[i], sizeof list->entry[i]);
        if (r == 0 && !mine)
            r = store(n, kind, text, length, &mine);
        if (r < 0)
            return r;
        done = pt_cas_seqcst(&list->entry[i], &none, mine);
        pt_cas_seqcst(&n->mappings, &count, i + 1);
        if (done) {
            *id = i + 1;
            return 0;
        }
    }
}

int pt_mapping_list_back(const struct pt_names *n)
{
    return is_backed(n, pt_mapping_list_end(n) - 1, used_bytes(n)) ? 0 : -ENOMEM;
}
