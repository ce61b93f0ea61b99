/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* pt_seg_part(), see segment.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/sys.h"
#include "ring/segment.h"

static bool is_by(const struct pt_seg *seg, uint64_t word, const struct pt_author *author)
{
    const struct pt_slot *s;

    if (pt_word_state(word) != PT_CHUNK_OWNED || pt_word_slot(word) >= seg->slots_open)
        return false;
    s = pt_seg_slot(seg, pt_word_slot(word));
    return s->author.pid == author->pid && s->author.tid == author->tid;
}

/* What a writer loads before it writes: all but the chunks, and its own chunks. */
static void copy_for(const struct pt_seg *seg, char *to, const struct pt_author *author)
{
    const char *from = (const char *)seg->h;

    memcpy(to, from, (size_t)((const char *)pt_seg_slot(seg, seg->slots_open) - from));
    for (uint32_t i = 0; i < seg->chunks_open; i++)
        if (is_by(seg, pt_load_acquire(&pt_seg_info(seg, i)->word), author)) {
            const char *chunk = (const char *)pt_seg_chunk(seg, i);

            memcpy(to + (chunk - from), chunk, (size_t)((const char *)pt_seg_chunk(seg, i + 1) -
                                                        chunk));
        }
}

int pt_seg_part(struct pt_seg *seg, struct pt_seg *shared, const struct pt_author *author)
{
    void *own, *again;
    int saved = errno, r = 0;

    *shared = *seg;
    shared->older = NULL;
    again = mremap(seg->h, 0, seg->size, MREMAP_MAYMOVE);
    own = mmap(NULL, seg->size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own != MAP_FAILED) {
        copy_for(seg, own, author);
        if (mremap(own, seg->size, seg->size, MREMAP_MAYMOVE | MREMAP_FIXED, seg->h) == MAP_FAILED)
            r = -ENOMEM;
    } else {
        r = -ENOMEM;
    }
    shared->h = again == MAP_FAILED ? NULL : again;
    errno = saved;
    return r;
}
