/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See shark_input.h. */
#include <errno.h>
#include <string.h>
#include "analysis/format/shark/shark_input.h"
#include "analysis/format/common/spool.h"

enum { NOTE_REST = 7 }; /* of the job's kinds; shark_read.c has the first ones */

int pt_shark_input_seek(struct pt_shark_input *in, const struct pt_shark_place *place)
{
    in->at = *place;
    in->lost = 0;
    if (fseeko(in->in, (off_t)place->offset, SEEK_SET) != 0)
        return pt_job_fail(in->job, errno, "cannot read the input again: %s", strerror(errno));
    return 0;
}

int pt_shark_input_open(struct pt_shark_input *in, struct pt_job *job)
{
    static const struct pt_shark_place start;
    char mark[sizeof SHARK_PACKET_MARK] = "";
    int error;

    *in = (struct pt_shark_input){ .job = job };
    error = pt_temporary_input(job->file, &in->in);
    if (error)
        return pt_job_fail(job, error, "cannot copy the input to a temporary file (TMPDIR): %s",
                           strerror(error));
    error = pt_shark_input_seek(in, &start);
    if (!error && fread(mark, 1, sizeof mark, in->in) == sizeof mark)
        in->packets = memcmp(mark, SHARK_PACKET_MARK, sizeof mark) == 0;
    return error ? error : pt_shark_input_seek(in, &start);
}

void pt_shark_input_close(struct pt_shark_input *in)
{
    if (in->in && in->in != in->job->file)
        fclose(in->in);
}

/* 1: so many bytes; 0: the end, also within them. */
static int take(struct pt_shark_input *in, uint8_t *to, size_t bytes)
{
    size_t got = fread_unlocked(to, 1, bytes, in->in);

    in->at.offset += got;
    if (got == bytes)
        return 1;
    if (ferror(in->in)) {
        pt_job_fail_file(in->job);
        return -1;
    }
    if (got)
        pt_job_note(in->job, NOTE_REST, "the last %zu bytes are no whole record", got);
    return 0;
}

/* The head of the next packet. */
static int take_packet(struct pt_shark_input *in)
{
    uint8_t head[SHARK_PACKET_HEAD];
    int got = take(in, head, sizeof head);
    uint32_t number, events;

    if (got <= 0)
        return got;
    number = pt_shark_word(head + 12);
    events = pt_shark_word(head + 16);
    if (memcmp(head, SHARK_PACKET_MARK, sizeof SHARK_PACKET_MARK) != 0 ||
        events > SHARK_PACKET_EVENTS ||
        pt_shark_word(head + 20) != SHARK_PACKET_HEAD + events * SHARK_RECORD) {
        pt_job_fail(in->job, EILSEQ, "after record %llu: not the head of a packet",
                    (unsigned long long)in->at.number);
        return -1;
    }
    if (in->at.next_packet && number > in->at.next_packet)
        in->lost += number - in->at.next_packet;
    in->at.next_packet = number + 1;
    in->at.left = events;
    return 1;
}

int pt_shark_input_take(struct pt_shark_input *in, struct shark_record *record)
{
    uint8_t bytes[SHARK_RECORD];
    int got;

    in->lost = 0;
    do {
        while (in->packets && in->at.left == 0) {
            got = take_packet(in);
            if (got <= 0)
                return got;
        }
        got = take(in, bytes, sizeof bytes);
        if (got <= 0)
            return got;
        in->at.left -= in->packets;
        in->at.number++;
        pt_shark_unpack(bytes, record);
    } while ((record->code & 0xffu) == 0);
    if (!(record->code & ~(SHARK_FAST | 0xffu)))
        return 1;
    pt_job_fail(in->job, EILSEQ,
                "record %llu: not of S.Ha.R.K.: code 0x%04x has bits that no code "
                "has",
                (unsigned long long)in->at.number, record->code);
    return -1;
}
