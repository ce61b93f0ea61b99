/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sites.h. */
#include "common/sites.h"

#include <inttypes.h>
#include <posixtrace/event.h>
#include <stdio.h>
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
    s->symbols = NULL;
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
