/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The accounts at any moment: posixtrace_get_info() while eight threads record.
 *
 *   poll [MULTIPLIER]
 *
 * With each policy, with and without a log, called by the owner and by an onlooker; without a log
 * one of them reads.  At each call
 *
 *   events made before it <= events + lost without a place <= events made after it
 *
 * no count of losses ever decreases, nothing is lost where nothing can be lost, and the final
 * losses are not less than any that were reported.  A stalled log does not delay the call.
 */
#include <fcntl.h>
#include <pthread.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define THREADS    8u
#define LOOKS      1500u
#define WATCHDOG_S 380
#define FITS       200000u /* events of each thread have room in 64 MiB without any flush */

static trace_event_id_t event_id;
static int leave;
static uint64_t bound; /* events of each thread */

/* Each on its own line: made counts an event when its call has returned. */
static struct {
    _Alignas(128) uint64_t begun;
    uint64_t made;
} counts[THREADS];

static void *trace_all(void *argument)
{
    unsigned me = (unsigned)(uintptr_t)argument;

    for (uint64_t i = 0; !__atomic_load_n(&leave, __ATOMIC_RELAXED); i++) {
        if (i == bound) {
            i--;
            usleep(1000);
            continue;
        }
        __atomic_store_n(&counts[me].begun, i + 1, __ATOMIC_SEQ_CST);
        posix_trace_event(event_id, &i, sizeof i);
        __atomic_store_n(&counts[me].made, i + 1, __ATOMIC_SEQ_CST);
        if (i % 64 == 0)
            usleep(50);
    }
    return NULL;
}

static uint64_t sum(bool begun)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < THREADS; i++)
        n += __atomic_load_n(begun ? &counts[i].begun : &counts[i].made, __ATOMIC_SEQ_CST);
    return n;
}

struct looker {
    const char *name;
    trace_id_t trid;
    bool lossless;
    uint64_t base; /* an onlooker's: made before it came, and not to be read */
    struct posixtrace_info last;
    uint64_t read;
    bool reads;
};

static uint64_t placeless(const struct posixtrace_info *i)
{
    return i->lost[POSIXTRACE_LOST_FULL] + i->lost[POSIXTRACE_LOST_NO_MEMORY] +
           i->lost[POSIXTRACE_LOST_NESTED];
}

static void read_some(struct looker *l, unsigned most)
{
    struct posixtrace_event e;
    int none;

    for (unsigned i = 0; i < most; i++) {
        DEMAND_OK(posixtrace_next_event(l->trid, &e, sizeof e, &none));
        if (none)
            return;
        l->read += e.tid != 0 && e.data_len == sizeof(uint64_t);
    }
}

static void look(struct looker *l)
{
    uint64_t before = sum(false), after, all = 0;
    struct posixtrace_info info;

    DEMAND_OK(posixtrace_get_info(l->trid, &info, sizeof info));
    after = sum(true);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++) {
        DEMAND(info.lost[c] >= l->last.lost[c], "%s: lost (%s) %llu, then %llu", l->name,
               posixtrace_loss_cause_text(c), (unsigned long long)l->last.lost[c],
               (unsigned long long)info.lost[c]);
        all += info.lost[c];
    }
    DEMAND(!l->lossless || all == 0, "%s: %llu lost of none", l->name, (unsigned long long)all);
    DEMAND(info.events + placeless(&info) + l->base >= before &&
               info.events + placeless(&info) + l->base <= after,
           "%s: %llu made before, %llu recorded, %llu refused, %llu made after", l->name,
           (unsigned long long)before, (unsigned long long)(info.events + l->base),
           (unsigned long long)placeless(&info), (unsigned long long)after);
    DEMAND(l->read + info.lost[POSIXTRACE_LOST_OVERWRITTEN] <= info.events,
           "%s: %llu read, %llu overwritten, %llu recorded", l->name, (unsigned long long)l->read,
           (unsigned long long)info.lost[POSIXTRACE_LOST_OVERWRITTEN],
           (unsigned long long)info.events);
    l->last = info;
}

static void *empty_pipe(void *fd)
{
    char bytes[65536];

    while (read(*(int *)fd, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

struct kind {
    const char *name;
    int policy;
    bool log, lossless, stalls; /* the log is a pipe that is not read for some time */
    size_t size;
};

static int own_stream(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return s->owner == getpid();
}

static trace_id_t create(const struct kind *k, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, k->policy));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, k->size));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    DEMAND_OK(k->log ? posix_trace_create_withlog(0, &attr, fd, &trid)
                     : posix_trace_create(0, &attr, &trid));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static void look_often(struct looker *owner, struct looker *onlooker, unsigned looks)
{
    for (unsigned i = 0; i < looks; i++) {
        look(owner);
        look(onlooker);
        if (owner->reads)
            read_some(owner, 300);
        read_some(onlooker, 300);
    }
}

static void one(const struct kind *k, unsigned looks)
{
    struct looker owner = { .name = k->name, .lossless = k->lossless, .reads = !k->log };
    struct looker onlooker = { .name = "its onlooker" };
    char file[sizeof((struct posixtrace_stream *)0)->file];
    pthread_t threads[THREADS], emptier;
    int ends[2] = { -1, audit_temporary_file() };

    if (k->stalls) {
        close(ends[1]);
        DEMAND(pipe(ends) == 0, "pipe");
    }
    memset(counts, 0, sizeof counts);
    leave = 0;
    bound = k->lossless ? FITS : UINT64_MAX;
    owner.trid = create(k, ends[1]);
    DEMAND(posixtrace_stream_list(own_stream, file) == 1, "no stream");
    DEMAND_OK(posixtrace_attach(file, &onlooker.trid));
    for (uintptr_t i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_all, (void *)i));
    look_often(&owner, &onlooker, looks);
    if (k->stalls)
        DEMAND_OK(pthread_create(&emptier, NULL, empty_pipe, &ends[0]));
    __atomic_store_n(&leave, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    look(&owner);
    look(&onlooker);
    printf("%s: %llu events, %llu lost\n", k->name, (unsigned long long)sum(false),
           (unsigned long long)audit_lost(owner.trid));
    DEMAND_OK(posixtrace_detach(onlooker.trid));
    DEMAND_OK(posix_trace_shutdown(owner.trid));
    close(ends[1]);
    if (k->stalls)
        DEMAND_OK(pthread_join(emptier, NULL));
    if (ends[0] >= 0)
        close(ends[0]);
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {
        { "loop", POSIX_TRACE_LOOP, false, false, false, 256 << 10 },
        { "until full", POSIX_TRACE_UNTIL_FULL, false, false, false, 256 << 10 },
        { "loop with log", POSIX_TRACE_LOOP, true, false, false, 256 << 10 },
        { "until full with log", POSIX_TRACE_UNTIL_FULL, true, false, false, 256 << 10 },
        { "flush", POSIX_TRACE_FLUSH, true, false, false, 256 << 10 },
        { "flush with room", POSIX_TRACE_FLUSH, true, true, false, 64 << 20 },
        { "flush to a stalled pipe", POSIX_TRACE_FLUSH, true, false, true, 1 << 20 },
    };
    double multiplier = audit_multiplier(argc > 1 ? argv[1] : NULL);

    alarm((unsigned)(WATCHDOG_S * (multiplier > 1 ? multiplier : 1)));
    DEMAND_OK(posix_trace_eventid_open("poll", &event_id));
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        one(&kinds[i], (unsigned)(LOOKS * multiplier) + 20);
    return 0;
}
