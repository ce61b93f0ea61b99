/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Names of the events of a QNX trace in our logs, and descriptions of their data. */
#include <stdio.h>
#include <string.h>
#include "compat/qnx/kev_types.h"

static const char *const endings[PT_KEV_FORMS] = { ".short", ".wide", "", ".bytes", ".text" };

/* Types whose data always is words and a string need no ending for it. */
static bool is_string(const struct pt_kev_about *a)
{
    bool string = false;

    if (a->wide)
        pt_kev_words(a->wide, &string);
    return string;
}

void pt_kev_name(const struct pt_kev_rules *rules, unsigned type, enum pt_kev_form form,
                 char name[80])
{
    struct pt_kev_about a;
    const char *ending = endings[form];

    pt_kev_about(rules, type, &a);
    if (form == PT_KEV_FAST && !is_string(&a))
        ending = "";
    else if (form == PT_KEV_STRING && !is_string(&a))
        ending = ".string";
    snprintf(name, 80, PT_KEV_PREFIX "%s%s%s%s", a.label, a.event[0] ? ":" : "", a.event, ending);
}

const char *pt_kev_fields(const struct pt_kev_rules *rules, unsigned type, enum pt_kev_form form)
{
    struct pt_kev_about a;

    pt_kev_about(rules, type, &a);
    if (form == PT_KEV_FAST)
        return a.fast ? a.fast : "x32 d0; x32 d1";
    if (form == PT_KEV_WIDE && a.wide)
        return a.wide;
    if (form == PT_KEV_STRING)
        return is_string(&a) ? a.wide : "str text";
    return form == PT_KEV_TEXT ? "str call; str arguments" : "bytes data";
}

void pt_kev_describe(const struct pt_kev_rules *rules, unsigned type, enum pt_kev_form form,
                     bool big_endian, char description[320])
{
    snprintf(description, 320, "%s; u8 cpu; x8 flags; %s",
             big_endian && form == PT_KEV_BYTES ? "be" : "le", pt_kev_fields(rules, type, form));
}

bool pt_kev_named(const struct pt_kev_rules *rules, const char *name, unsigned *type,
                  enum pt_kev_form *form)
{
    static const char *const all[] = { ".short", ".wide", ".string", ".bytes", ".text" };
    static const uint8_t forms[] = { PT_KEV_FAST, PT_KEV_WIDE, PT_KEV_STRING, PT_KEV_BYTES,
                                     PT_KEV_TEXT };
    struct pt_kev_about a;
    size_t length = strlen(name), label, i = 0;
    char again[80];
    int found;

    if (strncmp(name, PT_KEV_PREFIX, sizeof PT_KEV_PREFIX - 1) != 0)
        return false;
    name += sizeof PT_KEV_PREFIX - 1;
    length -= sizeof PT_KEV_PREFIX - 1;
    while (i < 5 &&
           (length < strlen(all[i]) || strcmp(name + length - strlen(all[i]), all[i]) != 0))
        i++;
    if (i < 5)
        length -= strlen(all[i]);
    label = strcspn(name, ":");
    if (label > length)
        label = length;
    found = pt_kev_find(rules, name, label, name + label + (label < length),
                        length - label - (label < length));
    if (found < 0)
        return false;
    *type = (unsigned)found;
    pt_kev_about(rules, *type, &a);
    *form = i < 5 ? forms[i] : is_string(&a) ? PT_KEV_STRING : PT_KEV_FAST;
    pt_kev_name(rules, *type, *form, again);
    return strcmp(again + sizeof PT_KEV_PREFIX - 1, name) == 0;
}
