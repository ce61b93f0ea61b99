/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See btf_vocabulary.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "analysis/format/btf/btf_vocabulary.h"

static const char *const pairs[][2] = {
    { "begin", "end" },    { "start", "end" },    { "start", "stop" }, { "start", "done" },
    { "begin", "done" },   { "enter", "exit" },   { "entry", "exit" }, { "enter", "leave" },
    { "start", "finish" }, { "begin", "finish" },
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

/* The last word of a name.  *before: the length of the part before it, with the separator. */
static const char *last_word(const char *name, size_t *before)
{
    const char *word = name + strlen(name);

    while (word > name && !strchr(":._- /", word[-1]))
        word--;
    *before = (size_t)(word - name);
    return word;
}

int pt_btf_pair(const char *name, unsigned i, char *stem, char *partner)
{
    size_t before, stem_bytes;
    const char *word = last_word(name, &before);

    for (unsigned k = 0; k < PAIRS; k++) {
        int way = strcasecmp(word, pairs[k][0]) == 0   ? 1
                  : strcasecmp(word, pairs[k][1]) == 0 ? -1
                                                       : 0;

        if (way == 0 || i-- > 0)
            continue;
        stem_bytes = before ? before - 1 : 0;
        snprintf(stem, TRACE_EVENT_NAME_MAX + 1, "%.*s", (int)stem_bytes, name);
        snprintf(partner, TRACE_EVENT_NAME_MAX + 1, "%.*s%s", (int)before, name, pairs[k][way > 0]);
        return way;
    }
    return 0;
}
