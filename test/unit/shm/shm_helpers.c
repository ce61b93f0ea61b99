/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See shm_helpers.h. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>
#include "base/sys.h"
#include "shm_helpers.h"
#include "shm/slot.h"
#include "support/run_suite.h"

static char base[96], dir[128];

static void make_dir(void)
{
    snprintf(dir, sizeof dir, "%s/ring.XXXXXX", base);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(setenv("POSIXTRACE_DIR", dir, 1), 0);
}

static void remove_dir(void)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d)))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(dir);
}

static void prepare(TCase *tc)
{
    tcase_add_checked_fixture(tc, make_dir, remove_dir);
}

int ring_main(const char *name, void (*add)(TCase *tc))
{
    /* The test run's directory: it goes even if a test crashes. */
    const char *given = getenv("POSIXTRACE_DIR");

    snprintf(base, sizeof base, "%s", given ? given : "/tmp");
    return run_suite(name, name, prepare, add);
}

bool ring_mount_small(void)
{
    const char *forks = getenv("CK_FORK");

    if ((!forks || strcmp(forks, "no") != 0) && unshare(CLONE_NEWNS) == 0 &&
        mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700") == 0)
        return true;
    fprintf(stderr, "left out: no mounts of our own\n");
    return false;
}

void ring_fill_small(void)
{
    static const char block[4096] = "x";
    char path[160];
    int fd;

    snprintf(path, sizeof path, "%s/all", dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    while (write(fd, block, sizeof block) > 0)
        ;
    close(fd);
}

void ring_create(struct pt_seg *seg, uint64_t stream_size)
{
    struct pt_seg_request request = { .clock = 1 };

    memset(seg, 0, sizeof *seg);
    pt_attr_init(&request.attr);
    request.attr.stream_size = stream_size;
    request.attr.max_data = 64;
    ck_assert_int_eq(pt_seg_create(seg, &request), 0);
    ck_assert(stream_size >= 65536 || seg->h->chunk_size == PT_CHUNK_MIN);
}

void ring_remove(struct pt_seg *seg)
{
    pt_seg_unlink(seg);
    pt_seg_unmap(seg);
}

uint32_t ring_attach(struct pt_seg *seg, uint32_t level)
{
    struct pt_author author = { .level = level, .pid = getpid(), .tid = pt_sys_tid() };
    uint32_t slot;

    ck_assert_int_eq(pt_slot_attach(seg, &author, 1, &slot), 0);
    return slot;
}

void ring_refer(struct pt_seg *seg, uint32_t slot, uint32_t chunk)
{
    struct pt_slot *s = pt_seg_slot(seg, slot);
    struct pt_chunk *c = pt_seg_chunk(seg, chunk);

    c->base_ts = 0;
    s->chunk_base = s->next_no - (c->commit >> 32);
    pt_store_release(&s->chunk, chunk + 1);
}

void ring_put(struct pt_seg *seg, uint32_t chunk, uint32_t id, uint32_t ts, uint32_t len)
{
    struct pt_chunk *c = pt_seg_chunk(seg, chunk);
    uint32_t at = (uint32_t)c->commit, size = pt_record_size(len);

    ck_assert_uint_le(at + size, seg->h->chunk_size);
    pt_record_put_head((char *)c + at, PT_RECORD_EVENT, id, len, ts, 0);
    pt_store_release(&c->commit, c->commit + (1ull << 32) + size);
}

unsigned ring_state(struct pt_seg *seg, uint32_t chunk)
{
    return pt_word_state(pt_seg_info(seg, chunk)->word);
}
