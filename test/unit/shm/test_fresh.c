/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Files that a process is about to publish: whether they are new, where CLOCK_REALTIME is set
 * meanwhile; and that none stays when they cannot be published. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>
#include "directory/make_room.h"
#include "directory/reap.h"
#include "page/dir_step.h"
#include "page/names.h"
#include "page/page.h"
#include "place/dir.h"
#include "shm_helpers.h"

#define MINUTE 60
#define HOUR   3600

static time_t step; /* by which the clock was set since */
static int maps_that_fail;
static int files_that_go; /* before they are published */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    int r = __real_clock_gettime(clock, t);

    if (clock == CLOCK_REALTIME)
        t->tv_sec += step;
    return r;
}

void *__real_pt_dir_map(int fd, uint64_t size, int protection, int *error);
void *__wrap_pt_dir_map(int fd, uint64_t size, int protection, int *error);
void *__real_pt_dir_map_at(void *at, int fd, uint64_t from, uint64_t size, int protection,
                           int *error);
void *__wrap_pt_dir_map_at(void *at, int fd, uint64_t from, uint64_t size, int protection,
                           int *error);
void *__wrap_pt_dir_map(int fd, uint64_t size, int protection, int *error)
{
    if (maps_that_fail == 0)
        return __real_pt_dir_map(fd, size, protection, error);
    maps_that_fail--;
    *error = -ENOMEM;
    return NULL;
}

void *__wrap_pt_dir_map_at(void *at, int fd, uint64_t from, uint64_t size, int protection,
                           int *error)
{
    if (maps_that_fail == 0)
        return __real_pt_dir_map_at(at, fd, from, size, protection, error);
    maps_that_fail--;
    *error = -ENOMEM;
    return NULL;
}

static void reap(void)
{
    ck_assert_int_eq(pt_reap_dead(PT_REAP_QUICK, NULL, NULL), 0);
}

int __real_pt_dir_publish(const struct pt_dir *dir, const char *name, const char *final_name);
int __wrap_pt_dir_publish(const struct pt_dir *dir, const char *name, const char *final_name);
int __wrap_pt_dir_publish(const struct pt_dir *dir, const char *name, const char *final_name)
{
    if (files_that_go > 0) {
        files_that_go--;
        step = HOUR;
        reap();
        step = 0;
    }
    return __real_pt_dir_publish(dir, name, final_name);
}

/* How many files of that kind there are. */
static unsigned count_of(uid_t uid, char kind)
{
    int dir = pt_dir_open_of(uid, true);
    DIR *d = fdopendir(dir);
    struct dirent *e;
    unsigned n = 0;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)))
        n += e->d_name[0] == kind && e->d_name[1] == '-';
    closedir(d);
    return n;
}

static unsigned count(char kind)
{
    return count_of(geteuid(), kind);
}

/* A file is new for ten seconds, whichever way the clock was set. */
START_TEST(clock_is_set)
{
    static const time_t steps[] = { -HOUR, HOUR };
    int dir = pt_dir_open(true);

    for (unsigned i = 0; i < 2; i++) {
        close(openat(dir, "t-new", O_RDWR | O_CREAT | O_EXCL, 0600));
        step = 0;
        reap();
        ck_assert_uint_eq(count('t'), 1);
        step = steps[i];
        reap();
        ck_assert_uint_eq(count('t'), 0);
    }
    step = 0;
    close(dir);
}
END_TEST

static pid_t ended_process(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* Whose maker has ended before it has put it into a page: it does not have to be old. */
START_TEST(left_map)
{
    pid_t maker = ended_process();
    struct pt_names *names;
    struct pt_dir dir;
    char file[64];
    void *front;

    pt_dir_begin(&dir, geteuid(), geteuid(), true);
    ck_assert_int_eq(pt_names_create_in(&names, &dir, (uint32_t)maker, 1, file, _i ? &front : NULL),
                     0);
    ck_assert(!_i || front);
    pt_dir_end(&dir);
    ck_assert_uint_eq(count('n'), 1);
    reap();
    ck_assert_uint_eq(count('n'), 0);
    pt_names_unmap(names);
}
END_TEST

static void step_after(time_t seconds)
{
    step = seconds;
    pt_reap_step(geteuid(), &(struct pt_log_look){ .looks = 0 }, 0);
    step = 0;
}

static struct pt_names *map_of(pid_t maker, char file[64])
{
    struct pt_names *names;
    struct pt_dir dir;

    pt_dir_begin(&dir, geteuid(), geteuid(), true);
    ck_assert_int_eq(pt_names_create_in(&names, &dir, (uint32_t)maker, 1, file, NULL), 0);
    pt_dir_end(&dir);
    return names;
}

/* Whose maker was killed while it was counted as such: another process's count keeps it, and its
 * own does for as long as the file is new, as the maker may be of another pid namespace. */
START_TEST(map_of_a_killed_maker)
{
    pid_t maker = ended_process();
    struct pt_names *names;
    char file[64];

    names = map_of(maker, file);
    ck_assert(pt_names_hold_as_maker(names) && pt_names_hold(names));
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 1);
    ck_assert(pt_names_drop(names));
    step_after(0);
    ck_assert_uint_eq(count('n'), 1);
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 0);
    pt_names_unmap(names);
}
END_TEST

/* The same of a controller: the page that it has made for another process is not counted. */
START_TEST(map_of_a_killed_controller)
{
    pid_t maker = ended_process();
    struct pt_names *names;
    struct pt_page *page;
    char page_file[64], file[64];

    names = map_of(maker, file);
    ck_assert(pt_names_hold_as_maker(names));
    ck_assert_int_eq(pt_page_create(&page, (uint32_t)getpid(), 3, file, page_file), 0);
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 1);
    pt_page_unmap(page);
    pt_dir_remove(geteuid(), page_file);
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 0);
    pt_names_unmap(names);
}
END_TEST

/* The same where its page was counted: then its count is one like any other. */
START_TEST(map_of_a_maker_with_page)
{
    char file[64];
    struct pt_names *names = map_of(getpid(), file);

    ck_assert(pt_names_hold_as_maker(names) && pt_names_hold(names));
    pt_names_release(names, geteuid(), "", true);
    ck_assert_uint_eq(names->users, 1);
    names->maker = INT32_MAX - 1; /* no process has such a number */
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 1);
    ck_assert(!pt_names_drop(names));
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 0);
    pt_names_unmap(names);
}
END_TEST

/* Killed before the map had its magic number, or its file a size. */
START_TEST(unfinished_map)
{
    char file[64];
    struct pt_names *names = map_of(getpid(), file);
    int dir = pt_dir_open(true);

    names->magic = names->maker = 0;
    close(openat(dir, "n-new", O_RDWR | O_CREAT | O_EXCL, 0600));
    close(dir);
    step_after(MINUTE);
    ck_assert_uint_eq(count('n'), 2);
    step_after(HOUR);
    ck_assert_uint_eq(count('n'), 0);
    pt_names_unmap(names);
}
END_TEST

static int create(struct pt_page **page, uint64_t start)
{
    char file[64];

    return pt_page_create(page, (uint32_t)getpid(), start, "n-some", file);
}

/* A new page looks old to another process, which removes it before it has its name. */
START_TEST(page_goes_before_it_is_published)
{
    struct pt_page *page;

    files_that_go = 2;
    ck_assert_int_eq(create(&page, 1), 0);
    ck_assert_int_eq(files_that_go, 0);
    ck_assert_uint_eq(count('t'), 0);
    pt_page_unmap(page);
}
END_TEST

START_TEST(page_cannot_be_mapped)
{
    struct pt_page *page;

    maps_that_fail = 1;
    ck_assert_int_eq(create(&page, 2), -ENOMEM);
    ck_assert_int_eq(maps_that_fail, 0);
    ck_assert_uint_eq(count('t'), 0);
}
END_TEST

START_TEST(names_cannot_be_mapped)
{
    struct pt_names *names;
    char file[64];

    maps_that_fail = 1;
    ck_assert_int_eq(pt_names_create(&names, file), -ENOMEM);
    ck_assert_int_eq(maps_that_fail, 0);
    ck_assert_uint_eq(count('n'), 0);
}
END_TEST

#define OTHER 65534

static void put_in(int dir, const char *name, uid_t uid)
{
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchown(fd, uid, (gid_t)-1), 0);
    close(fd);
}

/* A process of that user, which can be traced. */
static pid_t process_of_other(void)
{
    trace_event_id_t id;
    int ready[2];
    char c;
    pid_t pid;

    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (setresgid(OTHER, OTHER, OTHER) < 0 || setresuid(OTHER, OTHER, OTHER) < 0)
            _exit(1);
        posix_trace_eventid_open("other", &id);
        if (write(ready[1], "r", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* Root traces a process of another user: what killed programs have left in that user's directory
 * goes, and only segments, of that user.  The place of the walk belongs to that user. */
START_TEST(directory_of_other_user)
{
    static const char *const stay[] = { "t-00000000000000000000000000000000",
                                        "s-00000000000000000000000000000001.seg" };
    int dir = pt_dir_open(true);
    char name[64];
    struct stat st;
    trace_id_t trid;
    pid_t pid;

    if (geteuid() != 0)
        return;
    ck_assert_int_eq(fchown(dir, OTHER, (gid_t)-1), 0);
    pid = process_of_other();
    put_in(dir, stay[0], OTHER);
    put_in(dir, stay[1], 0);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "s-%032x.seg", i + 2);
        put_in(dir, name, OTHER);
    }
    step = HOUR;
    pt_reap_step(OTHER, &(struct pt_log_look){ .looks = 0 }, 0);
    ck_assert_int_eq(fstatat(dir, PT_DIR_STEP_FILE, &st, 0), 0);
    ck_assert_uint_eq(st.st_uid, OTHER);
    ck_assert_uint_eq(count_of(OTHER, 's'), 61 - 16);
    ck_assert_int_eq(posix_trace_create(pid, NULL, &trid), 0);
    ck_assert_uint_eq(count_of(OTHER, 's'), 61 - 2 * 16 + 2); /* the stream has a link to names */
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert(pt_make_room_at_once(OTHER, &(struct pt_log_look){ .looks = 0 }));
    ck_assert_uint_eq(count_of(OTHER, 's'), 1);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(faccessat(dir, stay[i], F_OK, 0), 0);
    step = 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(fchown(dir, 0, (gid_t)-1), 0);
    close(dir);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, clock_is_set);
    tcase_add_loop_test(tc, left_map, 0, 2);
    tcase_add_test(tc, map_of_a_killed_maker);
    tcase_add_test(tc, map_of_a_killed_controller);
    tcase_add_test(tc, map_of_a_maker_with_page);
    tcase_add_test(tc, unfinished_map);
    tcase_add_test(tc, page_goes_before_it_is_published);
    tcase_add_test(tc, page_cannot_be_mapped);
    tcase_add_test(tc, names_cannot_be_mapped);
    tcase_add_test(tc, directory_of_other_user);
}

int main(void)
{
    return ring_main("fresh", add);
}
