/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Linking has no side effect: a program that is linked to the library and does
 * not call it has three descriptors, one thread, and maps no stream.
 *
 * The program runs itself once more with all further descriptors closed, so
 * that what the test runner left open is not taken for the library's.  It
 * keeps a reference to posix_trace_event, so that the linker cannot leave the
 * library out; with "shared" as first argument it makes sure of that.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__
#define THREADS_MAX 2 /* ThreadSanitizer has a thread of its own */
#else
#define THREADS_MAX 1
#endif

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

/* Lines of /proc/self/maps that contain word. */
static int maps_with(const char *word)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int n = 0;

    if (!maps)
        return -1;
    while (fgets(line, sizeof line, maps))
        n += strstr(line, word) != NULL;
    fclose(maps);
    return n;
}

static int expect(const char *what, int found, int least, int most)
{
    if (found >= least && found <= most)
        return 0;
    fprintf(stderr, "quiet: %s: %d, expected %d to %d\n", what, found, least, most);
    return 1;
}

int main(int argc, char **argv)
{
    void (*volatile keep)(trace_event_id_t, const void *restrict, size_t) = posix_trace_event;
    int bad = 0, shared = argc > 1 && !strcmp(argv[1], "shared");

    if (argc < 3) {
        close_range(3, ~0U, 0);
        execl("/proc/self/exe", argv[0], argc > 1 ? argv[1] : "static", "again", (char *)NULL);
        perror("quiet: exec");
        return 1;
    }
    bad |= expect("library kept", keep != NULL, 1, 1);
    bad |= expect("mappings of libposixtrace.so", maps_with("libposixtrace.so"), shared,
                  shared ? 100 : 0);
    bad |= expect("descriptors", entries("/proc/self/fd") - 1, 3, 3);
    bad |= expect("threads", entries("/proc/self/task"), 1, THREADS_MAX);
    bad |= expect("mappings of /dev/shm", maps_with("/dev/shm"), 0, 0);
    bad |= expect("mappings of a memfd", maps_with("/memfd:"), 0, 0);
    bad |= expect("files in the stream directory", entries(getenv("POSIXTRACE_DIR")), 0, 0);
    return bad;
}
