/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Options for the import of RKH's frames: the target, its clock, the serial line. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include "analysis/format/rkh/rkh_read.h"

/* What a target that sends no configuration is like: --target=pointer=4,checksum=0,... */
static const struct setting {
    char name[10];
    uint8_t at, most; /* of a width in struct pt_rkh_config */
    uint32_t bit;     /* else: of its bits */
} settings[] = {
    { "id", offsetof(struct pt_rkh_config, id), 4, 0 },
    { "signal", offsetof(struct pt_rkh_config, signal), 4, 0 },
    { "timestamp", offsetof(struct pt_rkh_config, timestamp), 4, PT_RKH_TIMESTAMP },
    { "pointer", offsetof(struct pt_rkh_config, pointer), 8, 0 },
    { "tick", offsetof(struct pt_rkh_config, tick), 4, 0 },
    { "nblock", offsetof(struct pt_rkh_config, nblock), 4, 0 },
    { "nelem", offsetof(struct pt_rkh_config, nelem), 4, 0 },
    { "esize", offsetof(struct pt_rkh_config, esize), 4, 0 },
    { "bsize", offsetof(struct pt_rkh_config, bsize), 4, 0 },
    { "sequence", 0, 1, PT_RKH_SEQUENCE },
    { "checksum", 0, 1, PT_RKH_CHECKSUM },
    { "sender", 0, 1, PT_RKH_SENDER },
    { "queue-low", 0, 1, PT_RKH_QUE_LOW },
    { "pool-low", 0, 1, PT_RKH_MP_LOW },
};

/* Of a timestamp 0 is a width, too: none. */
static bool set(struct pt_rkh_config *c, const struct setting *s, unsigned v)
{
    bool is_bit = s->bit && s->at == 0;

    if (v > s->most || (!is_bit && v != 1 && v != 2 && v != 4 && v != 8 && !(v == 0 && s->bit)))
        return false;
    if (s->bit)
        c->bits = v ? c->bits | s->bit : c->bits & ~s->bit;
    if (!is_bit && v)
        ((uint8_t *)c)[s->at] = (uint8_t)v;
    return true;
}

static bool take_target(struct pt_job *job, struct pt_rkh_config *c)
{
    const char *at = pt_job_option(job, "target", 0), *end;
    const size_t count = sizeof settings / sizeof *settings;

    for (; at && *at; at = end + (*end == ',')) {
        size_t len = strcspn(at, "=,"), i = 0;

        end = at + strcspn(at, ",");
        while (i < count &&
               (strlen(settings[i].name) != len || strncmp(settings[i].name, at, len) != 0))
            i++;
        if (i == count || end - at != (long)len + 2 || at[len + 1] < '0' || at[len + 1] > '9' ||
            !set(c, &settings[i], (unsigned)(at[len + 1] - '0'))) {
            pt_job_fail(job, EINVAL,
                        "--target: '%.*s': the settings are id, signal, timestamp, "
                        "pointer, tick, nblock, nelem, esize, bsize (bytes: 1, 2, 4), sequence, "
                        "checksum, sender, queue-low, pool-low (0 or 1)",
                        (int)(end - at), at);
            return false;
        }
    }
    return true;
}

bool pt_rkh_read_options(struct pt_rkh_reader *r)
{
    const char *ids = pt_job_option(r->job, "ids", 0);

    r->flat = ids && strcmp(ids, "flat") == 0;
    if (ids && !r->flat && strcmp(ids, "groups") != 0) {
        pt_job_fail(r->job, EINVAL, "--ids=%s: it is groups (RKH 2.4 and later) or flat", ids);
        return false;
    }
    r->rate = 1000000;
    r->rate_given = pt_job_option(r->job, "rate", 0) != NULL;
    r->most = UINT64_MAX;
    return pt_rkh_number_option(r->job, "rate", 1, 1000000000u, &r->rate) &&
           pt_rkh_number_option(r->job, "frames", 1, UINT64_MAX, &r->most) &&
           take_target(r->job, &r->config);
}

static const struct {
    unsigned baud;
    speed_t speed;
} speeds[] = {
    { 1200, B1200 },       { 2400, B2400 },       { 4800, B4800 },       { 9600, B9600 },
    { 19200, B19200 },     { 38400, B38400 },     { 57600, B57600 },     { 115200, B115200 },
    { 230400, B230400 },   { 460800, B460800 },   { 500000, B500000 },   { 576000, B576000 },
    { 921600, B921600 },   { 1000000, B1000000 }, { 1500000, B1500000 }, { 2000000, B2000000 },
    { 3000000, B3000000 },
};

bool pt_rkh_set_line(struct pt_job *job, struct termios *was, bool *set)
{
    uint64_t baud = 0;
    struct termios t;
    size_t i = 0, count = sizeof speeds / sizeof *speeds;

    *set = false;
    if (!pt_rkh_number_option(job, "baud", 1, UINT32_MAX, &baud) || baud == 0)
        return baud == 0 && !job->error;
    while (i < count && speeds[i].baud != baud)
        i++;
    if (i == count) {
        pt_job_fail(job, EINVAL, "--baud=%" PRIu64 ": no speed of serial lines", baud);
        return false;
    }
    if (tcgetattr(job->fd, was) != 0) {
        pt_job_fail(job, EINVAL, "--baud: the input is not a serial line: %s", strerror(errno));
        return false;
    }
    t = *was;
    cfmakeraw(&t);
    t.c_cflag |= CLOCAL | CREAD;
    if (cfsetspeed(&t, speeds[i].speed) != 0 || tcsetattr(job->fd, TCSANOW, &t) != 0) {
        pt_job_fail(job, errno, "cannot set the serial line to %" PRIu64 " baud: %s", baud,
                    strerror(errno));
        return false;
    }
    *set = true;
    return true;
}
