/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Lines of Trazer's text, taken apart: of records, and of the configuration. */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/rkh/rkh_job.h"
#include "analysis/format/rkh/trazer.h"

const char pt_trazer_config_line[] =
    "   0| [  0] | FWK | TCFG       : Update RKH Configuration from client\n";

const struct pt_trazer_setting pt_trazer_config[] = {
    { "RKH_VERSION", 0, 2, -1, 1 },
    { "TRZ_RKH_CFGPORT_TRC_SIZEOF_TSTAMP", 7, 1, -1, 8 },
    { "TRZ_RKH_CFGPORT_TRC_SIZEOF_PTR", 8, 1, -1, 8 },
    { "TRZ_RKH_CFG_FWK_SIZEOF_EVT", 6, 1, -1, 8 },
    { "TRZ_RKH_CFG_FWK_SIZEOF_EVT_SIZE", 12, 1, -1, 8 },
    { "TRZ_RKH_CFG_FWK_MAX_EVT_POOL", 14, 1, -1, 1 },
    { "TRZ_RKH_CFG_RQ_GET_LWMARK_EN", 2, 4, 11, 1 },
    { "TRZ_RKH_CFG_RQ_SIZEOF_NELEM", 11, 1, -1, 8 },
    { "TRZ_RKH_CFG_MP_GET_LWM_EN", 2, 4, 12, 1 },
    { "TRZ_RKH_CFG_MP_SIZEOF_NBLOCK", 10, 1, -1, 8 },
    { "TRZ_RKH_CFG_MP_SIZEOF_BSIZE", 13, 1, -1, 8 },
    { "TRZ_RKH_CFG_SMA_TRC_SNDR_EN", 2, 4, 0, 1 },
    { "TRZ_RKH_CFG_TMR_SIZEOF_NTIMER", 9, 1, -1, 8 },
    { "TRZ_RKH_CFG_TRC_RTFIL_EN", 2, 4, 1, 1 },
    { "TRZ_RKH_CFG_TRC_USER_TRACE_EN", 2, 4, 2, 1 },
    { "TRZ_RKH_CFG_TRC_ALL_EN", 2, 4, 3, 1 },
    { "TRZ_RKH_CFG_TRC_MP_EN", 2, 4, 4, 1 },
    { "TRZ_RKH_CFG_TRC_RQ_EN", 2, 4, 5, 1 },
    { "TRZ_RKH_CFG_TRC_SMA_EN", 2, 4, 6, 1 },
    { "TRZ_RKH_CFG_TRC_TMR_EN", 2, 4, 7, 1 },
    { "TRZ_RKH_CFG_TRC_SM_EN", 2, 4, 8, 1 },
    { "TRZ_RKH_CFG_TRC_FWK_EN", 2, 4, 9, 1 },
    { "TRZ_RKH_CFG_TRC_ASSERT_EN", 2, 4, 10, 1 },
    { "TRZ_RKH_CFG_TRC_RTFIL_SMA_EN", 2, 4, 13, 1 },
    { "TRZ_RKH_CFG_TRC_RTFIL_SIGNAL_EN", 2, 4, 14, 1 },
    { "TRZ_RKH_CFG_TRC_NSEQ_EN", 2, 4, 15, 1 },
    { "TRZ_RKH_CFG_TRC_TSTAMP_EN", 2, 4, 16, 1 },
    { "TRZ_RKH_CFG_TRC_CHK_EN", 2, 4, 17, 1 },
    { "tstamp_tick_hz", 15, 2, -1, 1 },
    { NULL, 0, 0, 0, 0 }
};

const char *pt_trazer_skip_space(const char *p)
{
    while (*p == ' ')
        p++;
    return p;
}

const char *pt_trazer_take_digits(const char *p, uint64_t *v)
{
    *v = 0;
    while (*p >= '0' && *p <= '9')
        *v = *v * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* A word and what ends it, with spaces around; NULL: not there. */
static const char *take_word(const char *p, char end, const char **word, size_t *len)
{
    const char *stop;

    *word = p = pt_trazer_skip_space(p);
    stop = strchr(p, end);
    if (!stop || stop - p > (long)PT_RKH_NAME_MAX)
        return NULL;
    *len = (size_t)(stop - p);
    while (*len && p[*len - 1] == ' ')
        --*len;
    return *len ? stop + 1 : NULL;
}

bool pt_trazer_take_line(const char *text, struct pt_trazer_line *l)
{
    const char *p = pt_trazer_skip_space(text), *q;
    uint64_t v;

    *l = (struct pt_trazer_line){ .sequence = -1 };
    q = pt_trazer_take_digits(p, &l->ticks);
    if (q > p && *q == '|') {
        l->column = (unsigned)(q - text);
        p = pt_trazer_skip_space(q + 1);
    }
    if (*p == '[') {
        q = pt_trazer_take_digits(pt_trazer_skip_space(p + 1), &v);
        if (strncmp(q, "] |", 3) != 0 || v > 255)
            return false;
        l->sequence = (int)v;
        p = q + 3;
    }
    p = take_word(p, '|', &l->group, &l->group_len);
    p = p ? take_word(p, ':', &l->event, &l->event_len) : NULL;
    l->rest = p ? pt_trazer_skip_space(p) : NULL;
    return p && l->group_len <= 8;
}

void pt_trazer_take_setting(uint8_t *config, const char *p)
{
    const struct pt_trazer_setting *s = pt_trazer_config;
    const char *equals = strchr(p, '=');
    size_t len = strcspn(p, " =");
    unsigned long high, middle;
    uint64_t v;
    char *end;

    while (s->name && (strlen(s->name) != len || strncmp(s->name, p, len) != 0))
        s++;
    if (!s->name || !equals)
        return;
    p = pt_trazer_skip_space(equals + 1);
    v = strtoull(p, &end, 10);
    if (s == pt_trazer_config) { /* RKH_VERSION = 3.2.03 */
        high = strtoul(p, &end, 16);
        middle = *end == '.' ? strtoul(end + 1, &end, 16) : 0;
        v = (high & 15) << 12 | (middle & 15) << 8 |
            ((*end == '.' ? strtoul(end + 1, NULL, 16) : 0) & 255);
    }
    if (s->bit >= 0)
        v = pt_rkh_load(config + s->at, 4) | (uint64_t)(v != 0) << s->bit;
    pt_rkh_store(config + s->at, s->bytes, v / s->times);
}
