/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See pages.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "page/page_left.h"
#include "page/target.h"
#include "place/dir.h"
#include "shm/liveness.h"
#include "stream/control_lock.h"
#include "stream/pages.h"

struct walk {
    struct pt_stream *s;
    pt_pages_visit *visit; /* NULL: only whether each page can be reached */
    void *context;
    bool all;      /* the page of a living process must exist */
    bool apart;    /* there is nothing left to try against -EMFILE */
    unsigned next; /* the entry of the stream's table that is visited next */
    uint64_t renewed_ns;
    int error; /* the first one */
};

#define RENEW_NS (PT_STALL_NS / 8)

enum { NO_PAGE = 1 }; /* and none is needed */

/* The page file does not exist.  NO_PAGE: in the stream's directory.  A stream without a name was
 * made where there was no directory, or one that was full. */
static int check_directory(const struct pt_stream *s)
{
    int saved = errno, dir = pt_dir_open_of(s->uid, false), r = NO_PAGE;
    struct stat st;

    if (dir < 0)
        return dir;
    if (s->seg->file[0] && (fstatat(dir, s->seg->file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                            st.st_dev != s->seg->dev || st.st_ino != s->seg->ino))
        r = -EACCES;
    close(dir);
    errno = saved;
    return r;
}

/* The table has processes of our pid namespace only (pt_join_take), so kill() also works without
 * /proc. */
static bool is_gone(uint32_t pid, uint64_t start)
{
    unsigned asks = 1;
    int saved = errno;
    bool gone = (kill((pid_t)pid, 0) < 0 && errno == ESRCH) ||
                pt_page_process_is_gone(pid, start, &asks);

    errno = saved;
    return gone;
}

/* A process that changed its user id before its first event has its page in the directory of that
 * user, where root can open it.  -ENOENT: its user is the stream's. */
static int open_of_changed_user(const struct pt_stream *s, struct pt_page **page, uint32_t pid,
                                uint64_t start)
{
    char file[64];
    uid_t uid;

    if (!pt_target_uid(pid, &uid) || uid == s->uid)
        return -ENOENT;
    return pt_page_open_of(page, uid, pid, start, file);
}

/* The process has no page in a directory, and may record: not after exec of another program. */
static bool is_out_of_reach(const struct pt_stream *s, uint32_t pid, uint64_t start)
{
    return s->seg->file[0] &&
           pt_user_liveness(s->seg->h, pid, start, s->seg->dev, s->seg->ino) == PT_ALIVE;
}

/* 0, NO_PAGE, or an error of pt_pages_each(). */
static int open_page(const struct walk *w, struct pt_page **page, uint32_t pid, uint64_t start)
{
    struct pt_stream *s = w->s;
    struct pt_self *self = pt_self_peek();
    char file[64];
    int r;

    if (s->page && pid == s->pid && start == s->start) {
        *page = s->page;
        return 0;
    }
    if (self && pid == self->pid && start == self->start) {
        *page = self->page;
        return 0;
    }
    r = pt_page_open_of(page, s->uid, pid, start, file);
    if (r == -ENOENT)
        r = open_of_changed_user(s, page, pid, start);
    if (r == -ENOENT && !w->all)
        r = check_directory(s);
    if (r == NO_PAGE && is_out_of_reach(s, pid, start))
        r = -EACCES;
    if (r < 0 && is_gone(pid, start))
        return NO_PAGE;
    return r < 0 && !pt_is_shortage(r) ? -EACCES : r;
}

static void close_page(const struct walk *w, struct pt_page *page)
{
    const struct pt_self *self = pt_self_peek();

    if (page != w->s->page && (!self || page != self->page))
        pt_page_unmap(page);
}

/* Between the end of its exit handlers and its own, the process has no page.  It may write as
 * before, so that the memory stays, but needs no gate any more. */
static bool is_leaving(const struct walk *w, const struct pt_proc *p, uint32_t pid)
{
    return !w->all && (pt_load_seqcst(&p->bit) & PT_PROC_LEAVES) && pt_load_seqcst(&p->pid) == pid;
}

/* 0 or an error. */
static int visit_entry(const struct walk *w, const struct pt_proc *p)
{
    uint32_t pid = pt_load_seqcst(&p->pid), bit = pt_proc_bit_of(pt_load_seqcst(&p->bit));
    struct pt_page *page;
    int r;

    if (pid == 0 || bit >= PT_STREAMS)
        return 0;
    r = open_page(w, &page, pid, pt_load_seqcst(&p->start));
    if (r < 0 && is_leaving(w, p, pid))
        r = NO_PAGE;
    if (r != 0)
        return r < 0 ? r : 0;
    if (w->visit && pt_page_bit_is_of(page, bit, w->s->seg->file))
        w->visit(w->s, page, bit, w->context);
    close_page(w, page);
    return 0;
}

/* The pages of many processes take longer than the time after which the control lock is taken away
 * from a holder without progress. */
static void show_progress(struct walk *w)
{
    uint64_t now = pt_clock_ns(CLOCK_MONOTONIC);

    if (now - w->renewed_ns < RENEW_NS)
        return;
    w->renewed_ns = now;
    pt_control_lock_renew(w->s);
}

/* Up to the end, or the first entry for which there is no descriptor. */
static void visit_rest(struct walk *w)
{
    for (; w->next < pt_seg_proc_count(w->s->seg); w->next++) {
        int r;

        show_progress(w);
        r = visit_entry(w, pt_seg_proc(w->s->seg, w->next));
        if (r == -EMFILE && !w->apart)
            return;
        if (w->error == 0)
            w->error = r;
    }
}

static void *visit_apart(void *walk)
{
    struct walk *w = walk;

    if (pt_thread_own_descriptors(-1) == 0) {
        w->apart = true;
        visit_rest(w);
    }
    return NULL;
}

static int each(struct walk *w)
{
    pthread_t thread;

    visit_rest(w);
    if (w->next < pt_seg_proc_count(w->s->seg) && pt_thread_start(&thread, visit_apart, w) == 0)
        pthread_join(thread, NULL);
    w->apart = true;
    visit_rest(w);
    return w->error;
}

int pt_pages_each(struct pt_stream *s, pt_pages_visit *visit, void *context)
{
    return each(&(struct walk){ .s = s, .visit = visit, .context = context });
}

int pt_pages_check(struct pt_stream *s)
{
    return pt_pages_each(s, NULL, NULL);
}

int pt_pages_each_of_all(struct pt_stream *s, pt_pages_visit *visit, void *context)
{
    return each(&(struct walk){ .s = s, .visit = visit, .context = context, .all = true });
}
