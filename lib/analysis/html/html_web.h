/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The pieces of the skeleton between which the data goes: html_web.c is made by embed.py. */
#ifndef PT_HTML_WEB_H
#define PT_HTML_WEB_H

#include <stddef.h>

enum { PT_HTML_PIECES = 6 };

struct pt_html_piece {
    const char *text;
    size_t length;
};

/* Before the attributes, title, head, first blocks and other blocks, and the end. */
extern const char pt_html_version[]; /* of the project */
extern const struct pt_html_piece pt_html_pieces[PT_HTML_PIECES];

#endif
