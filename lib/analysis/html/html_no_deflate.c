/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A build without zlib; see html_blocks.h. */
#include <errno.h>

#include "analysis/html/html_blocks.h"

bool pt_html_can_compress(void)
{
    return false;
}

int pt_html_deflate(struct pt_html_deflater **d, const struct pt_html_bytes *from,
                    struct pt_html_bytes *to)
{
    (void)d;
    (void)from;
    (void)to;
    return ENOTSUP;
}

void pt_html_deflater_free(struct pt_html_deflater *d)
{
    (void)d;
}
