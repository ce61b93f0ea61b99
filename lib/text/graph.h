/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Labels of graphs, between the double quotes of Graphviz's language or of Mermaid's. */
#ifndef PT_TEXT_GRAPH_H
#define PT_TEXT_GRAPH_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PT_GRAPH_BYTE = 8 }; /* what one byte becomes at most */

/* Writes a byte of a label, and no NUL; the end.  A control character becomes '?'. */
static inline char *pt_graph_byte(char *to, char byte, bool mermaid)
{
    unsigned char c = (unsigned char)byte;

    if (c < 32 || c == 127)
        c = '?';
    if (mermaid && strchr("\"#<>&`\\", c))
        return to + sprintf(to, "#%u;", c);
    if (!mermaid && (c == '"' || c == '\\'))
        *to++ = '\\';
    *to++ = (char)c;
    return to;
}

#endif
