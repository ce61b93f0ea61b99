/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sites.h. */
#include "common/sites.h"

#include <inttypes.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/tool.h"

enum { BUFFERS = 8, FIRST_ADDRESS = 0x400000 }; /* process ids are below that */

int sites_take_option(struct sites *s, int code, const char *value)
{
    struct stat st;

    if (code == SITES_NONE) {
        s->off = true;
        return EXIT_DONE;
    }
    if (stat(value, &st) < 0 || !S_ISDIR(st.st_mode))
        return tool_usage("--debug-dir: %s is not a directory", quote(value));
    s->debug_dir = value;
    return EXIT_DONE;
}

void sites_open(struct sites *s, trace_id_t trid)
{
    if (s->symbols && s->trid == trid)
        return;
    sites_close(s);
    s->trid = trid;
    if (!s->off && posixtrace_symbols_create(s->debug_dir, &s->symbols) != 0)
        s->symbols = NULL;
}

void sites_close(struct sites *s)
{
    posixtrace_symbols_free(s->symbols);
    free(s->threads);
    s->symbols = NULL;
    s->threads = NULL;
    s->thread_count = 0;
}

/* Are there symbols, with all mappings so far? */
static bool is_ready(struct sites *s)
{
    return s && s->symbols && posixtrace_symbols_update(s->symbols, s->trid) == 0;
}

size_t sites_find(struct sites *s, pid_t pid, int64_t ns, uint64_t address,
                  enum posixtrace_address kind, char to[SITES_TEXT])
{
    to[0] = '\0';
    if (!is_ready(s))
        return 0;
    return posixtrace_symbols_text(s->symbols, pid, ns, address, kind, to, SITES_TEXT);
}

void sites_text(struct sites *s, pid_t pid, int64_t ns, uint64_t address, char *to, size_t size)
{
    if (!is_ready(s) || posixtrace_symbols_text(s->symbols, pid, ns, address,
                                                POSIXTRACE_ADDRESS_RETURN, to, size) == 0)
        snprintf(to, size, "0x%" PRIx64, address);
}

bool sites_symbol(struct sites *s, pid_t pid, int64_t ns, uint64_t address,
                  struct posixtrace_symbol *symbol)
{
    return is_ready(s) &&
           posixtrace_symbols_find(s->symbols, pid, ns, address, POSIXTRACE_ADDRESS_RETURN, symbol,
                                   sizeof *symbol);
}

bool sites_stack(const struct posixtrace_event *e, size_t *count)
{
    uint16_t number;

    if (e->data_len < sizeof number)
        return false;
    memcpy(&number, e->data, sizeof number);
    *count = number;
    return e->data_len == sizeof number + number * sizeof(uint64_t);
}

uint64_t sites_stack_address(const struct posixtrace_event *e, size_t i)
{
    uint64_t address;

    memcpy(&address, (const char *)e->data + sizeof(uint16_t) + i * sizeof address, sizeof address);
    return address;
}

static char *next_buffer(void)
{
    static char buffers[BUFFERS][SITES_TEXT];
    static unsigned next;

    return buffers[next++ % BUFFERS];
}

static const char *text(struct sites *s, pid_t pid, int64_t ns, uint64_t address,
                        enum posixtrace_address kind)
{
    char *to = next_buffer();

    if (sites_find(s, pid, ns, address, kind, to) == 0)
        snprintf(to, SITES_TEXT, "0x%" PRIx64, address);
    return to;
}

const char *sites_code(struct sites *s, pid_t pid, int64_t ns, uint64_t address)
{
    return text(s, pid, ns, address, POSIXTRACE_ADDRESS_RETURN);
}

const char *sites_data(struct sites *s, pid_t pid, int64_t ns, uint64_t address)
{
    return text(s, pid, ns, address, POSIXTRACE_ADDRESS_DATA);
}

static int by_pthread(const void *a, const void *b)
{
    const struct posixtrace_thread_info *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void read_threads(struct sites *s)
{
    struct posixtrace_thread_info t;
    int unavailable = 0;

    s->threads = tool_grow(NULL, 1, sizeof t);
    if (posixtrace_threadlist_rewind(s->trid) != 0)
        return;
    while (posixtrace_threadlist_getnext(s->trid, &t, sizeof t, &unavailable) == 0 &&
           !unavailable) {
        s->threads = tool_grow(s->threads, s->thread_count + 1, sizeof t);
        s->threads[s->thread_count++] = t;
    }
    qsort(s->threads, s->thread_count, sizeof t, by_pthread);
}

size_t sites_thread(struct sites *s, pid_t pid, uint64_t thread_id, char to[SITES_TEXT])
{
    struct posixtrace_thread_info key = { .pid = pid, .thread_id = thread_id };
    size_t low = 0, high, count = 0;
    int length;

    to[0] = '\0';
    if (s->off || thread_id == 0)
        return 0;
    if (!s->threads)
        read_threads(s);
    high = s->thread_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_pthread(&s->threads[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + count < s->thread_count && s->threads[low + count].pid == pid &&
           s->threads[low + count].thread_id == thread_id)
        count++;
    if (count == 0)
        return 0;
    length = snprintf(to, SITES_TEXT, "%s%s%d", unquoted(s->threads[low].name),
                      s->threads[low].name[0] ? "/" : "", (int)s->threads[low].tid);
    if (count > 1)
        length += snprintf(to + length, SITES_TEXT - (size_t)length, " and %zu more", count - 1);
    return (size_t)length;
}

const char *sites_object(struct sites *s, pid_t pid, int64_t ns, uint64_t object)
{
    int64_t number = object == UINT32_MAX ? -1 : (int64_t)object; /* of 4 bytes */
    char *to;

    if (number < -1 || number >= FIRST_ADDRESS)
        return sites_data(s, pid, ns, object);
    to = next_buffer();
    snprintf(to, SITES_TEXT, "%" PRId64, number);
    return to;
}
