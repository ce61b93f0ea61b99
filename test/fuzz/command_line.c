/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: the posixtrace program, inside this process.  An input is a
 * command line, one word a line, up to an empty line; what follows is the
 * standard input (a pipe, if it begins with '|') and the file "in".
 *
 * The words meet a folder with a log, a cut log, a log that is being written,
 * an empty file and a folder; a word has no '/', so that nothing outside of it
 * is touched.  selftest, doctor and record are left out: they take long and start processes, record
 * any program that a word names.  Connections that would wait are left out, too.
 *
 * For all words: the exit status is one of those in the manual; errors are reported on stderr, in
 * lines that begin with the program's name; output to a terminal has no control characters; no
 * temporary file stays, and a command that failed leaves no new file.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trace.h>
#include "fuzz/target.h"
#include "common/colour.h"
#include "common/tool.h"

#define WORDS_MAX  24
#define OUTPUT_MAX (1 << 20)
#define PIPE_MAX   65536u

/* tools/main.c is built with another name for its main(). */
int posixtrace_main(int argc, char **argv);

static const char jsonl[] =
    "{\"ts\":1795255200000000000,\"event\":\"posix_trace_start\"}\n"
    "{\"ts\":1795255200000000100,\"pid\":7,\"tid\":8,\"thread\":\"m\\u001bain\",\"event\":\"a\","
    "\"data\":\"616263\"}\n"
    "{\"ts\":1795255201000000000,\"pid\":7,\"tid\":9,\"event\":\"b\\u001b[2J\",\"addr\":\"0xff\","
    "\"trunc\":1,\"data\":\"00ff1b0a\"}\n"
    "{\"ts\":1795255202500000000,\"pid\":9,\"tid\":9,\"event\":\"a\"}\n"
    "{\"ts\":1795255202500000000,\"event\":\"posix_trace_stop\",\"data\":\"00000000\"}\n";

/* The files that each command finds, and their contents. */
enum { WHOLE, CUT, EMPTY, IN, FILES };
static const char *const names[FILES] = { "whole.ptl", "cut.ptl", "empty", "in" };
static const char live_name[] = "live.ptl", folder_name[] = "folder";

static struct file {
    uint8_t *bytes;
    size_t size;
    struct stat st;
} files[FILES];

static int folder = -1, output, errors, null;
static char output_text[OUTPUT_MAX], error_text[OUTPUT_MAX];

/* ---- the folder ---- */

static void write_file(int i)
{
    int fd;

    unlinkat(folder, names[i], 0);
    fd = openat(folder, names[i], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FUZZ_NEED(fd >= 0 && write(fd, files[i].bytes, files[i].size) == (ssize_t)files[i].size);
    FUZZ_NEED(fstat(fd, &files[i].st) == 0);
    close(fd);
}

static bool is_changed(int i)
{
    const struct stat *was = &files[i].st;
    struct stat st;

    return fstatat(folder, names[i], &st, 0) < 0 || st.st_ino != was->st_ino ||
           st.st_size != was->st_size || st.st_mtim.tv_nsec != was->st_mtim.tv_nsec ||
           st.st_mtim.tv_sec != was->st_mtim.tv_sec;
}

static int index_of(const char *name)
{
    for (int i = 0; i < FILES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* Removes what a command made; how many files, and whether one is a temporary. */
static int take_away(bool *temporary)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
    DIR *d = fdopendir(copy);
    struct dirent *e;

    FUZZ_NEED(d);
    while ((e = readdir(d))) {
        const char *dot = strrchr(e->d_name, '.');

        if (e->d_type == DT_DIR || index_of(e->d_name) >= 0 || !strcmp(e->d_name, live_name))
            continue;
        *temporary |= dot && strlen(dot) == 7 && n > 0;
        FUZZ_NEED(unlinkat(folder, e->d_name, 0) == 0);
        n++;
    }
    closedir(d);
    return n;
}

/* ---- a command ---- */

static int run(char **words)
{
    int saved[3] = { dup(0), dup(1), dup(2) }, here = open(".", O_RDONLY | O_CLOEXEC), status;

    FUZZ_NEED(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
    FUZZ_NEED(ftruncate(errors, 0) == 0 && lseek(errors, 0, SEEK_SET) == 0);
    FUZZ_NEED(dup2(null, 0) == 0 && dup2(output, 1) == 1 && fchdir(folder) == 0);
    fflush(stderr);
    dup2(errors, 2);
    tool_set_verb(NULL);
    colour_begin(COLOUR_NEVER); /* as in a process that starts */
    status = posixtrace_main(0, words);
    dup2(saved[2], 2);
    FUZZ_NEED(dup2(saved[0], 0) == 0 && dup2(saved[1], 1) == 1 && fchdir(here) == 0);
    for (int i = 0; i < 3; i++)
        close(saved[i]);
    close(here);
    return status;
}

static size_t read_back(int fd, char *text)
{
    ssize_t n = pread(fd, text, OUTPUT_MAX - 1, 0);

    FUZZ_NEED(n >= 0);
    text[n] = '\0';
    return (size_t)n;
}

/* Each line is one of ours, and none can steer a terminal. */
static size_t check_errors(int status)
{
    size_t n = read_back(errors, error_text);
    const char *line = error_text;

    for (size_t i = 0; i < n; i++)
        FUZZ_NEED((unsigned char)error_text[i] >= 0x20 ? error_text[i] != 0x7f
                                                       : error_text[i] == '\n');
    for (; *line; line = strchr(line, '\n') + 1) {
        FUZZ_NEED(strncmp(line, "posixtrace: ", 12) == 0 ||
                  strncmp(line, "Try 'posixtrace", 15) == 0);
        FUZZ_NEED(strchr(line, '\n'));
    }
    if (status == EXIT_USAGE)
        FUZZ_NEED(strstr(error_text, "\nTry 'posixtrace"));
    return n;
}

static bool has_word(char **words, const char *part)
{
    for (; *words; words++)
        if (strstr(*words, part))
            return true;
    return false;
}

static size_t check_output(char **words)
{
    size_t n = read_back(output, output_text);

    /* Colours and raw csv are what was asked for. */
    if (!has_word(words, "color") && !has_word(words, "csv"))
        FUZZ_NEED(!memchr(output_text, 0x1b, n));
    return n;
}

static void use(char **words)
{
    bool temporary = false;
    int status = run(words), made;
    size_t said;

    FUZZ_NEED(status == EXIT_DONE || status == EXIT_FAILED || status == EXIT_NOT_A_LOG ||
              status == EXIT_LOST || status == EXIT_USAGE);
    said = check_errors(status);
    said += check_output(words);
    FUZZ_NEED(status == EXIT_DONE || said > 0);
    made = take_away(&temporary);
    /* An import keeps what stands before a fault. */
    FUZZ_NEED(!temporary && made <= (status == EXIT_DONE || has_word(words, "import")));
    for (int i = 0; i < FILES; i++)
        if (is_changed(i)) {
            FUZZ_NEED(has_word(words, "import") || has_word(words, "recover"));
            write_file(i);
        }
}

/* ---- inputs ---- */

/* The rest of an input, as standard input of the next command. */
static void give_input(const uint8_t *data, size_t size)
{
    int ends[2];

    files[IN].bytes = (uint8_t *)(uintptr_t)data;
    files[IN].size = size;
    write_file(IN);
    if (null >= 0)
        close(null);
    if (size > 0 && data[0] == '|' && size <= PIPE_MAX) {
        FUZZ_NEED(pipe2(ends, O_CLOEXEC) == 0);
        FUZZ_NEED(write(ends[1], data + 1, size - 1) == (ssize_t)size - 1);
        close(ends[1]);
        null = ends[0];
        return;
    }
    null = openat(folder, names[IN], O_RDONLY | O_CLOEXEC);
    FUZZ_NEED(null >= 0);
}

/* A word may not lead out of the folder, nor take long. */
static bool is_allowed(char *word)
{
    for (char *at = word; *at; at++)
        if (*at == '/')
            *at = '_';
    return strcmp(word, "selftest") != 0 && strcmp(word, "doctor") != 0 &&
           strcmp(word, "record") != 0 && strncmp(word, "udp:", 4) != 0 &&
           strncmp(word, "tcp-listen:", 11) != 0;
}

static void make_log(char **words)
{
    give_input((const uint8_t *)jsonl, sizeof jsonl - 1);
    FUZZ_NEED(run(words) == EXIT_DONE);
}

/* A log whose writer is alive: this process. */
static void start_tracing(void)
{
    int fd = openat(folder, live_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    trace_event_id_t id;
    trace_id_t trid;

    FUZZ_NEED(fd >= 0 && posix_trace_create_withlog(0, NULL, fd, &trid) == 0);
    FUZZ_NEED(posix_trace_start(trid) == 0 && posix_trace_eventid_open("live", &id) == 0);
    posix_trace_event(id, "data", 4);
    FUZZ_NEED(posix_trace_flush(trid) == 0);
    close(fd);
}

static void start(void)
{
    const char *base = getenv("POSIXTRACE_DIR");
    char *import[] = { "posixtrace", "import", "--from=jsonl", "in", "made", NULL };
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%.100s/commands.XXXXXX", base ? base : "/tmp");
    FUZZ_NEED(mkdtemp(path));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    output = memfd_create("stdout", MFD_CLOEXEC);
    errors = memfd_create("stderr", MFD_CLOEXEC);
    null = -1;
    FUZZ_NEED(folder >= 0 && output >= 0 && errors >= 0 && mkdirat(folder, folder_name, 0700) == 0);
    make_log(import);
    fd = openat(folder, "made", O_RDONLY | O_CLOEXEC);
    files[WHOLE].bytes = malloc(1 << 16);
    files[WHOLE].size = (size_t)read(fd, files[WHOLE].bytes, 1 << 16);
    close(fd);
    FUZZ_NEED(unlinkat(folder, "made", 0) == 0 && files[WHOLE].size > 4096);
    files[CUT].bytes = files[WHOLE].bytes;
    files[CUT].size = files[WHOLE].size - 700;
    for (int i = 0; i < IN; i++)
        write_file(i);
    start_tracing();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS_MAX + 2] = { "posixtrace" }, *text, *at;
    const uint8_t *end;
    bool allowed = true;
    int n = 1;

    if (folder < 0)
        start();
    end = memmem(data, size, "\n\n", 2);
    text = strndup((const char *)data, end ? (size_t)(end - data) : size);
    FUZZ_NEED(text);
    for (at = text; n <= WORDS_MAX && (words[n] = strsep(&at, "\n")); n++)
        allowed &= is_allowed(words[n]);
    words[n] = NULL;
    if (allowed) {
        give_input(end ? end + 2 : data, end ? size - (size_t)(end + 2 - data) : 0);
        use(words);
    }
    free(text);
    return 0;
}

/* ---- changes ---- */

/* clang-format off */
static const char *const known_words[] = {
    "info", "print", "import", "check", "recover", "list", "help", "--help", "--version", "-h", "-",
    "--", "--format=", "--format=text", "--format=jsonl", "--format=csv", "--from=", "--from=jsonl",
    "--to=", "--event=", "--event=a*", "--pid=", "--pid=7", "--tid=", "--tid=9", "--color=always",
    "--color=never", "--width=", "--width=40", "--width=0", "--strict", "--force", "--reap",
    "whole.ptl", "cut.ptl", "live.ptl", "empty", "in", "folder", "new.ptl", "+1s", "+20ms", "+2min",
    "@1795255200.5", "2026-11-21T10:00:00.123456789Z", "1795255200000000000", "--from=+1s",
    "--to=+2s", "--from=2026-11-21", "--event=[a-", "\xc3\xa4", "\x1b[2J", "\xff"
};
/* clang-format on */

/* A word that the program may know, in the place of another or between them. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    const char *word = known_words[seed / 64 % (sizeof known_words / sizeof *known_words)];
    size_t length = strlen(word), at = size ? seed / 8 % size : 0, gone = 0;

    if (seed % 4 == 0)
        return LLVMFuzzerMutate(data, size, room);
    while (at > 0 && data[at - 1] != '\n')
        at--;
    if (seed % 4 == 1)
        while (at + gone < size && data[at + gone] != '\n')
            gone++;
    if (size - gone + length + 1 > room)
        return size;
    memmove(data + at + length + (gone == 0), data + at + gone, size - at - gone);
    memcpy(data + at, word, length);
    if (gone == 0)
        data[at + length] = '\n';
    return size - gone + length + (gone == 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 40 };
