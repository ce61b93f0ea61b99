/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A folder of files that appears whole or not at all, and takes the place of nothing but
 * a folder of plain files.
 */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "system/new_folder.h"
#include "support/run_suite.h"
#include "common/tool.h"

/* What the tool would say. */
static char said[300];

int tool_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

const char *quote(const char *text)
{
    return text;
}

void *tool_grow(void *block, size_t count, size_t size)
{
    void *grown = reallocarray(block, count, size);

    ck_assert_ptr_nonnull(grown);
    return grown;
}

static char home[] = "/tmp/posixtrace-folder.XXXXXX";

static void set_up(void)
{
    /* Again in one process where check does not fork. */
    strcpy(home + strlen(home) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(home));
    ck_assert_int_eq(chdir(home), 0);
    said[0] = '\0';
}

static void tear_down(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(home), 0);
}

static void make_file(const char *folder, const char *name)
{
    char path[600];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

/* How many names are in a folder. */
static unsigned names(const char *folder)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

START_TEST(appears_when_kept)
{
    struct new_folder f;
    struct stat st;
    mode_t mask = umask(027);

    ck_assert_int_eq(new_folder_open(&f, "new/", false), EXIT_DONE);
    umask(mask);
    make_file(f.temporary, "a");
    make_file(f.temporary, "b");
    ck_assert_int_ne(access("new", F_OK), 0);
    ck_assert_int_eq(new_folder_keep(&f), EXIT_DONE);
    new_folder_drop(&f);
    ck_assert_uint_eq(names("new"), 2);
    ck_assert(stat("new", &st) == 0 && (st.st_mode & 0777) == 0750);
    ck_assert(unlink("new/a") == 0 && unlink("new/b") == 0 && rmdir("new") == 0);
}
END_TEST

START_TEST(goes_when_dropped)
{
    struct new_folder f;

    ck_assert_int_eq(new_folder_open(&f, "new", false), EXIT_DONE);
    make_file(f.temporary, "a");
    new_folder_drop(&f);
    new_folder_drop(&f);
    ck_assert_uint_eq(names("."), 0);
}
END_TEST

START_TEST(what_exists_stays)
{
    struct new_folder f;

    ck_assert_int_eq(mkdir("old", 0777), 0);
    ck_assert_int_eq(new_folder_open(&f, "old", false), EXIT_FAILED);
    ck_assert_str_eq(said, "old exists; --force replaces it");
    ck_assert_int_eq(symlink("nowhere", "link"), 0);
    ck_assert_int_eq(new_folder_open(&f, "link", false), EXIT_FAILED);
    /* It came while the folder was filled. */
    ck_assert_int_eq(rmdir("old"), 0);
    ck_assert_int_eq(new_folder_open(&f, "old", false), EXIT_DONE);
    ck_assert_int_eq(mkdir("old", 0777), 0);
    ck_assert_int_eq(new_folder_keep(&f), EXIT_FAILED);
    ck_assert_str_eq(said, "cannot name the new folder old: File exists");
    new_folder_drop(&f);
    ck_assert_uint_eq(names("."), 2);
    ck_assert(rmdir("old") == 0 && unlink("link") == 0);
}
END_TEST

START_TEST(plain_files_are_replaced)
{
    struct new_folder f;

    ck_assert_int_eq(mkdir("old", 0777), 0);
    make_file("old", "1");
    make_file("old", "2");
    ck_assert_int_eq(new_folder_open(&f, "old", true), EXIT_DONE);
    make_file(f.temporary, "a");
    ck_assert_uint_eq(names("old"), 2);
    ck_assert_int_eq(new_folder_keep(&f), EXIT_DONE);
    ck_assert_uint_eq(names("old"), 1);
    ck_assert(unlink("old/a") == 0 && rmdir("old") == 0);
}
END_TEST

/* A folder within, a link, or no folder at all: nothing in it is touched. */
START_TEST(all_else_is_not)
{
    struct new_folder f;

    ck_assert_int_eq(mkdir("old", 0777), 0);
    make_file("old", "1");
    ck_assert_int_eq(_i ? mkdir("old/within", 0777) : symlink("1", "old/within"), 0);
    ck_assert_int_eq(new_folder_open(&f, "old", true), EXIT_DONE);
    ck_assert_int_eq(new_folder_keep(&f), EXIT_FAILED);
    ck_assert_str_eq(said, "old is not replaced: it holds more than plain files");
    new_folder_drop(&f);
    ck_assert_uint_eq(names("old"), 2);
    ck_assert(unlink("old/1") == 0 && (_i ? rmdir("old/within") : unlink("old/within")) == 0);
    ck_assert_int_eq(rmdir("old"), 0);
    make_file(".", "file");
    ck_assert_int_eq(new_folder_open(&f, "file", true), EXIT_DONE);
    ck_assert_int_eq(new_folder_keep(&f), EXIT_FAILED);
    ck_assert_str_eq(said, "file is not replaced: Not a directory");
    new_folder_drop(&f);
    ck_assert_uint_eq(names("."), 1);
    ck_assert_int_eq(unlink("file"), 0);
}
END_TEST

/* What a signal, or exit(), finds half-made goes; with more files than one call lists. */
START_TEST(goes_when_interrupted)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };
    struct new_folder f;
    pid_t pid = fork();
    char name[20];
    int status;

    if (pid == 0) {
        if (ends[_i])
            signal(ends[_i], SIG_DFL); /* check has handlers */
        ck_assert_int_eq(new_folder_open(&f, "new", false), EXIT_DONE);
        for (unsigned i = 0; i < 500; i++) {
            snprintf(name, sizeof name, "file%u", i);
            make_file(f.temporary, name);
        }
        if (ends[_i])
            raise(ends[_i]);
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(ends[_i] ? WTERMSIG(status) : WEXITSTATUS(status), ends[_i]);
    ck_assert_uint_eq(names("."), 0);
}
END_TEST

START_TEST(nowhere)
{
    struct new_folder f;

    ck_assert_int_eq(new_folder_open(&f, "no/folder", false), EXIT_FAILED);
    ck_assert_str_eq(said, "cannot create a folder beside no/folder: No such file or directory");
    new_folder_drop(&f);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_add_checked_fixture(t, set_up, tear_down);
}

static void add(TCase *t)
{
    tcase_add_test(t, appears_when_kept);
    tcase_add_test(t, goes_when_dropped);
    tcase_add_loop_test(t, goes_when_interrupted, 0, 5);
    tcase_add_test(t, what_exists_stays);
    tcase_add_test(t, plain_files_are_replaced);
    tcase_add_loop_test(t, all_else_is_not, 0, 2);
    tcase_add_test(t, nowhere);
}

int main(void)
{
    return run_suite("tools", "folder", prepare, add);
}
