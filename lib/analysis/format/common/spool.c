/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See spool.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/format/common/format.h"
#include "analysis/format/common/spool.h"
#include "base/assert.h"

/* ---- temporary files ---- */

int pt_temporary_file(FILE **file)
{
    const char *folder = secure_getenv("TMPDIR");
    char name[4096];
    int fd;

    folder = folder && *folder ? folder : "/var/tmp";
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        if (snprintf(name, sizeof name, "%s/posixtrace.XXXXXX", folder) >= (int)sizeof name)
            return ENAMETOOLONG;
        fd = mkostemp(name, O_CLOEXEC);
        if (fd < 0)
            return errno;
        unlink(name);
    }
    *file = fdopen(fd, "w+");
    if (*file)
        return 0;
    close(fd);
    return ENOMEM;
}

static int copy_all(FILE *from, FILE *to)
{
    char block[65536];
    size_t n;

    errno = 0;
    while ((n = fread(block, 1, sizeof block, from)) > 0)
        if (fwrite(block, 1, n, to) != n)
            return errno ? errno : EIO;
    if (ferror(from) || fseeko(to, 0, SEEK_SET) != 0)
        return errno ? errno : EIO;
    return 0;
}

int pt_temporary_copy(FILE *from, FILE **copy)
{
    FILE *to;
    int error = pt_temporary_file(&to);

    if (error)
        return error;
    error = copy_all(from, to);
    if (error)
        fclose(to);
    else
        *copy = to;
    return error;
}

int pt_temporary_input(FILE *from, FILE **file)
{
    if (ftello(from) < 0)
        return pt_temporary_copy(from, file);
    *file = from;
    return 0;
}

/* ---- places ---- */

int pt_places_add(struct pt_places *p, int64_t ns, uint64_t at)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 4096;
        struct pt_spool_place *list = reallocarray(p->list, room, sizeof *list);

        if (!list)
            return ENOMEM;
        p->list = list;
        p->room = room;
    }
    if (p->count && ns < p->newest) {
        /* The difference of two times may not fit an int64_t. */
        uint64_t apart = (uint64_t)p->newest - (uint64_t)ns;

        p->late++;
        p->worst = apart > p->worst ? apart : p->worst;
    } else {
        p->newest = ns;
    }
    pt_assert(p->count < p->room && p->newest >= ns);
    p->list[p->count++] = (struct pt_spool_place){ ns, at };
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_spool_place *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* In order of time, and of the input where times are the same? */
PT_VALIDATOR bool places_are_sorted(const struct pt_places *p)
{
    for (size_t i = 1; i < p->count; i++)
        if (by_time(&p->list[i - 1], &p->list[i]) > 0)
            return false;
    return true;
}

void pt_places_sort(struct pt_places *p)
{
    if (p->late)
        qsort(p->list, p->count, sizeof *p->list, by_time);
    pt_assert_valid(places_are_sorted(p));
}

void pt_places_report(const struct pt_places *p, struct pt_job *job, unsigned kind)
{
    const char *were = p->late == 1 ? "was" : "were";

    if (p->late)
        pt_job_note(job, kind, "%" PRIu64 " line%s of %s %s out of order and %s sorted", p->late,
                    p->late == 1 ? "" : "s", job->c->name ? job->c->name : "the input", were, were);
}

void pt_places_free(struct pt_places *p)
{
    free(p->list);
    *p = (struct pt_places){ 0 };
}

/* ---- records ---- */

int pt_spool_open(struct pt_spool *s)
{
    *s = (struct pt_spool){ 0 };
    return pt_temporary_file(&s->file);
}

void pt_spool_close(struct pt_spool *s)
{
    if (s->file)
        fclose(s->file);
    pt_places_free(&s->places);
    *s = (struct pt_spool){ 0 };
}

static bool put(struct pt_spool *s, const void *from, size_t size)
{
    s->bytes += size;
    return size == 0 || fwrite_unlocked(from, 1, size, s->file) == size;
}

int pt_spool_put(struct pt_spool *s, int64_t ns, const struct iovec *parts, size_t count)
{
    int error = pt_places_add(&s->places, ns, s->bytes);
    uint64_t size = 0;
    bool good;

    if (error)
        return error;
    for (size_t i = 0; i < count; i++)
        size += parts[i].iov_len;
    errno = 0;
    good = put(s, &size, sizeof size);
    for (size_t i = 0; i < count && good; i++)
        good = put(s, parts[i].iov_base, parts[i].iov_len);
    return good ? 0 : errno ? errno : EIO;
}

int pt_spool_sort(struct pt_spool *s)
{
    errno = 0;
    if (fflush(s->file) != 0)
        return errno ? errno : EIO;
    pt_places_sort(&s->places);
    return 0;
}

static int read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got;

    do
        got = pread(fd, to, bytes, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got < 0 ? errno : (size_t)got == bytes ? 0 : EIO;
}

int pt_spool_take(struct pt_spool *s, void *to, size_t room, size_t *size)
{
    uint64_t at = s->places.list[s->next++].at, stored;
    int fd = fileno(s->file), error = read_at(fd, &stored, sizeof stored, at);

    pt_assert_call(s->next <= s->places.count && at < s->bytes);
    if (!error && stored > room)
        error = EIO;
    if (!error)
        error = read_at(fd, to, (size_t)stored, at + sizeof stored);
    *size = error ? 0 : (size_t)stored;
    return error;
}
