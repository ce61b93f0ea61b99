/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A segment whose words another process overwrites while it is used.  Each word of the header,
 * and those of the first chunk infos, slots and chunks, becomes 0, all ones, one more, one
 * less and a random number between two calls, each in a stream of its own, with a log or
 * without; each word of the names and of the page one of these.  The owner records, flushes,
 * reads and shuts down, an onlooker reads and steers.  What they report does not matter:
 * nothing may be read or written outside the mapping, and all calls return.  The gates of bits
 * that no stream has are opened, with epochs that the page once had or may have.
 * POSIXTRACE_TEST_SHORT: one value for each word.
 *
 * A child for each group of words: a crash says which one it was.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "process/self.h"
#include "support/log_file.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

enum { VALUES = 5, GROUP = 16, EVENTS = 24, TIMEOUT_S = 120 };

static trace_event_id_t type;

/* What other processes can write: the segment, whose slots and chunks are at other places in each
 * stream (PT_COLOURS), the names of the types, the page. */
enum area { SEGMENT, SLOTS, CHUNKS, NAMES, PAGE };

/* The word to change, in bytes from the start, and its new value. */
/* No padding: it is written to a file. */
struct scribble {
    uint32_t area, at, how, seed;
};

static uint32_t random_word(uint32_t seed)
{
    return seed * 2654435761u ^ seed >> 7 ^ 0x5bd1e995u;
}

static void *begin_of(const struct pt_seg *seg, enum area area)
{
    const struct pt_self *self = pt_self_peek();

    switch (area) {
    case SEGMENT: return seg->h;
    case SLOTS: return (char *)seg->h + seg->g.slots_off;
    case CHUNKS: return (char *)seg->h + seg->g.chunks_off;
    case NAMES: return self->names;
    default: return self->page;
    }
}

/* ThreadSanitizer sees no stores of another process, and is to see none of these: by its rules
 * they race with each load of a word that has no other writer in this process. */
__attribute__((no_sanitize("thread"), noinline)) static void scribble(struct pt_seg *seg,
                                                                      const struct scribble *s)
{
    uint32_t *word = (void *)((char *)begin_of(seg, s->area) + s->at);
    uint32_t was = *(volatile uint32_t *)word;
    const uint32_t becomes[VALUES] = { 0, UINT32_MAX, was + 1, was - 1, random_word(s->seed) };

    *(volatile uint32_t *)word = becomes[s->how];
}

static trace_id_t make(int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8192), 0);
    if (fd < 0)
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    else
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("scribbled", &type), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void record(void)
{
    char data[200];

    memset(data, 'x', sizeof data);
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(type, data, i % 3 ? 8 : i * 8);
}

static void read_some(trace_id_t trid)
{
    struct posixtrace_thread_info thread;
    struct posix_trace_status_info status;
    struct posixtrace_info info;
    struct posixtrace_event e;
    volatile unsigned sum = 0;
    int none = 0;

    for (unsigned i = 0;
         i < 8 * EVENTS && posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none; i++)
        for (size_t k = 0; k < e.data_len; k++)
            sum += ((const uint8_t *)e.data)[k];
    posixtrace_get_info(trid, &info, sizeof info);
    posix_trace_get_status(trid, &status);
    posixtrace_threadlist_rewind(trid);
    for (none = 0;
         posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &none) == 0 && !none;)
        ck_assert_ptr_nonnull(memchr(thread.name, '\0', sizeof thread.name));
}

static void look_on(const char *file)
{
    trace_id_t onlooker;

    if (posixtrace_attach(file, &onlooker) != 0)
        return;
    read_some(onlooker);
    posix_trace_stop(onlooker);
    posix_trace_start(onlooker);
    ck_assert_int_eq(posixtrace_detach(onlooker), 0);
}

static void use(const struct scribble *s, bool with_log)
{
    int fd = with_log ? log_file() : -1;
    trace_id_t trid = make(fd), onlooker = -1;
    struct pt_seg *seg = segment_of(trid);
    char file[64];

    memcpy(file, seg->file, sizeof file);
    record();
    if (s->how % 2)
        ck_assert_int_eq(posixtrace_attach(file, &onlooker), 0);
    scribble(seg, s);
    record();
    if (with_log)
        posix_trace_flush(trid);
    else
        read_some(trid);
    scribble(seg, s);
    if (s->how % 2)
        read_some(onlooker);
    else
        look_on(file);
    scribble(seg, s);
    posix_trace_stop(trid);
    posix_trace_start(trid);
    record();
    scribble(seg, s);
    posix_trace_shutdown(trid);
    if (s->how % 2)
        posixtrace_detach(onlooker);
    if (fd >= 0)
        close(fd);
}

/* ---- which words ---- */

static struct word {
    uint32_t area, at; /* no padding, either */
} * words;
static size_t word_count;

static void add_area(enum area area, size_t from, size_t to)
{
    words = realloc(words, (word_count + (to - from) / 4) * sizeof *words);
    ck_assert_ptr_nonnull(words);
    for (; from < to; from += 4)
        words[word_count++] = (struct word){ area, (uint32_t)from };
}

static void add_words(size_t from, size_t to)
{
    add_area(SEGMENT, from, to);
}

/* The first names and their bytes; all of the page but most gates. */
static void list_others(void)
{
    add_area(NAMES, 0, offsetof(struct pt_names, entry[2]));
    add_area(NAMES, offsetof(struct pt_names, own_in_use),
             offsetof(struct pt_names, description[2]));
    add_area(NAMES, offsetof(struct pt_names, described), offsetof(struct pt_names, arena[16]));
    add_area(PAGE, 0, offsetof(struct pt_page, epoch[2]));
    add_area(PAGE, offsetof(struct pt_page, stream), offsetof(struct pt_page, stream[2]));
    add_area(PAGE, offsetof(struct pt_page, gates[64]), offsetof(struct pt_page, gates[68]));
    add_area(PAGE, offsetof(struct pt_page, heir), offsetof(struct pt_page, heir[2]));
}

/* By what a segment like those of the test has where. */
static void list_words(void)
{
    trace_id_t trid = make(-1);
    const struct pt_geometry g = segment_of(trid)->g;

    add_words(0, offsetof(struct pt_seg_header, filters) + 16);
    add_words(offsetof(struct pt_seg_header, colour), offsetof(struct pt_seg_header, sync_next[2]));
    add_words(offsetof(struct pt_seg_header, nprocs),
              offsetof(struct pt_seg_header, expressions) + 8);
    add_words(offsetof(struct pt_seg_header, next_file), offsetof(struct pt_seg_header, lines[3]));
    add_words(g.procs_off, g.procs_off + 2 * sizeof(struct pt_proc));
    add_words(g.infos_off, g.infos_off + 3 * sizeof(struct pt_info));
    add_area(SLOTS, 0, 2 * sizeof(struct pt_slot));
    for (unsigned i = 0; i < 2; i++)
        add_area(CHUNKS, i * g.chunk_size, i * g.chunk_size + sizeof(struct pt_chunk) + 64);
    posix_trace_shutdown(trid);
    list_others();
}

/* One value for one word, with a log or without. */
static void use_one(size_t i, unsigned how, int report)
{
    struct scribble s = { words[i].area, words[i].at, how, (uint32_t)(i * VALUES + how) };

    ck_assert_int_eq(pwrite(report, &s, sizeof s, 0), sizeof s);
    use(&s, (i / VALUES + how) % 2);
}

static void use_group(size_t first, size_t count, int report)
{
    bool one = words[first].area > CHUNKS || getenv("POSIXTRACE_TEST_SHORT");
    unsigned step = one ? VALUES : 1;

    for (size_t i = first; i < first + count; i++)
        for (unsigned how = i % step; how < VALUES; how += step)
            use_one(i, how, report);
}

/* Names and page belong to the process: a child and a value for each word, since there may be
 * no other stream afterwards. */
static size_t group_at(size_t first)
{
    size_t count = 1;

    while (words[first].area <= CHUNKS && count < GROUP && first + count < word_count &&
           words[first + count].area <= CHUNKS)
        count++;
    return count;
}

/* In a child, so that this process has no names that its children would share. */
static void learn_words(void)
{
    int list = log_file(), status;
    pid_t child = fork();
    off_t bytes;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        list_words();
        _exit(write(list, words, word_count * sizeof *words) < 0);
    }
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    bytes = lseek(list, 0, SEEK_END);
    words = malloc((size_t)bytes);
    ck_assert_ptr_nonnull(words);
    ck_assert(pread(list, words, (size_t)bytes, 0) == bytes);
    word_count = (size_t)bytes / sizeof *words;
    ck_assert_uint_gt(word_count, 500);
    close(list);
}

START_TEST(no_word_is_trusted)
{
    int report = log_file(), status, *place = &status;
    struct scribble last = { 0 };
    size_t count;

    learn_words();
    for (size_t first = 0; first < word_count; first += count) {
        pid_t child = fork();

        count = group_at(first);
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            alarm(TIMEOUT_S);
            use_group(first, count, report);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, place, 0), child);
        if (status != 0)
            ck_assert_int_eq(pread(report, &last, sizeof last, 0), sizeof last);
        ck_assert_msg(status == 0, "area %u, the word at %u, value %u: status %#x", last.area,
                      last.at, last.how, (unsigned)status);
    }
    close(report);
    free(words);
}
END_TEST

/* ---- the position of a chunk of the calling thread ---- */

enum { STREAMS = 2, READY = 4 };

static void trace_short(unsigned n)
{
    for (uint64_t i = 0; i < n; i++)
        posix_trace_event(type, &i, sizeof i);
}

/* The chunk that the thread writes into. */
static uint32_t own_chunk(struct pt_seg *seg)
{
    for (uint32_t i = 0; i < seg->g.base_chunks; i++) {
        uint64_t word = pt_load_acquire(&pt_seg_info(seg, i)->word);

        if (pt_word_state(word) == PT_CHUNK_OWNED &&
            pt_seg_slot(seg, pt_word_slot(word))->author.level == 0)
            return i;
    }
    ck_abort_msg("the thread has no chunk");
    return 0;
}

/* Sets the position beyond the chunk, traces, and compares the other chunks.  Without a time stamp
 * counter the position is looked at, and the thread continues in another chunk of its own. */
static void lead_away(uint32_t position)
{
    struct pt_seg *seg[STREAMS];
    uint8_t *before[STREAMS];
    uint32_t own[STREAMS];

    for (unsigned i = 0; i < STREAMS; i++)
        seg[i] = segment_of(make(-1));
    trace_short(READY);
    for (unsigned i = 0; i < STREAMS; i++) {
        size_t bytes = (size_t)seg[i]->g.base_chunks * seg[i]->g.chunk_size;
        struct pt_chunk *c = pt_seg_chunk(seg[i], own[i] = own_chunk(seg[i]));

        c->commit = c->commit >> 32 << 32 | position;
        before[i] = malloc(bytes);
        memcpy(before[i], pt_seg_chunk(seg[i], 0), bytes);
    }
    trace_short(READY);
    for (unsigned i = 0; i < STREAMS; i++) {
        uint32_t next = own_chunk(seg[i]);

        for (uint32_t k = 0; k < seg[i]->g.base_chunks; k++)
            ck_assert(k == own[i] || k == next ||
                      memcmp(pt_seg_chunk(seg[i], k), before[i] + k * seg[i]->g.chunk_size,
                             seg[i]->g.chunk_size) == 0);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        free(before[i]);
}

/* Events in several streams, one after the other, write where they have found room. */
START_TEST(no_position_is_trusted)
{
    static const uint32_t positions[] = { 1024, 2048, 1u << 30, 0x7ffffff0 };

    lead_away(positions[_i]);
}
END_TEST

/* ---- gates and epochs of no stream ---- */

static void trace_sizes(void)
{
    static const uint64_t data[4];

    for (unsigned i = 0; i < READY; i++) {
        posix_trace_event(type, data, 8);
        posix_trace_event(type, data, sizeof data);
        posix_trace_event(type, NULL, 0);
    }
}

static struct pt_page *own_page(void)
{
    return pt_self_peek()->page;
}

/* Opens these gates, traces in the calling thread, and puts back what was there. */
static void trace_with_gates(uint64_t gates)
{
    uint64_t was = pt_exchange_seqcst(&own_page()->gates[type], gates);

    trace_sizes();
    pt_store_seqcst(&own_page()->gates[type], was);
}

/* A thread's first events, too, before it has a writer of any stream. */
static void *trace_first(void *gates)
{
    trace_with_gates(*(uint64_t *)gates);
    return NULL;
}

static void trace_in_thread(uint64_t gates)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, trace_first, &gates), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static uint64_t events_of(trace_id_t trid)
{
    struct posixtrace_info info;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    return info.events;
}

/* The epoch of each bit that no stream has, with the bit's gate open: alone, beside that of a
 * stream, and beside another one of no stream. */
static void open_gates(uint64_t epoch)
{
    const uint64_t own = own_page()->used;

    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        const uint64_t gate = 1ull << bit, next = 1ull << (bit + 1) % PT_STREAMS;

        if (gate & own)
            continue;
        pt_store_seqcst(&own_page()->epoch[bit], epoch);
        trace_with_gates(gate);
        trace_with_gates(gate | own);
        trace_with_gates(gate | (next & ~own));
        trace_in_thread(gate);
        trace_in_thread(gate | own);
    }
}

START_TEST(no_gate_is_trusted)
{
    static const uint64_t epochs[] = { 0, 1, 2, UINT64_MAX };
    trace_id_t trid = make(-1);
    uint64_t before;

    trace_short(1);
    open_gates(epochs[_i]);
    while (events_of(trid) != (before = events_of(trid)))
        ;
    trace_short(READY);
    ck_assert_uint_eq(events_of(trid), before + READY);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, no_word_is_trusted);
    tcase_add_loop_test(tc, no_position_is_trusted, 0, 4);
    tcase_add_loop_test(tc, no_gate_is_trusted, 0, 4);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return run_suite("stream scribbled", "stream scribbled", NULL, add);
}
