/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a hostile process page and a hostile name map.  An input is a
 * mode and a list of changes to good ones.
 *
 *   byte 0    bit 0: also a process of its own that finds the page as its own;
 *             bit 1: also a controller that finds it as that of its target
 *   8 bytes   a change each, see change.h; where: 0 to 3 page, 4 to 7 names
 *
 * Without a process: what a controller does with the page of another process,
 * and what everybody does with names, function by function.  The process of
 * mode 1 uses the whole library with them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuzz/change.h"
#include "fuzz/target.h"
#include "place/dir.h"
#include "process/join.h"
#include "process/self.h"
#include "shm/liveness.h"

#define CHANGES_MAX 32u
#define FAR_PID     4000000u /* beyond any pid: a page without a process */
#define FAR_START   77u
#define LONG_NAME   300
#define WATCHDOG    100u

/* FIFOs that would stop who opens them as a segment, a page, a name map. */
#define TRAPS 3u
static const char *const traps[TRAPS] = { "s-trap.seg", "p-1-1", "n-trap" };

struct image {
    uint8_t *good, *bad;
    size_t size;
};

static const char seg_file[] = "s-good.seg";
static char dir[128], names_file[64];
static struct image page_image, names_image;

/* ---- the good ones ---- */

static void load(struct image *image, const char *file)
{
    int folder = open(dir, O_RDONLY | O_DIRECTORY), fd = openat(folder, file, O_RDONLY);
    struct stat st;

    FUZZ_NEED(fd >= 0 && fstat(fd, &st) == 0);
    image->size = (size_t)st.st_size;
    image->good = malloc(image->size);
    image->bad = malloc(image->size);
    FUZZ_NEED(image->good && image->bad);
    FUZZ_NEED(pread(fd, image->good, image->size, 0) == (ssize_t)image->size);
    close(fd);
    close(folder);
}

/* A new segment for each input, because an attach changes it. */
static void make_segment(void)
{
    struct pt_seg_request request = { .clock = 1 };
    struct pt_seg seg = { 0 };
    int folder = open(dir, O_RDONLY | O_DIRECTORY);

    pt_attr_init(&request.attr);
    request.attr.stream_size = 4096;
    request.attr.max_data = 64;
    FUZZ_NEED(pt_seg_create(&seg, &request) == 0);
    seg.h->state = pt_state_make(PT_RUNNING, 1);
    FUZZ_NEED(renameat(folder, seg.file, folder, seg_file) == 0);
    pt_seg_unmap(&seg);
    close(folder);
}

static void make_traps(void)
{
    int folder = open(dir, O_RDONLY | O_DIRECTORY);

    for (size_t i = 0; i < TRAPS; i++)
        FUZZ_NEED(mkfifoat(folder, traps[i], 0600) == 0);
    close(folder);
}

static bool is_trap(const char *name)
{
    for (size_t i = 0; i < TRAPS; i++)
        if (strcmp(name, traps[i]) == 0)
            return true;
    return false;
}

/* What the input before has left. */
static void clean_up(void)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    FUZZ_NEED(d);
    while ((e = readdir(d)))
        if (e->d_type != DT_DIR && !is_trap(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

/* A page with three streams, one of them not there, and a map with three names. */
static void start(void)
{
    const char *base = getenv("POSIXTRACE_DIR");
    struct pt_names *names;
    struct pt_page *page;
    char page_file[64];
    uint32_t id;

    snprintf(dir, sizeof dir, "%.100s/page.XXXXXX", base ? base : "/tmp");
    FUZZ_NEED(mkdtemp(dir) && setenv("POSIXTRACE_DIR", dir, 1) == 0);
    make_traps();
    FUZZ_NEED(pt_names_create(&names, names_file) == 0);
    FUZZ_NEED(pt_names_id(names, "one", true, &id) == 0 && pt_names_id(names, "", true, &id) == 0);
    FUZZ_NEED(pt_names_id(names, "a third name", true, &id) == 0);
    FUZZ_NEED(pt_page_create(&page, FAR_PID, FAR_START, names_file, page_file) == 0);
    for (int i = 0; i < 3; i++) {
        int bit = pt_page_take_bit(page);

        FUZZ_NEED(bit == i);
        strcpy(page->stream[i].file, i == 2 ? "s-0.seg" : seg_file);
        for (uint32_t any = 0; any < PT_ID_MAX; any++)
            pt_page_set_gate(page, (unsigned)bit, any, PT_GATE_OPEN);
    }
    pt_page_unmap(page);
    pt_names_unmap(names);
    load(&page_image, page_file);
    load(&names_image, names_file);
}

/* ---- changed ---- */

static void apply(const struct fuzz_change *c)
{
    struct image *image = c->where % 8 < 4 ? &page_image : &names_image;
    size_t place = c->at, width = fuzz_change_width(c);
    uint64_t value;

    /* The arena is long and empty; likelier are its head and the entries. */
    if (image == &names_image && c->where % 2)
        place = place * 8 % (sizeof(struct pt_names) + 512);
    place = place % (image->size - 8) & ~(width - 1);
    value = fuzz_change_value(c, image->good, image->size, place);
    memcpy(image->bad + place, &value, width);
}

static void put(const char *file, const uint8_t *bytes, size_t size)
{
    char path[256];
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FUZZ_NEED(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* ---- used, function by function ---- */

static void look_up(struct pt_self *self)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        struct pt_seg *seg = pt_self_segment(self, bit, self->page->epoch[bit]);

        if (seg) {
            pt_process_register(seg, self->pid, self->start, self->page, bit);
            pt_self_set_segment(self, bit, 0, NULL);
            pt_seg_unmap(seg);
            munmap(seg, sizeof *seg);
        }
    }
}

static void use_page(void)
{
    struct pt_self self = { .pid = FAR_PID, .start = FAR_START };
    char file[64];
    int folder = pt_dir_open(false), bit;

    pt_page_names_in_use(folder, names_file);
    close(folder);
    if (pt_page_open(&self.page, FAR_PID, FAR_START, file) < 0)
        return;
    look_up(&self);
    bit = pt_page_take_bit(self.page);
    FUZZ_NEED(bit == -EAGAIN || (bit >= 0 && bit < (int)PT_STREAMS));
    if (bit >= 0) {
        pt_page_set_gate(self.page, (unsigned)bit, 700, PT_GATE_OPEN);
        FUZZ_NEED(self.page->gates[700] >> bit & 1);
        pt_page_give_bit(self.page, (unsigned)bit);
        FUZZ_NEED(!(self.page->used >> bit & 1) && !(self.page->gates[700] >> bit & 1));
    }
    pt_page_unmap(self.page);
}

static void ask_names(const struct pt_names *names)
{
    uint32_t end = pt_names_end(names);

    FUZZ_NEED(end >= PT_ID_NAMED_FIRST && end <= PT_ID_MAX);
    for (uint32_t id = 0; id < PT_ID_MAX + 2; id++) {
        const char *name = pt_names_get(names, id);

        FUZZ_NEED(!name || strlen(name) <= TRACE_EVENT_NAME_MAX);
    }
}

/* Whatever the map says, a name that is added is found: under its id, or under that
 * of an entry that said the same before its bytes were there. */
static void add_names(struct pt_names *names)
{
    char name[LONG_NAME];
    uint32_t id, again;

    for (size_t length = 0; length <= TRACE_EVENT_NAME_MAX; length += 51) {
        memset(name, 'n', length);
        name[length] = '\0';
        if (pt_names_id(names, name, true, &id) < 0)
            continue;
        FUZZ_NEED(id >= PT_ID_USER_FIRST && id < PT_ID_MAX);
        FUZZ_NEED(id == PT_ID_USER_FIRST || strcmp(pt_names_get(names, id), name) == 0);
        FUZZ_NEED(pt_names_id(names, name, false, &again) == 0);
        FUZZ_NEED((id == PT_ID_USER_FIRST) == (again == 0));
        FUZZ_NEED(!again || strcmp(pt_names_get(names, again), name) == 0);
    }
}

static void use_names(void)
{
    int folder = pt_dir_open(false);
    struct pt_names *names;

    if (pt_names_copy(&names, folder, names_file) == 0) {
        ask_names(names);
        free(names);
    }
    close(folder);
    if (pt_names_open(&names, names_file) == 0) {
        ask_names(names);
        add_names(names);
        ask_names(names);
        pt_names_unmap(names);
    }
}

/* ---- used by a process of its own ---- */

static void trace(void)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id = 0;
    trace_id_t trid;
    int end = 0;

    posix_trace_eventid_open("one", &id);
    posix_trace_event(id, "before", 6);
    if (posix_trace_create(0, NULL, &trid) != 0)
        return;
    FUZZ_NEED(posix_trace_start(trid) == 0);
    posix_trace_eventid_open("another", &id);
    for (int i = 0; i < 20; i++)
        posix_trace_event(id, name, (size_t)i);
    while (posix_trace_eventtypelist_getnext_id(trid, &id, &end) == 0 && !end)
        FUZZ_NEED(posix_trace_eventid_get_name(trid, id, name) == 0);
    FUZZ_NEED(posix_trace_shutdown(trid) == 0);
}

/* Puts the page where that of the process is looked for, and makes it its own. */
static void put_page_of(uint32_t pid)
{
    struct pt_page *page = (void *)page_image.bad;
    uint64_t start = pt_process_start(pid);
    char file[64];

    if (page->pid == FAR_PID)
        page->pid = pid;
    if (page->start == FAR_START)
        page->start = start;
    pt_page_name(file, pid, start);
    put(file, page_image.bad, page_image.size);
}

static void trace_itself(void)
{
    put_page_of((uint32_t)getpid());
    trace();
}

static void control(pid_t target)
{
    trace_event_id_t id;
    trace_id_t trid;
    int end = 0;

    put_page_of((uint32_t)target);
    if (posix_trace_create(target, NULL, &trid) != 0)
        return;
    FUZZ_NEED(posix_trace_start(trid) == 0);
    posix_trace_trid_eventid_open(trid, "the controller's", &id);
    while (posix_trace_eventtypelist_getnext_id(trid, &id, &end) == 0 && !end)
        ;
    FUZZ_NEED(posix_trace_stop(trid) == 0);
    FUZZ_NEED(posix_trace_shutdown(trid) == 0);
}

static void trace_another(void)
{
    pid_t target = fork();

    FUZZ_NEED(target >= 0);
    if (target == 0) {
        alarm(WATCHDOG);
        for (;;)
            pause();
    }
    control(target);
    FUZZ_NEED(kill(target, SIGKILL) == 0 && waitpid(target, NULL, 0) == target);
}

static void use_in_child(void (*use)(void))
{
    pid_t child = fork();
    int status;

    FUZZ_NEED(child >= 0);
    if (child == 0) {
        alarm(WATCHDOG);
        use();
        _exit(0);
    }
    status = fuzz_wait(child);
    if (status != 0)
        fprintf(stderr, "the child's status: 0x%x\n", (unsigned)status);
    FUZZ_NEED(status == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char file[64];
    size_t n;

    if (!dir[0])
        start();
    if (size == 0)
        return 0;
    n = (size - 1) / sizeof(struct fuzz_change);
    memcpy(page_image.bad, page_image.good, page_image.size);
    memcpy(names_image.bad, names_image.good, names_image.size);
    for (size_t i = 0; i < n && i < CHANGES_MAX; i++) {
        struct fuzz_change c;

        memcpy(&c, data + 1 + i * sizeof c, sizeof c);
        apply(&c);
    }
    clean_up();
    make_segment();
    pt_page_name(file, FAR_PID, FAR_START);
    put(file, page_image.bad, page_image.size);
    put(names_file, names_image.bad, names_image.size);
    use_page();
    use_names();
    if (data[0] & 1) {
        put(names_file, names_image.bad, names_image.size);
        use_in_child(trace_itself);
    }
    if (data[0] & 2) {
        put(names_file, names_image.bad, names_image.size);
        use_in_child(trace_another);
    }
    return 0;
}

static void finish(void)
{
    char command[160];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    FUZZ_NEED(system(command) == 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 15, .finish = finish };
