/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What the reader and the writer of Trazer's text share. */
#ifndef PT_FORMAT_TRAZER_H
#define PT_FORMAT_TRAZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of the target's configuration. */
struct pt_trazer_setting {
    const char *name;
    uint8_t at, bytes; /* in the data of "rkh:FWK_TCFG" */
    int8_t bit;        /* of it; -1: all of it */
    uint8_t times;     /* 8 where bytes are shown as bits */
};

extern const struct pt_trazer_setting pt_trazer_config[]; /* ends with a name of NULL */
extern const char pt_trazer_config_line[];
/* Takes "NAME = VALUE" over into such data. */
void pt_trazer_take_setting(uint8_t *config, const char *p);

/* A line in its parts: [ticks "|"] ["[" sequence "] |"] group "|" event ":" rest. */
struct pt_trazer_line {
    const char *group, *event, *rest;
    size_t group_len, event_len;
    uint64_t ticks;
    unsigned column; /* after the ticks; 0: there are none */
    int sequence;    /* -1: there is none */
};

bool pt_trazer_take_line(const char *text, struct pt_trazer_line *l);
const char *pt_trazer_skip_space(const char *p);
const char *pt_trazer_take_digits(const char *p, uint64_t *v);

struct posixtrace_event;
struct pt_rkh_bytes;
struct pt_rkh_symbols;
struct pt_rkh_type;

/* The text after the name of a record of that type, as the data of an event, with its
 * thread's pthread_t and name.  False: that is not what such a record says. */
bool pt_trazer_take_values(const struct pt_rkh_type *type, const char *rest,
                           struct pt_rkh_symbols *symbols, struct pt_rkh_bytes *data,
                           struct posixtrace_event *event);

#endif
