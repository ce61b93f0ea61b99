/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Import of a kev file: kev_file.h, then kev_import.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_file.h"

#define BLOCK  (4096 * PT_KEV_RECORD)
#define COOKIE 0xe6e6e6e6u

int pt_kev_read(struct pt_job *job);

/* CONTROL TIME and the record that closes a buffer are used here and are not events. */
static bool deliver_control(struct pt_kev_file *f, const uint8_t *record, uint32_t header)
{
    bool be = f->im->big_endian;

    if (pt_kev_number(header) == PT_KEV_TIME) {
        pt_kev_clock_set(&f->im->clock, pt_kev_cpu(header), pt_kev_load(record + 8, be),
                         pt_kev_load(record + 12, be));
        return true;
    }
    return pt_kev_number(header) == PT_KEV_BUFFER_END && pt_kev_load(record + 8, be) == COOKIE &&
           pt_kev_load(record + 12, be) == COOKIE;
}

/* Sequence numbers that our export has left out are no loss. */
static void skip_buffers(struct pt_kev_file *f, const uint8_t *record, uint32_t header)
{
    if (pt_kev_is_ours(f->im, header) &&
        pt_kev_type(header) == (PT_KEV_USER << 10 | PT_KEV_USER_META) &&
        pt_kev_load(record + 8, false) == PT_KEV_META_BUFFERS)
        f->next += pt_kev_load(record + 12, false);
}

bool pt_kev_deliver(struct pt_kev_file *f, const uint8_t *record, uint64_t where)
{
    uint32_t header = pt_kev_load(record, f->im->big_endian);
    struct pt_kev_event e = { .where = where, .header = header, .length = 8, .data = record + 8 };

    if (f->pending_count > 0 && (++f->records & 255) == 0 && !pt_kev_parts_age(f))
        return false;
    if (pt_kev_part(header) != PT_KEV_SIMPLE)
        return pt_kev_part_take(f, record, where);
    if (pt_kev_class(header) == PT_KEV_CONTROL && deliver_control(f, record, header))
        return true;
    skip_buffers(f, record, header);
    e.ns = pt_kev_clock_ns(&f->im->clock, pt_kev_cpu(header),
                           pt_kev_load(record + 4, f->im->big_endian));
    return pt_kev_push(f->im, &e);
}

static bool is_likely(uint32_t header)
{
    return pt_kev_class(header) >= PT_KEV_CONTROL && pt_kev_class(header) < PT_KEV_CLASSES &&
           !(header & 0x8000u);
}

/* Are the records in the byte order of the header? */
static bool check_order(struct pt_kev_file *f, const uint8_t *record)
{
    bool be = f->im->big_endian;

    if (is_likely(pt_kev_load(record, be)) || !is_likely(pt_kev_load(record, !be)))
        return true;
    pt_job_fail(f->im->job, EILSEQ,
                "offset %" PRIu64 ": the header says that the trace is "
                "%s-endian, and the records are not",
                f->offset, be ? "big" : "little");
    return false;
}

static bool read_records(struct pt_kev_file *f)
{
    static const size_t size = PT_KEV_RECORD;
    uint8_t *block = malloc(BLOCK);
    bool good = block != NULL, first = true;
    size_t n = size;

    if (!good)
        pt_job_fail(f->im->job, ENOMEM, "no memory");
    while (good && n % size == 0 && (n = fread(block, 1, BLOCK, f->in)) > 0) {
        if (first && n >= size)
            good = check_order(f, block);
        first = false;
        for (size_t i = 0; i + size <= n && good; i += size)
            good = pt_kev_block_record(f, block + i, f->offset + i);
        f->offset += n;
    }
    if (good && ferror(f->in)) {
        pt_job_fail_file(f->im->job);
        good = false;
    }
    if (good && n % size)
        pt_job_note(f->im->job, PT_KEV_NOTE_RECORDS,
                    "offset %" PRIu64 ": the last %zu bytes are "
                    "no whole record",
                    f->offset - n % size, n % size);
    free(block);
    return good;
}

int pt_kev_read(struct pt_job *job)
{
    struct pt_kev_import *im = calloc(1, sizeof *im);
    struct pt_kev_file *f = calloc(1, sizeof *f);

    if (im && f) {
        f->im = im;
        f->in = job->file;
        if (pt_kev_import_begin(im, job, "offset") && pt_kev_head_read(f) &&
            (read_records(f) || ferror(job->file)) && pt_kev_block_end(f))
            pt_kev_import_end(im);
        pt_kev_file_free(f);
        pt_kev_import_free(im);
    } else {
        pt_job_fail(job, ENOMEM, "no memory");
    }
    free(f);
    free(im);
    return job->error;
}
