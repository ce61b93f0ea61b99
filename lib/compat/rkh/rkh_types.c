/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The types of RKH's trace records and their arguments, as tables; see rkh.h for the
 * letters.  Numbers, names and the order of the arguments are those that targets send:
 * those of RKH 3, and the flat numbers from before groups had bits of their own.
 */
#include <stdio.h>
#include <string.h>
#include "compat/rkh/rkh.h"

struct row {
    uint8_t id;
    char name[15];
    const char *args; /* [when]KIND.name, by spaces */
};

static const struct row rows[] = {
    { 0x00, "MP_INIT", "S.mp B.nb Z.bs" },
    { 0x01, "MP_GET", "S.mp B.nfree mB.nmin" },
    { 0x02, "MP_PUT", "S.mp B.nfree" },
    { 0x20, "QUE_INIT", "S.q S.ao E.nelem" },
    { 0x21, "QUE_GET", "S.q E.nelem" },
    { 0x22, "QUE_FIFO", "S.q E.nelem qE.nmin" },
    { 0x23, "QUE_LIFO", "S.q E.nelem qE.nmin" },
    { 0x24, "QUE_FULL", "S.q" },
    { 0x25, "QUE_DPT", "S.q" },
    { 0x26, "QUE_GET_LAST", "S.q" },
    { 0x40, "SMA_ACT", "S.ao b.prio b.size" },
    { 0x41, "SMA_TERM", "S.ao b.prio" },
    { 0x42, "SMA_GET", "S.ao G.sig p.pid b.rc E.nelem qE.nmin" },
    { 0x43, "SMA_FIFO", "S.ao G.sig sS.snr p.pid b.rc E.nelem qE.nmin" },
    { 0x44, "SMA_LIFO", "S.ao G.sig sS.snr p.pid b.rc E.nelem qE.nmin" },
    { 0x45, "SMA_REG", "S.ao b.prio" },
    { 0x46, "SMA_UNREG", "S.ao b.prio" },
    { 0x47, "SMA_DEFER", "S.q G.sig" },
    { 0x48, "SMA_RCALL", "S.ao G.sig" },
    { 0x60, "SM_INIT", "S.ao S.ist" },
    { 0x61, "SM_CLRH", "S.ao S.h" },
    { 0x62, "SM_TRN", "S.ao S.sst S.tst" },
    { 0x63, "SM_STATE", "S.ao S.nxtst" },
    { 0x64, "SM_ENSTATE", "S.ao S.st" },
    { 0x65, "SM_EXSTATE", "S.ao S.st" },
    { 0x66, "SM_NENEX", "S.ao b.nen b.nex" },
    { 0x67, "SM_NTRNACT", "S.ao b.nta b.nts" },
    { 0x68, "SM_TS_STATE", "S.ao S.st" },
    { 0x69, "SM_EVT_PROC", "S.ao" },
    { 0x6a, "SM_EVT_NFOUND", "S.ao G.sig" },
    { 0x6b, "SM_GRD_FALSE", "S.ao" },
    { 0x6c, "SM_CND_NFOUND", "S.ao" },
    { 0x6d, "SM_UNKN_STATE", "S.ao" },
    { 0x6e, "SM_EX_HLEVEL", "S.ao" },
    { 0x6f, "SM_EX_TSEG", "S.ao" },
    { 0x70, "SM_EXE_ACT", "k.act S.ao S.st F.fn" },
    { 0x71, "SM_DCH", "S.ao G.sig S.st" },
    { 0x80, "TMR_INIT", "S.t G.sig" },
    { 0x81, "TMR_START", "S.t S.ao K.nt K.per" },
    { 0x82, "TMR_STOP", "S.t K.nt K.per" },
    { 0x83, "TMR_TOUT", "S.t G.sig S.ao" },
    { 0x84, "TMR_REM", "S.t" },
    { 0xa0, "FWK_EN", "" },
    { 0xa1, "FWK_EX", "" },
    { 0xa2, "FWK_EPREG", "b.ep d.ss V.es B.ps" },
    { 0xa3, "FWK_AE", "V.es G.sig p.pid b.rc B.nb mB.nmin S.actor" },
    { 0xa4, "FWK_GC", "G.sig p.pid b.rc" },
    { 0xa5, "FWK_GCR", "G.sig p.pid b.rc B.nb mB.nmin S.actor" },
    { 0xa6, "FWK_OBJ", "x.obj s.nm" },
    { 0xa7, "FWK_SIG", "g.sig s.nm" },
    { 0xa8, "FWK_FUN", "x.fn s.nm" },
    { 0xa9, "FWK_EXE_FUN", "F.fn" },
    { 0xaa, "FWK_SYNC_EVT", "F.fn sS.snr sS.ao" },
    { 0xab, "FWK_TUSR", "u.ut s.nm" },
    { 0xac, "FWK_TCFG", "" },
    { 0xad, "FWK_ASSERT", "s.mod w.line" },
    { 0xae, "FWK_AO", "x.obj s.nm" },
    { 0xaf, "FWK_STATE", "S.ao x.obj s.nm" },
    { 0xb0, "FWK_PSTATE", "S.ao x.obj s.nm" },
    { 0xb1, "FWK_TIMER", "x.obj s.nm" },
    { 0xb2, "FWK_EPOOL", "e.ep s.nm" },
    { 0xb3, "FWK_QUEUE", "x.obj s.nm" },
    { 0xb4, "FWK_ACTOR", "x.obj s.nm" },
    { 0xe0, "UT_INIT", "r.data" },
    { 0xe1, "UT_CLEANUP", "r.data" },
    { 0xe2, "UT_VERIFY", "r.data" },
    { 0xe3, "UT_IGNORE_GROUP", "r.data" },
    { 0xe4, "UT_EXPECT", "r.data" },
    { 0xe5, "UT_EXPECT_ANY", "r.data" },
    { 0xe6, "UT_IGNORE", "r.data" },
    { 0xe7, "UT_IGNORE_ARG", "r.data" },
    { 0xe8, "UT_SUCCESS", "r.data" },
    { 0xe9, "UT_FAIL", "r.data" },
};

static const struct row flat_rows[] = {
    { 0x00, "MP_INIT", "S.mp B.nb" },
    { 0x01, "MP_GET", "S.mp B.nfree" },
    { 0x02, "MP_PUT", "S.mp B.nfree" },
    { 0x03, "RQ_INIT", "S.q S.ao E.nelem" },
    { 0x04, "RQ_GET", "S.q E.nelem" },
    { 0x05, "RQ_FIFO", "S.q E.nelem" },
    { 0x06, "RQ_LIFO", "S.q E.nelem" },
    { 0x07, "RQ_FULL", "S.q" },
    { 0x08, "RQ_DPT", "S.q" },
    { 0x09, "RQ_GET_LAST", "S.q" },
    { 0x0a, "SMA_ACT", "S.ao" },
    { 0x0b, "SMA_TERM", "S.ao" },
    { 0x0c, "SMA_GET", "S.ao G.sig" },
    { 0x0d, "SMA_FIFO", "S.ao G.sig" },
    { 0x0e, "SMA_LIFO", "S.ao G.sig" },
    { 0x0f, "SMA_REG", "S.ao b.prio" },
    { 0x10, "SMA_UNREG", "S.ao b.prio" },
    { 0x11, "SM_INIT", "S.ao S.ist" },
    { 0x12, "SM_CLRH", "S.ao S.h" },
    { 0x13, "SM_DCH", "S.ao G.sig" },
    { 0x14, "SM_TRN", "S.ao S.sst S.tst" },
    { 0x15, "SM_STATE", "S.ao S.nxtst" },
    { 0x16, "SM_ENSTATE", "S.ao S.st" },
    { 0x17, "SM_EXSTATE", "S.ao S.st" },
    { 0x18, "SM_NENEX", "S.ao b.nen b.nex" },
    { 0x19, "SM_NTRNACT", "S.ao b.nta" },
    { 0x1a, "SM_CSTATE", "S.ao S.st" },
    { 0x1b, "SM_DCH_RC", "S.ao b.rc" },
    { 0x1c, "TIM_INIT", "S.t G.sig" },
    { 0x1d, "TIM_START", "S.t S.ao K.nt" },
    { 0x1e, "TIM_RESTART", "S.t K.nt" },
    { 0x1f, "TIM_STOP", "S.t" },
    { 0x20, "TIM_TOUT", "S.t" },
    { 0x21, "TIM_REM", "S.t" },
    { 0x22, "TIM_ATTEMPT", "S.t" },
    { 0x23, "RKH_EN", "" },
    { 0x24, "RKH_EX", "" },
    { 0x25, "RKH_EPREG", "b.ep d.ss V.es" },
    { 0x26, "RKH_AE", "V.es G.sig" },
    { 0x27, "RKH_GC", "G.sig" },
    { 0x28, "RKH_GCR", "G.sig" },
    { 0x29, "RKH_DEFER", "S.q G.sig" },
    { 0x2a, "RKH_RCALL", "S.ao G.sig" },
    { 0x2b, "RKH_OBJ", "x.obj s.nm" },
    { 0x2c, "RKH_SIG", "g.sig s.nm" },
};

const char pt_rkh_config_description[] =
    "x16 version; x32 bits; u8 signal; u8 timestamp; u8 pointer; u8 tick; u8 nblock; u8 nelem; "
    "u8 esize; u8 bsize; u8 pools; u16 hz; u32 rate";

static void take_words(struct pt_rkh_type *type, const char *at)
{
    while (*at) {
        struct pt_rkh_arg *a = &type->args[type->count++];

        if (at[1] != '.')
            a->when = *at++;
        a->kind = *at;
        a->name = at + 2;
        a->name_len = (uint8_t)strcspn(a->name, " ");
        at = a->name + a->name_len;
        at += *at == ' ';
    }
}

void pt_rkh_types_init(struct pt_rkh_types *types, bool flat)
{
    const struct row *row = flat ? flat_rows : rows;
    size_t count = flat ? sizeof flat_rows / sizeof *flat_rows : sizeof rows / sizeof *rows;

    memset(types, 0, sizeof *types);
    for (; count--; row++) {
        struct pt_rkh_type *type = &types->of[row->id];

        snprintf(type->name, sizeof type->name, "rkh%s:%s", flat ? "-flat" : "", row->name);
        take_words(type, row->args);
        type->by_object = strncmp(row->name, "SM_", 3) == 0 || strcmp(row->name, "SMA_GET") == 0;
    }
}

int pt_rkh_type_find(const struct pt_rkh_types *types, const char *name)
{
    for (int i = 0; i < 256; i++)
        if (types->of[i].name[0] && strcmp(types->of[i].name, name) == 0)
            return i;
    return -1;
}

static const char *description_of(char kind)
{
    switch (kind) {
    case 'S':
    case 'F':
    case 'x': return "x64";
    case 'b':
    case 'p':
    case 'k':
    case 'e': return "u8";
    case 'y': return "u8";
    case 'w': return "u16";
    case 'o': return "u64";
    case 's': return "str";
    case 'r': return "bytes";
    default: return "u32";
    }
}

static const char *values_of(const struct pt_rkh_arg *a)
{
    if (a->kind == 'k')
        return " {effect, entry, exit, init, preproc, guard}";
    if (a->kind == 'p')
        return " {static}";
    if (a->kind == 'y')
        return " {checksum, short, long, escape, cut}";
    if (!a->when)
        return "";
    return pt_rkh_width_of_ours(a->kind) == 8 ? " {none=-1}" : " {none=4294967295}";
}

void pt_rkh_type_describe(const struct pt_rkh_type *type, char *to)
{
    char *at = to, *end = to + POSIXTRACE_DESCRIPTION_MAX + 1;

    *at = '\0';
    for (unsigned i = 0; i < type->count; i++) {
        const struct pt_rkh_arg *a = &type->args[i];

        at += snprintf(at, (size_t)(end - at), "%s%s %.*s%s", i ? "; " : "",
                       description_of(a->kind), a->name_len, a->name, values_of(a));
        if (pt_rkh_has_name(a->kind))
            at += snprintf(at, (size_t)(end - at), "; str %.*s_name", a->name_len, a->name);
    }
}

/* ---- configuration ---- */

void pt_rkh_config_init(struct pt_rkh_config *c)
{
    *c = (struct pt_rkh_config){ .id = 1,
                                 .signal = 1,
                                 .timestamp = 4,
                                 .pointer = 4,
                                 .tick = 2,
                                 .nblock = 1,
                                 .nelem = 1,
                                 .esize = 2,
                                 .bsize = 1,
                                 .pools = 4,
                                 .bits = PT_RKH_SEQUENCE | PT_RKH_TIMESTAMP | PT_RKH_CHECKSUM };
}

/* A width that no target has counts as 1, as in Trazer. */
static uint8_t width(unsigned bytes, unsigned most)
{
    return bytes == 2 || bytes == 4 || (bytes == 8 && most == 8) ? (uint8_t)bytes : 1;
}

void pt_rkh_config_get(struct pt_rkh_config *c, const uint8_t *p)
{
    c->version = (uint16_t)pt_rkh_load(p, 2);
    c->bits = (uint32_t)pt_rkh_load(p + 2, 4);
    c->signal = width(p[6] >> 4, 4);
    c->timestamp = width(p[6] & 15, 4);
    c->pointer = width(p[7] >> 4, 8);
    c->tick = width(p[7] & 15, 4);
    c->nblock = width(p[8] >> 4, 4);
    c->nelem = width(p[8] & 15, 4);
    c->esize = width(p[9], 4);
    c->bsize = width(p[10] >> 4, 4);
    c->pools = p[10] & 15;
    c->hz = (uint16_t)pt_rkh_load(p + 11, 2);
}

void pt_rkh_config_put(const struct pt_rkh_config *c, uint8_t *p)
{
    pt_rkh_store(p, 2, c->version);
    pt_rkh_store(p + 2, 4, c->bits);
    p[6] = (uint8_t)(c->signal << 4 | c->timestamp);
    p[7] = (uint8_t)(c->pointer << 4 | c->tick);
    p[8] = (uint8_t)(c->nblock << 4 | c->nelem);
    p[9] = c->esize;
    p[10] = (uint8_t)(c->bsize << 4 | (c->pools & 15));
    pt_rkh_store(p + 11, 2, c->hz);
}

bool pt_rkh_config_has(const struct pt_rkh_config *c, char when)
{
    return when == 0 || (when == 'q' && c->bits & PT_RKH_QUE_LOW) ||
           (when == 'm' && c->bits & PT_RKH_MP_LOW) || (when == 's' && c->bits & PT_RKH_SENDER);
}

unsigned pt_rkh_width(const struct pt_rkh_config *c, char kind)
{
    switch (kind) {
    case 'S':
    case 'F':
    case 'x': return c->pointer;
    case 'G':
    case 'g': return c->signal;
    case 'E': return c->nelem;
    case 'B': return c->nblock;
    case 'Z': return c->bsize;
    case 'K': return c->tick;
    case 'V': return c->esize;
    case 'u': return c->id;
    case 'w': return 2;
    case 'd': return 4;
    case 's':
    case 'r': return 0;
    default: return 1;
    }
}

unsigned pt_rkh_width_of_ours(char kind)
{
    switch (kind) {
    case 'S':
    case 'F':
    case 'x':
    case 'o': return 8;
    case 'b':
    case 'p':
    case 'k':
    case 'e':
    case 'y': return 1;
    case 'w': return 2;
    case 's':
    case 'r': return 0;
    default: return 4;
    }
}

bool pt_rkh_has_name(char kind)
{
    return kind == 'S' || kind == 'F' || kind == 'G';
}

const struct pt_rkh_type pt_rkh_damaged = {
    .name = "rkh:DAMAGED",
    .count = 3,
    .args = { { 'o', 0, 6, "offset" }, { 'o', 0, 5, "bytes" }, { 'y', 0, 3, "why" } }
};
const struct pt_rkh_type pt_rkh_lost = {
    .name = "rkh:LOST",
    .count = 3,
    .args = { { 'd', 0, 6, "frames" }, { 'b', 0, 8, "expected" }, { 'b', 0, 5, "found" } }
};
