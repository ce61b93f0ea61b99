/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See maps.h. */
#include <string.h>
#include <sys/sysmacros.h>
#include "place/dir.h"
#include "shm/maps.h"

static void begin_line(struct pt_maps *m)
{
    m->field = m->major = m->minor = 0;
    m->colon = m->named = false;
    m->inode = 0;
    m->matched = -1;
}

void pt_maps_begin(struct pt_maps *m, dev_t dev, ino_t ino, const uint8_t id[16])
{
    memset(m, 0, sizeof *m);
    m->dev = dev;
    m->ino = ino;
    pt_dir_hex_name(m->name, sizeof m->name, 's', id, ".seg");
    begin_line(m);
}

static bool has_name(const struct pt_maps *m)
{
    return m->matched > 0 && m->name[m->matched] == '\0';
}

static void end_line(struct pt_maps *m)
{
    bool inode = m->field >= 4 && m->inode == m->ino;
    bool device = m->major == major(m->dev) && m->minor == minor(m->dev);

    m->found = (inode && device) || m->named || has_name(m);
    m->alike |= inode && !device;
    begin_line(m);
}

static void take_path(struct pt_maps *m, char c)
{
    if (c == '/') {
        m->matched = 0;
        m->named = false;
    } else if (c == ' ' && has_name(m)) {
        m->named = true;
        m->matched = -1;
    } else if (m->matched >= 0) {
        m->matched = m->name[m->matched] == c ? m->matched + 1 : -1;
    }
}

static void take_char(struct pt_maps *m, char c)
{
    int digit = pt_maps_hex_digit(c);

    if (m->field == 5)
        take_path(m, c);
    else if (c == ' ')
        m->field++;
    else if (m->field == 3 && c == ':')
        m->colon = true;
    else if (m->field == 3 && digit >= 0 && !m->colon)
        m->major = m->major * 16 + (unsigned)digit;
    else if (m->field == 3 && digit >= 0)
        m->minor = m->minor * 16 + (unsigned)digit;
    else if (m->field == 4 && digit >= 0 && digit < 10)
        m->inode = m->inode * 10 + (unsigned)digit;
}

bool pt_maps_take(struct pt_maps *m, const char *text, size_t bytes)
{
    for (size_t i = 0; !m->found && i < bytes; i++)
        if (text[i] == '\n')
            end_line(m);
        else
            take_char(m, text[i]);
    return m->found;
}
