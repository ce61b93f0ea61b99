/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A parallel gzip that traces itself:
 *
 *     compress THREADS LOG OUTPUT-DIRECTORY FILE...
 *
 * Worker threads take files from a common list and write NAME.gz for each of
 * them; equal names overwrite each other.  Around every read, compression and
 * write there is a pair of events, so that LOG shows which thread spent its
 * time where.  A file's events carry its path, those of a step a byte count; both are described,
 * so that tools show them as fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/typed.h>
#include <trace.h>
#include <unistd.h>
#include <zlib.h>

enum step {
    FILE_BEGIN,
    FILE_END,
    READ_BEGIN,
    READ_END,
    COMPRESS_BEGIN,
    COMPRESS_END,
    WRITE_BEGIN,
    WRITE_END,
    STEPS
};
static const char *const step_names[STEPS] = { "file:begin",  "file:end",       "read:begin",
                                               "read:end",    "compress:begin", "compress:end",
                                               "write:begin", "write:end" };
static trace_event_id_t steps[STEPS];

enum { BLOCK = 256 * 1024, ROOM = BLOCK + BLOCK / 8 };
static const char *out_dir;
static char **files;
static int file_count, next_file, failures;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

static void mark(enum step step, uint64_t bytes)
{
    posix_trace_event(steps[step], &bytes, sizeof bytes);
}

/* One block from in, through z, to out: 1 while there is more, 0 at the end,
 * -1 with errno set on failure. */
static int compress_block(FILE *in, FILE *out, z_stream *z)
{
    unsigned char from[BLOCK], to[ROOM];
    size_t got, made;

    mark(READ_BEGIN, BLOCK);
    got = fread(from, 1, BLOCK, in);
    mark(READ_END, got);

    mark(COMPRESS_BEGIN, got);
    z->next_in = from;
    z->avail_in = (uInt)got;
    z->next_out = to;
    z->avail_out = ROOM;
    deflate(z, feof(in) ? Z_FINISH : Z_SYNC_FLUSH);
    made = ROOM - z->avail_out;
    mark(COMPRESS_END, made);

    mark(WRITE_BEGIN, made);
    made = fwrite(to, 1, made, out);
    mark(WRITE_END, made);
    return ferror(in) || ferror(out) ? -1 : !feof(in);
}

static int compress_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[4096];
    z_stream z = { 0 };
    FILE *in, *out = NULL;
    int more = -1;

    snprintf(name, sizeof name, "%s/%s.gz", out_dir, slash ? slash + 1 : path);
    if ((in = fopen(path, "rb")) && (out = fopen(name, "wb")) &&
        deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        while ((more = compress_block(in, out, &z)) > 0)
            ;
        deflateEnd(&z);
    }
    if ((out && fclose(out)) || more < 0) {
        fprintf(stderr, "compress: %s: %s\n", path, strerror(errno));
        more = -1;
    }
    if (in)
        fclose(in);
    return more;
}

static void *worker(void *name)
{
    const char *path;

    pthread_setname_np(pthread_self(), name);
    for (int failed = 0;;) {
        pthread_mutex_lock(&list);
        failures |= failed;
        path = next_file < file_count ? files[next_file++] : NULL;
        pthread_mutex_unlock(&list);
        if (!path)
            return NULL;
        posix_trace_event(steps[FILE_BEGIN], path, strlen(path) + 1);
        failed = compress_file(path) != 0;
        posix_trace_event(steps[FILE_END], path, strlen(path) + 1);
    }
}

static void check(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "compress: %s: %s\n", what, strerror(error));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    char names[64][16];
    pthread_t threads[64];
    trace_attr_t attr;
    trace_id_t trid;
    int log, n;

    if (argc < 5 || (n = atoi(argv[1])) < 1 || n > 64) {
        fputs("usage: compress THREADS(1-64) LOG OUTPUT-DIRECTORY FILE...\n", stderr);
        return 64;
    }
    out_dir = argv[3];
    files = argv + 4;
    file_count = argc - 4;
    log = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    check(log < 0 ? errno : 0, argv[2]);
    check(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    check(posix_trace_attr_setname(&attr, "compress"), "posix_trace_attr_setname");
    check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), "stream policy");
    check(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "log policy");
    for (int i = 0; i < STEPS; i++)
        check(posixtrace_event_describe(step_names[i], i <= FILE_END ? "str path" : "u64 bytes",
                                        &steps[i]),
              step_names[i]);
    check(posix_trace_create_withlog(0, &attr, log, &trid), "posix_trace_create_withlog");
    check(posix_trace_start(trid), "posix_trace_start");

    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "worker %d", i);
        check(pthread_create(&threads[i], NULL, worker, names[i]), "pthread_create");
    }
    for (int i = 0; i < n; i++)
        check(pthread_join(threads[i], NULL), "pthread_join");
    check(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return failures;
}
