/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See attach.h.  The segment is mapped and checked as in a traced process; the onlooker holds a
 * link to the name map of its own.  It makes no page and takes no gate bit, because it is not
 * traced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "control/attach.h"
#include "page/names.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"

static int open_names(struct pt_stream *s)
{
    const struct pt_seg_header *h = s->seg->h;

    memcpy(s->names_file, h->names_file, sizeof s->names_file);
    if (s->names_file[0] == '\0')
        return -ENOTSUP;
    if (!pt_dir_is_plain(s->names_file, sizeof s->names_file))
        return -EINVAL;
    return pt_names_open(&s->names, s->names_file);
}

/* Thread ids in the lock word mean something to us. */
static bool same_namespace(const struct pt_seg_header *h)
{
    struct pt_identity self;

    pt_identity_self(&self);
    return self.pid_ns != 0 && self.pid_ns == h->pid_ns;
}

static int open_segment(struct pt_stream *s, const char *file)
{
    int r;

    s->seg = calloc(1, sizeof *s->seg);
    if (!s->seg)
        return -ENOMEM;
    pt_time_learn();
    r = pt_seg_open(s->seg, file);
    if (r < 0) {
        free(s->seg);
        s->seg = NULL;
        /* A symbolic link, a directory, a socket. */
        return r == -ELOOP || r == -EISDIR || r == -ENXIO ? -EINVAL : r;
    }
    if (pt_onlook_begin(&s->onlook, s->seg) < 0 || pt_load_seqcst(&s->seg->h->closed) ||
        pt_owner_liveness(s->seg->h, s->seg->dev, s->seg->ino) == PT_DEAD)
        return -ENXIO;
    s->readable_only = !same_namespace(s->seg->h);
    return 0;
}

void pt_detach(struct pt_stream *s)
{
    pt_consumer_deinit(&s->live);
    if (s->names)
        pt_names_unmap(s->names);
    if (s->seg) {
        pt_seg_end_onlook(s->seg, &s->onlook);
        pt_seg_unmap(s->seg);
        free(s->seg);
    }
    pt_stream_free(s);
}

int pt_attach(struct pt_stream **stream, const char *file)
{
    struct pt_stream *s;
    int r;

    if (!pt_seg_is_name(file))
        return -EINVAL;
    s = pt_stream_new(PT_STREAM_ATTACHED);
    if (!s)
        return -ENOMEM;
    s->uid = pt_place_uid();
    pt_brief_files_enter();
    r = s->instance ? open_segment(s, file) : -ENOMEM;
    if (r == 0)
        r = open_names(s);
    pt_brief_files_leave();
    if (r == 0)
        r = pt_consumer_look_on(&s->live, s->seg);
    if (r < 0) {
        pt_detach(s);
        return r;
    }
    *stream = s;
    return 0;
}
