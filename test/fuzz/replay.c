/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Runs a fuzz target without a fuzzing engine: over each file named on the
 * command line (of a folder: each file in it), as it is and changed at random.
 *
 * The random numbers of a file depend on its bytes alone, so that a failure
 * comes again and a new file changes nothing for the others.  With
 * POSIXTRACE_FUZZ_KEEP=FILE each input is written to FILE before it is run:
 * after a crash FILE is the input that did it, and can be replayed by itself.
 */
#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz/target.h"

#define INPUT_MAX (1u << 20)
#define SMALL     256u /* inputs up to this size have each byte replaced */
#define WATCHDOG  100u /* seconds that no input needs */

extern size_t LLVMFuzzerCustomMutator(uint8_t *, size_t, size_t, unsigned) __attribute__((weak));

static uint64_t random_state;
static unsigned long inputs;

static uint32_t random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static size_t below(size_t n)
{
    return random_number() % n;
}

static void seed_from(const uint8_t *data, size_t size)
{
    random_state = size;
    for (size_t i = 0; i < size; i++)
        random_state = random_state * 31 + data[i];
}

static void keep(const uint8_t *data, size_t size)
{
    const char *path = getenv("POSIXTRACE_FUZZ_KEEP");
    FILE *f = path ? fopen(path, "wb") : NULL;

    if (f) {
        fwrite(data, 1, size, f);
        fclose(f);
    }
}

/* In a block of exactly its size, so that a checker sees each byte beyond. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    FUZZ_NEED(exact);
    memcpy(exact, data, size);
    keep(data, size);
    alarm(WATCHDOG);
    LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
    inputs++;
}

/* ---- changes ---- */

/* Numbers at which code breaks. */
static uint64_t some_number(void)
{
    static const uint64_t numbers[] = { 0,          1,         7,          8,          0x7f,
                                        0x80,       0xff,      0xffff,     0x7fffffff, 0x80000000,
                                        0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX, 4096 };

    return below(2) ? numbers[below(sizeof numbers / sizeof *numbers)] : below(100000);
}

static void overwrite(uint8_t *data, size_t size)
{
    size_t bytes = (size_t)1 << below(4), at = below(size);
    uint64_t number = some_number();

    memcpy(data + at, &number, bytes < size - at ? bytes : size - at);
}

static size_t cut_out(uint8_t *data, size_t size)
{
    size_t at = below(size), bytes = 1 + below(size - at);

    memmove(data + at, data + at + bytes, size - at - bytes);
    return size - bytes;
}

static size_t insert(uint8_t *data, size_t size, size_t room)
{
    size_t at = below(size + 1), bytes = 1 + below(16);

    if (bytes > room - size)
        return size;
    memmove(data + at + bytes, data + at, size - at);
    for (size_t i = 0; i < bytes; i++)
        data[at + i] = (uint8_t)random_number();
    return size + bytes;
}

/* A piece of the input once more, over another. */
static void copy_piece(uint8_t *data, size_t size)
{
    size_t from = below(size), to = below(size), bytes = 1 + below(64);

    if (bytes > size - (from > to ? from : to))
        bytes = size - (from > to ? from : to);
    memmove(data + to, data + from, bytes);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
    if (size == 0)
        return insert(data, size, room);
    switch (below(8)) {
    case 0: return cut_out(data, size);
    case 1: return insert(data, size, room);
    case 2: copy_piece(data, size); return size;
    case 3: data[below(size)] ^= (uint8_t)(1u << below(8)); return size;
    case 4: data[below(size)] = (uint8_t)random_number(); return size;
    default: overwrite(data, size); return size;
    }
}

static size_t change(uint8_t *data, size_t size, size_t room)
{
    for (size_t n = 1 + below(3); n > 0; n--)
        size = LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(data, size, room, random_number())
                                       : LLVMFuzzerMutate(data, size, room);
    return size;
}

/* ---- one input and its copies ---- */

static void run_changed(const uint8_t *data, size_t size)
{
    unsigned rounds = fuzz_replay.rounds;
    size_t room = size * 2 + 256;
    uint8_t *copy = malloc(room);

    FUZZ_NEED(copy);
    if (getenv("POSIXTRACE_TEST_SHORT"))
        rounds = (rounds + 19) / 20;
    for (unsigned i = 0; i < rounds; i++) {
        memcpy(copy, data, size);
        run(copy, change(copy, size, room));
    }
    free(copy);
}

static void run_replaced(uint8_t *data, size_t size)
{
    const char *others = fuzz_replay.replacements;

    for (size_t i = 0; i < size; i++) {
        uint8_t was = data[i];

        run(data, i);
        for (const char *other = others; *other; other++) {
            data[i] = (uint8_t)*other;
            run(data, size);
        }
        data[i] = was;
    }
}

static bool replay_file(const char *path)
{
    uint8_t *data = malloc(INPUT_MAX);
    FILE *file = fopen(path, "rb");
    size_t size;

    FUZZ_NEED(data);
    if (!file) {
        perror(path);
        return false;
    }
    size = fread(data, 1, INPUT_MAX, file);
    fclose(file);
    seed_from(data, size);
    run(data, size);
    if (fuzz_replay.replacements && size <= SMALL)
        run_replaced(data, size);
    run_changed(data, size);
    free(data);
    return true;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The number of files that were replayed, or -1. */
static int replay(const char *path)
{
    struct dirent **entries;
    struct stat st;
    int n, done = 0;

    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return replay_file(path) ? 1 : -1;
    n = scandir(path, &entries, visible, alphasort);
    if (n < 0) {
        perror(path);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        char file[4096];

        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        done += replay_file(file);
        free(entries[i]);
    }
    free(entries);
    return done == n ? n : -1;
}

int main(int argc, char **argv)
{
    int files = 0;

    for (int i = 1; i < argc; i++) {
        int n = replay(argv[i]);

        if (n < 0)
            return 1;
        files += n;
    }
    if (files == 0) {
        fprintf(stderr, "usage: %s FILE|FOLDER...\nno input to replay\n", argv[0]);
        return 1;
    }
    if (fuzz_replay.finish)
        fuzz_replay.finish();
    printf("%d files, %lu inputs\n", files, inputs);
    return 0;
}
