/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What ended processes leave in the stream directory: steps through it, pages, name maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "page/dir_step.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "shm_helpers.h"
#include "shm/liveness.h"

#define FILES 300u

static void put_file(int dir, unsigned number)
{
    char name[32];

    snprintf(name, sizeof name, "x-%u", number);
    close(openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600));
}

static bool exists(const char *file)
{
    int dir = pt_dir_open(false);
    bool is = faccessat(dir, file, F_OK, 0) == 0;

    close(dir);
    return is;
}

/* One step; most: the caller has enough after so many names. */
static unsigned step(enum pt_dir_walk walk, unsigned most, uint8_t *seen)
{
    struct pt_dir_step s;
    int dir = pt_dir_open(false);
    const char *name;
    unsigned n = 0;

    pt_dir_step_begin(&s, dir, walk);
    for (; n < most && (name = pt_dir_step_next(&s)); n++)
        if (name[0] == 'x')
            seen[atoi(name + 2)] = 1;
    pt_dir_step_end(&s);
    close(dir);
    return n;
}

/* Every file comes up in some step, whatever part of a step its caller uses, and walks do
 * not disturb each other. */
static void sweep_step(void)
{
    struct pt_page_dir dir;

    pt_page_dir_open(&dir, geteuid());
    pt_page_sweep_step(&dir, NULL);
    pt_page_dir_close(&dir);
}

START_TEST(steps_come_to_every_file)
{
    static const unsigned most[] = { 1000, 7, 1 };
    int dir = pt_dir_open(true);

    for (unsigned i = 0; i < FILES; i++)
        put_file(dir, i);
    for (unsigned k = 0; k < 3; k++) {
        uint8_t seen[FILES] = { 0 }, other[FILES] = { 0 };
        unsigned names = 0, all = 0;

        for (unsigned steps = 0; names < 2 * FILES; steps++) {
            unsigned n = step(PT_WALK_PAGES, most[k], seen);

            ck_assert_uint_ge(n, 1);
            ck_assert_uint_le(n, PT_DIR_STEP_BYTES / 24);
            step(PT_WALK_LEFT, 1, other);
            names += n;
        }
        for (unsigned i = 0; i < FILES; i++)
            all += seen[i];
        ck_assert_uint_eq(all, FILES);
        ck_assert(exists(PT_DIR_STEP_FILE));
    }
    close(dir);
}
END_TEST

/* A directory that one step reads whole has no file for the position; what lies there under
 * its name is no position. */
START_TEST(small_directories_have_no_position)
{
    int dir = pt_dir_open(true), fd;
    uint8_t seen[FILES] = { 0 };

    put_file(dir, 1);
    put_file(dir, 2);
    step(PT_WALK_LEFT, 1000, seen);
    ck_assert(seen[1] && seen[2] && !exists(PT_DIR_STEP_FILE));
    fd = openat(dir, PT_DIR_STEP_FILE, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(write(fd, "whatever, thirty-two bytes long", 32), 32);
    close(fd);
    seen[1] = seen[2] = 0;
    step(PT_WALK_LEFT, 1000, seen);
    ck_assert(seen[1] && seen[2] && !exists(PT_DIR_STEP_FILE));
    ck_assert_int_eq(symlinkat("/dev/null", dir, PT_DIR_STEP_FILE), 0);
    seen[1] = seen[2] = 0;
    step(PT_WALK_LEFT, 1000, seen);
    ck_assert(seen[1] && seen[2]);
    close(dir);
}
END_TEST

/* Puts something under the name of the position that is none. */
static void put_no_position(int dir, unsigned kind)
{
    static const uint64_t old[] = { 0x314b4c41575850ull, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    int fd;

    unlinkat(dir, PT_DIR_STEP_FILE, 0);
    if (kind == 2) {
        ck_assert_int_eq(symlinkat("/dev/null", dir, PT_DIR_STEP_FILE), 0);
        return;
    }
    fd = openat(dir, PT_DIR_STEP_FILE, O_RDWR | O_CREAT, kind == 3 ? 0 : 0600);
    if (kind == 1)
        ck_assert_int_eq(write(fd, old, sizeof old), sizeof old);
    close(fd);
}

/* A maker that was killed before it wrote, and an older version, leave files that are no position:
 * the first step replaces them. */
START_TEST(what_is_no_position_is_replaced)
{
    int dir = pt_dir_open(true);
    uint8_t seen[FILES] = { 0 };
    unsigned all = 0;
    struct pt_dir_step s;

    for (unsigned i = 0; i < FILES; i++)
        put_file(dir, i);
    put_no_position(dir, (unsigned)_i);
    for (unsigned names = 0; names < 2 * FILES;) {
        unsigned n = step(PT_WALK_LEFT, 1000, seen);

        ck_assert_uint_ge(n, 1);
        names += n;
    }
    for (unsigned i = 0; i < FILES; i++)
        all += seen[i];
    ck_assert_uint_eq(all, FILES);
    put_no_position(dir, (unsigned)_i);
    pt_dir_step_begin(&s, dir, PT_WALK_LEFT);
    pt_dir_step_make(&s, 7);
    pt_dir_step_end(&s);
    pt_dir_step_begin(&s, dir, PT_WALK_LEFT);
    ck_assert_uint_eq(pt_dir_step_made(&s), 7);
    put_no_position(dir, (unsigned)_i);
    pt_dir_step_restart(dir, PT_WALK_LEFT, 9);
    pt_dir_step_begin(&s, dir, PT_WALK_LEFT);
    ck_assert_uint_eq(pt_dir_step_sum(&s), 9);
    close(dir);
}
END_TEST

struct made {
    struct pt_page *page;
    char file[64];
};

static struct made make(uint32_t pid, uint64_t start, const char *names_file,
                        struct pt_names *names)
{
    struct made m;

    ck_assert_int_eq(pt_page_create(&m.page, pid, start, names_file, m.file), 0);
    pt_page_hold_names(m.page, names);
    return m;
}

static pid_t zombie(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &(siginfo_t){ .si_pid = 0 }, WEXITED | WNOWAIT), 0);
    return pid;
}

/* Pages of living processes stay.  The page of an ended process, of a zombie, and of one whose pid
 * was reused is removed. */
START_TEST(pages_of_the_dead_go)
{
    struct pt_identity self;
    char names_file[64];
    struct pt_names *names;
    struct made live, dead, reused, ended;
    pid_t z = zombie();

    pt_identity_self(&self);
    ck_assert_int_eq(pt_names_create(&names, names_file), 0);
    live = make(self.pid, self.start, names_file, names);
    dead = make(5000000, 77, names_file, names);
    reused = make(self.pid, self.start - 3, names_file, names);
    ended = make((uint32_t)z, pt_process_start((uint32_t)z), names_file, names);
    ck_assert_uint_eq(names->users, 4);
    pt_page_hold_names(live.page, names);
    ck_assert_uint_eq(names->users, 4);
    for (int i = 0; i < 3; i++)
        sweep_step();
    ck_assert(exists(live.file));
    ck_assert(!exists(dead.file) && !exists(reused.file) && !exists(ended.file));
    ck_assert_uint_eq(names->users, 1);
    ck_assert(exists(names_file));
    waitpid(z, NULL, 0);
}
END_TEST

/* The map goes with the last page that names it, unless the caller is counted, too. */
START_TEST(maps_go_with_the_last_page)
{
    int dir = pt_dir_open(true);

    for (unsigned keep = 0; keep < 2; keep++) {
        char names_file[64];
        struct pt_names *names;
        struct made a, b;
        struct pt_page_names kept;

        ck_assert_int_eq(pt_names_create(&names, names_file), 0);
        ck_assert(!keep || pt_names_hold(names));
        kept = (struct pt_page_names){ names_file, names };
        a = make(5000001, 1, names_file, names);
        b = make(5000002, 1, names_file, names);
        pt_page_remove(dir, a.file, keep ? &kept : NULL);
        pt_page_remove(dir, a.file, keep ? &kept : NULL);
        ck_assert_uint_eq(names->users, keep + 1);
        ck_assert(exists(names_file));
        /* A copy of a page is not counted, whatever it says. */
        b.page->start++;
        pt_page_remove(dir, b.file, keep ? &kept : NULL);
        ck_assert_uint_eq(names->users, keep + 1);
        b = make(5000002, 1, names_file, names);
        ck_assert_uint_eq(names->users, keep + 2);
        ck_assert(pt_names_drop(names));
        pt_page_remove(dir, b.file, keep ? &kept : NULL);
        ck_assert(pt_names_is_used(names->users) == (keep == 1));
        ck_assert(exists(names_file) == (keep == 1));
        if (keep)
            pt_names_release(names, getuid(), names_file, false);
        ck_assert(!exists(names_file));
        ck_assert(!pt_names_drop(names));
        ck_assert(!pt_names_is_used(names->users));
    }
    close(dir);
}
END_TEST

/* A map whose count fell to 0 cannot be used again under its name, but gets a new name if it has a
 * link. */
START_TEST(maps_that_are_gone_stay_gone)
{
    int dir = pt_dir_open(true);
    char names_file[64], again[64], first[64];
    struct pt_names *names, *other;

    ck_assert_int_eq(pt_names_create(&names, names_file), 0);
    ck_assert(pt_names_hold(names));
    ck_assert_int_eq(linkat(dir, names_file, dir, "s-x.names", 0), 0);
    pt_names_let_go(dir, names_file);
    ck_assert(!exists(names_file));
    ck_assert(!pt_names_hold(names));
    ck_assert(!pt_names_name_again(names, "s-y.names", again));
    ck_assert(!pt_names_hold(names));
    ck_assert_int_eq(pt_names_create(&other, first), 0);
    ck_assert(!pt_names_name_again(names, first, again));
    ck_assert(pt_names_name_again(names, "s-x.names", again));
    ck_assert(strcmp(again, names_file) != 0 && exists(again));
    ck_assert(pt_names_hold(names));
    ck_assert_uint_eq(names->users, 2);
    pt_names_let_go(dir, again);
    ck_assert(exists(again));
    pt_names_let_go(dir, again);
    ck_assert(!exists(again) && exists("s-x.names"));
    close(dir);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, steps_come_to_every_file);
    tcase_add_test(tc, small_directories_have_no_position);
    tcase_add_loop_test(tc, what_is_no_position_is_replaced, 0, 4);
    tcase_add_test(tc, pages_of_the_dead_go);
    tcase_add_test(tc, maps_go_with_the_last_page);
    tcase_add_test(tc, maps_that_are_gone_stay_gone);
}

int main(void)
{
    return ring_main("left", add);
}
