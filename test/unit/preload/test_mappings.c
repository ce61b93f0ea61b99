/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Mappings of processes in streams and logs, and what posixtrace/symbols.h makes of them: of this
 * program, of a library that comes and goes, of a child, in logs that lost their first events, in
 * a snapshot, in the log of a killed process, and with files of another machine.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/mapping.h>
#include <posixtrace/symbols.h>
#include <posixtrace/system.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "support/trace_helpers.h"
#include "support/valgrind.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[8] = { [3] = PTHREAD_MUTEX_INITIALIZER };

enum { LOCK_LINE = __LINE__ + 4 };
static __attribute__((noinline, noclone)) void locker(pthread_mutex_t *lock)
{
    /* Each on a line of its own. */
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

/* As a compiler of C++ names cache::lock and cache::evict(int). */
static pthread_mutex_t cache_lock __asm__("_ZN5cache4lockE") = PTHREAD_MUTEX_INITIALIZER;
void evict(int n) __asm__("_ZN5cache5evictEi");
__attribute__((noinline, noclone)) void evict(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&cache_lock);
        pthread_mutex_unlock(&cache_lock);
    }
}

static trace_id_t begin(char path[TH_PATH], int log_policy)
{
    trace_id_t trid = th_stream_log(th_file(path, O_RDWR), .inherit = POSIX_TRACE_INHERITED,
                                    .log_policy = log_policy, .log_size = 65536);

    ck_ok(posix_trace_start(trid));
    return trid;
}

static posixtrace_symbols_t *symbols_of(trace_id_t trid, const char *debug_dir)
{
    posixtrace_symbols_t *s;

    ck_ok(posixtrace_symbols_create(debug_dir, &s));
    ck_ok(posixtrace_symbols_update(s, trid));
    return s;
}

struct lock_call {
    pid_t pid;
    int64_t ns;
    uint64_t object, caller;
};

/* The last mutex_lock of the process; pid 0: of any. */
static struct lock_call call_in(trace_id_t trid, pid_t pid)
{
    struct lock_call call = { 0 };
    struct posixtrace_event e;
    int unavailable = 0;

    ck_ok(posix_trace_rewind(trid));
    for (;;) {
        ck_ok(posixtrace_next_event(trid, &e, sizeof e, &unavailable));
        if (unavailable)
            break;
        if (e.id != POSIXTRACE_MUTEX_LOCK || (pid && e.pid != pid))
            continue;
        call.pid = e.pid;
        call.ns = e.ns;
        memcpy(&call.object, e.data, sizeof call.object);
        memcpy(&call.caller, (const char *)e.data + 8, sizeof call.caller);
    }
    ck_assert_int_ne(call.pid, 0);
    return call;
}

static const char *text_of(posixtrace_symbols_t *s, const struct lock_call *call, bool data)
{
    char *text = th_alloc(256);

    posixtrace_symbols_text(s, call->pid, call->ns, data ? call->object : call->caller,
                            data ? POSIXTRACE_ADDRESS_DATA : POSIXTRACE_ADDRESS_RETURN, text, 256);
    return text;
}

static const char *locker_text(void)
{
    char *text = th_alloc(256);

    snprintf(text, 256, "locker (test_mappings.c:%d)", LOCK_LINE);
    return text;
}

/* The last call of the log's process is that of locker() with this object. */
static void expect_locker(trace_id_t trid, pid_t pid, const char *object)
{
    posixtrace_symbols_t *s = symbols_of(trid, NULL);
    struct lock_call call = call_in(trid, pid);

    ck_assert_str_eq(text_of(s, &call, false), locker_text());
    ck_assert_str_eq(text_of(s, &call, true), object);
    posixtrace_symbols_free(s);
}

static void expect_locker_in(const char *path, pid_t pid, const char *object)
{
    trace_id_t trid = th_open(path);

    expect_locker(trid, pid, object);
    th_close(trid);
}

START_TEST(program)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);

    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    expect_locker_in(path, 0, "table_lock");
}
END_TEST

START_TEST(element_of_an_array)
{
    char path[TH_PATH], expected[64];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);

    locker(&locks[3]);
    ck_ok(posix_trace_shutdown(trid));
    snprintf(expected, sizeof expected, "locks+0x%zx", 3 * sizeof locks[0]);
    expect_locker_in(path, 0, expected);
}
END_TEST

START_TEST(names_of_cxx)
{
    bool readable = getenv("TEST_DEMANGLES") != NULL;
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    posixtrace_symbols_t *s;
    struct lock_call call;

    evict(2);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    s = symbols_of(trid, NULL);
    call = call_in(trid, 0);
    ck_assert_ptr_nonnull(
        strstr(text_of(s, &call, false), readable ? "cache::evict(int) (test_mappings.c:"
                                                  : "_ZN5cache5evictEi (test_mappings.c:"));
    ck_assert_str_eq(text_of(s, &call, true), readable ? "cache::lock" : "_ZN5cache4lockE");
    posixtrace_symbols_free(s);
    th_close(trid);
}
END_TEST

/* A lock on the stack has no name. */
START_TEST(unknown)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    posixtrace_symbols_t *s;
    struct posixtrace_symbol symbol;
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    struct lock_call call;

    locker(&own);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    s = symbols_of(trid, NULL);
    call = call_in(trid, 0);
    ck_assert_str_eq(text_of(s, &call, true), "");
    ck_assert(!posixtrace_symbols_find(s, call.pid, call.ns, call.object, POSIXTRACE_ADDRESS_DATA,
                                       &symbol, sizeof symbol));
    ck_assert(!posixtrace_symbols_find(s, call.pid + 1, call.ns, call.caller,
                                       POSIXTRACE_ADDRESS_RETURN, &symbol, sizeof symbol));
    ck_assert(posixtrace_symbols_find(s, call.pid, call.ns, call.caller, POSIXTRACE_ADDRESS_RETURN,
                                      &symbol, sizeof symbol));
    ck_assert_str_eq(symbol.name, "locker");
    ck_assert_int_eq(symbol.line, LOCK_LINE);
    ck_assert_uint_gt(symbol.in_name, 0);
    posixtrace_symbols_free(s);
    th_close(trid);
}
END_TEST

static void *load(void (**work)(void))
{
    void *module = dlopen(getenv("TEST_MODULE"), RTLD_NOW | RTLD_LOCAL);

    ck_assert_msg(module != NULL, "%s", dlerror());
    *(void **)work = dlsym(module, "module_work");
    ck_assert(*work != NULL);
    return module;
}

START_TEST(library)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    struct posixtrace_symbol symbol;
    posixtrace_symbols_t *s;
    struct lock_call call;
    void (*work)(void);
    void *module;

    locker(&table_lock);
    module = load(&work);
    work();
    dlclose(module);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    s = symbols_of(trid, NULL);
    call = call_in(trid, 0);
    ck_assert_ptr_nonnull(strstr(text_of(s, &call, false), "module_work (mapping_module.c:"));
    ck_assert_str_eq(text_of(s, &call, true), "module_lock");
    ck_assert(posixtrace_symbols_find(s, call.pid, call.ns, call.caller, POSIXTRACE_ADDRESS_RETURN,
                                      &symbol, sizeof symbol));
    ck_assert_str_eq(strrchr(symbol.path, '/'), strrchr(getenv("TEST_MODULE"), '/'));
    posixtrace_symbols_free(s);
    th_close(trid);
}
END_TEST

/* How many texts of that kind the log has of the process. */
static unsigned texts(trace_id_t trid, char kind, pid_t pid)
{
    char text[POSIXTRACE_MAPPING_MAX + 1], start[32];
    unsigned n = 0;

    snprintf(start, sizeof start, "%c %d ", kind, (int)pid);
    for (uint32_t i = 1; posixtrace_mapping_text(trid, i, text, sizeof text) == 0; i++)
        n += strncmp(text, start, strlen(start)) == 0;
    return n;
}

/* After dlclose() the next call finds that it is gone. */
START_TEST(library_that_is_gone)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    void (*work)(void);
    void *module = load(&work);

    work();
    dlclose(module);
    locker(&table_lock);
    module = load(&work);
    work();
    dlclose(module);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    ck_assert_uint_ge(texts(trid, '-', getpid()), 1);
    ck_assert_uint_ge(texts(trid, '+', getpid()), 1);
    th_close(trid);
}
END_TEST

/* Also where no stream traces the process when it goes. */
START_TEST(library_gone_between_streams)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    void (*work)(void);
    void *module = load(&work);

    work();
    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    dlclose(module);
    trid = begin(path, POSIX_TRACE_APPEND);
    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    ck_assert_uint_ge(texts(trid, '-', getpid()), 1);
    th_close(trid);
}
END_TEST

enum { PAGE = 65536 }; /* a multiple of each system's */

static void copy(const char *from, const char *to);

struct meeting {
    void (*work)(void);
    bool begins;
};

static void *works(void *context)
{
    struct meeting *meeting = context;

    while (!__atomic_load_n(&meeting->begins, __ATOMIC_ACQUIRE))
        ;
    for (int i = 0; i < 200; i++)
        meeting->work();
    return NULL;
}

/* Mappings enough that to read them takes longer than some calls. */
static void make_mappings(void)
{
    enum { COUNT = 4000 };
    char *at = mmap(NULL, COUNT * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0);

    ck_assert(at != MAP_FAILED);
    for (int i = 0; i < COUNT; i += 2)
        ck_assert_int_eq(mprotect(at + i * PAGE, PAGE, PROT_READ), 0);
}

/* Each call after that time that is not of this program has its caller in that library. */
static void expect_calls_in(trace_id_t trid, int64_t ns, const char *path)
{
    extern const char __executable_start[], etext[];
    posixtrace_symbols_t *s = symbols_of(trid, NULL);
    struct posixtrace_symbol symbol;
    struct posixtrace_event e;
    unsigned calls = 0;
    int end = 0;

    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end) {
        uint64_t caller;

        if (e.id != POSIXTRACE_MUTEX_LOCK || e.ns < ns)
            continue;
        memcpy(&caller, (const char *)e.data + 8, sizeof caller);
        if (caller >= (uintptr_t)__executable_start && caller < (uintptr_t)etext)
            continue;
        ck_assert(posixtrace_symbols_find(s, e.pid, e.ns, caller, POSIXTRACE_ADDRESS_RETURN,
                                          &symbol, sizeof symbol));
        ck_assert_str_eq(symbol.path, path);
        calls++;
    }
    ck_assert_uint_eq(calls, 400);
    posixtrace_symbols_free(s);
}

/* While one thread reads the mappings, another one records calls in a library that is where one was
 * that is gone. */
START_TEST(library_in_the_place_of_another)
{
    struct meeting meeting = { .begins = false };
    char path[TH_PATH], other[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    void *module = load(&meeting.work);
    struct th_thread thread[2];
    int64_t ns;

    close(th_file(other, O_RDWR));
    copy(getenv("TEST_MODULE"), other);
    make_mappings();
    meeting.work();
    for (int i = 0; i < 2; i++)
        th_thread_start(&thread[i], works, &meeting);
    dlclose(module);
    ns = th_now_ns();
    /* No traced call before theirs. */
    module = dlopen(other, RTLD_NOW | RTLD_LOCAL);
    *(void **)&meeting.work = dlsym(module, "module_work");
    __atomic_store_n(&meeting.begins, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        th_thread_join(&thread[i]);
    ck_ok(posix_trace_shutdown(trid));
    dlclose(module);
    trid = th_open(path);
    expect_calls_in(trid, ns, other);
    th_close(trid);
}
END_TEST

/* Also in a program that makes code itself, whose addresses are in no file. */
START_TEST(library_gone_among_unknown_addresses)
{
    enum { UNKNOWN = 100 }; /* not a power of 2 */
    char path[TH_PATH], *code = mmap(NULL, UNKNOWN * PAGE, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    void (*work)(void);
    void *module = load(&work);

    ck_assert(code != MAP_FAILED);
    work();
    for (int i = 0; i < UNKNOWN; i++)
        posixtrace_mapping_note(code + i * PAGE);
    dlclose(module);
    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    ck_assert_uint_ge(texts(trid, '-', getpid()), 1);
    th_close(trid);
    munmap(code, UNKNOWN * PAGE);
}
END_TEST

/* A file with a segment of code that is in its first page, as lld makes them. */
static int small_file(void)
{
    const struct {
        ElfW(Ehdr) file;
        ElfW(Phdr) segment[2];
    } headers = {
        .file = { .e_ident = ELFMAG,
                  .e_phoff = offsetof(__typeof__(headers), segment),
                  .e_phentsize = sizeof headers.segment[0],
                  .e_phnum = 2 },
        .segment = { { .p_type = PT_LOAD, .p_filesz = 0x300, .p_memsz = 0x300 },
                     { .p_type = PT_LOAD,
                       .p_offset = 0x300,
                       .p_vaddr = PAGE + 0x300,
                       .p_filesz = 0x100,
                       .p_memsz = 0x100 } },
    };
    int fd = memfd_create("small", MFD_CLOEXEC);

    ck_assert_int_eq(ftruncate(fd, PAGE), 0);
    ck_assert_int_eq(write(fd, &headers, sizeof headers), sizeof headers);
    return fd;
}

START_TEST(code_in_the_first_page)
{
    trace_id_t trid = th_stream(.stream_size = 65536);
    int fd = small_file();
    char *at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0), text[64];
    posixtrace_symbols_t *s;

    ck_assert(at != MAP_FAILED);
    ck_assert(mmap(at + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) !=
              MAP_FAILED);
    ck_ok(posix_trace_start(trid));
    posixtrace_mapping_note(at + PAGE + 0x300);
    s = symbols_of(trid, NULL);
    posixtrace_symbols_text(s, getpid(), 0, (uintptr_t)at + PAGE + 0x300, POSIXTRACE_ADDRESS_CODE,
                            text, sizeof text);
    ck_assert_str_eq(text, "memfd:small (deleted)+0x10300");
    posixtrace_symbols_free(s);
    ck_ok(posix_trace_shutdown(trid));
    munmap(at, 2 * PAGE);
    close(fd);
}
END_TEST

/* While there is no descriptor the mappings cannot be read; later calls try it again. */
START_TEST(no_descriptor_for_a_moment)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    struct rlimit before, none;
    posixtrace_symbols_t *s;
    struct lock_call call;
    void (*work)(void);
    void *module;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
    dlclose(load(&work));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    locker(&table_lock);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    module = load(&work);
    work();
    dlclose(module);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    s = symbols_of(trid, NULL);
    call = call_in(trid, 0);
    ck_assert_str_eq(text_of(s, &call, true), "module_lock");
    posixtrace_symbols_free(s);
    th_close(trid);
}
END_TEST

START_TEST(child)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    pid_t pid;

    locker(&table_lock);
    pid = fork();
    if (pid == 0) {
        locker(&table_lock);
        _exit(0);
    }
    th_reap(pid);
    ck_ok(posix_trace_shutdown(trid));
    expect_locker_in(path, pid, "table_lock");
    trid = th_open(path);
    ck_assert_uint_eq(texts(trid, '=', pid), 0);
    ck_assert_uint_eq(texts(trid, '<', pid), 1);
    th_close(trid);
}
END_TEST

/* The parent has noted nothing before the fork. */
START_TEST(first_call_in_the_child)
{
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    pid_t pid = fork();

    if (pid == 0) {
        locker(&table_lock);
        _exit(0);
    }
    th_reap(pid);
    ck_ok(posix_trace_shutdown(trid));
    expect_locker_in(path, pid, "table_lock");
}
END_TEST

/* A log that has overwritten all its first events. */
START_TEST(wrapped)
{
    struct posixtrace_info info;
    char path[TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_LOOP);
    unsigned rounds = 0;

    do {
        for (int i = 0; i < 500; i++)
            locker(&table_lock);
        ck_ok(posix_trace_flush(trid));
        th_wait_flushed(trid);
        ck_ok(posixtrace_get_info(trid, &info, sizeof info));
    } while (info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] < 5000 && ++rounds < 1000);
    ck_assert_uint_ge(info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN], 5000);
    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    expect_locker_in(path, 0, "table_lock");
}
END_TEST

/* What the stream still holds. */
START_TEST(snapshot)
{
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_LOOP, .stream_size = 65536);
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), r;

    ck_ok(posix_trace_start(trid));
    for (int i = 0; i < 20000; i++)
        locker(&table_lock);
    r = posixtrace_snapshot(trid, fd, NULL, 0);
    ck_ok(r);
    ck_ok(posix_trace_shutdown(trid));
    expect_locker_in(path, 0, "table_lock");
}
END_TEST

/* Texts about this process. */
static unsigned own_texts(trace_id_t trid)
{
    return texts(trid, '=', getpid()) + texts(trid, '<', getpid()) + texts(trid, '+', getpid());
}

START_TEST(live)
{
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_LOOP, .stream_size = 65536);
    char text[POSIXTRACE_MAPPING_MAX + 1];

    ck_ok(posix_trace_start(trid));
    locker(&table_lock);
    ck_assert_uint_ge(own_texts(trid), 1);
    ck_ok(posixtrace_mapping_text(trid, 1, text, sizeof text));
    ck_assert_int_eq(text[0], 'o');
    ck_fails(posixtrace_mapping_text(trid, 1, text, 2), ERANGE);
    ck_fails(posixtrace_mapping_text(trid, 0, text, sizeof text), EINVAL);
    ck_fails(posixtrace_mapping_text(trid, 1, NULL, sizeof text), EINVAL);
    ck_fails(posixtrace_mapping_text(trid, UINT32_MAX, text, sizeof text), ENOENT);
    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posixtrace_mapping_text(trid, 1, text, sizeof text), EINVAL);
}
END_TEST

/* A process that no stream traces notes nothing. */
START_TEST(untraced)
{
    trace_id_t trid;

    locker(&table_lock);
    posixtrace_mapping_note((const void *)(uintptr_t)locker);
    trid = th_stream(.stream_size = 65536);
    ck_assert_uint_eq(own_texts(trid), 0);
    ck_ok(posix_trace_start(trid));
    posixtrace_mapping_note((const void *)(uintptr_t)locker);
    ck_assert_uint_eq(own_texts(trid), 1);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void die(void *context)
{
    char path[TH_PATH];

    begin(path, POSIX_TRACE_APPEND);
    locker(&table_lock);
    *(pid_t *)context = getpid();
    strcpy((char *)context + sizeof(pid_t), path);
}

/* The log of a process that was killed before anything was in it, and completed. */
START_TEST(killed)
{
    struct {
        pid_t pid;
        char path[TH_PATH];
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0);
    struct posixtrace_recover_report report;
    int status, fd;
    pid_t pid;

    ck_assert(shared != MAP_FAILED);
    pid = fork();
    if (pid == 0) {
        die(shared);
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    expect_locker_in(shared->path, pid, "table_lock");
    fd = open(shared->path, O_RDWR);
    ck_ok(posixtrace_log_recover(fd, &report, sizeof report));
    close(fd);
    expect_locker_in(shared->path, pid, "table_lock");
    munmap(shared, sizeof *shared);
}
END_TEST

/* ---- another machine ---- */

static void copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    char block[65536];
    ssize_t n;

    ck_assert(in >= 0 && out >= 0);
    while ((n = read(in, block, sizeof block)) > 0)
        ck_assert_int_eq(write(out, block, (size_t)n), n);
    close(in);
    close(out);
}

/* The texts of the trace, with another path of this program. */
static posixtrace_symbols_t *moved(trace_id_t trid, const char *debug_dir, const char *exe,
                                   const char *path)
{
    char text[POSIXTRACE_MAPPING_MAX + 1], other[POSIXTRACE_MAPPING_MAX + 1];
    posixtrace_symbols_t *s;

    ck_ok(posixtrace_symbols_create(debug_dir, &s));
    for (uint32_t i = 1; posixtrace_mapping_text(trid, i, text, sizeof text) == 0; i++) {
        char *is = text[0] == 'o' ? strstr(text, exe) : NULL;

        if (is) {
            snprintf(other, sizeof other, "%.*s%s", (int)(is - text), text, path);
            ck_ok(posixtrace_symbols_add(s, i, other));
        } else {
            ck_ok(posixtrace_symbols_add(s, i, text));
        }
    }
    return s;
}

static void make_folder(char folder[TH_PATH])
{
    close(th_file(folder, O_RDWR));
    unlink(folder);
    ck_ok(mkdir(folder, 0700));
}

START_TEST(other_machine)
{
    char exe[PATH_MAX] = "", path[TH_PATH], folder[TH_PATH], file[2 * TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    posixtrace_symbols_t *s;
    struct lock_call call;
    const char *text;

    ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    call = call_in(trid, 0);
    make_folder(folder);
    /* Without the file. */
    s = moved(trid, folder, exe, "/nowhere/bin/app");
    text = text_of(s, &call, false);
    ck_assert_ptr_nonnull(strstr(text, "app+0x"));
    posixtrace_symbols_free(s);
    /* A file of that name that is another one. */
    snprintf(file, sizeof file, "%s/app", folder);
    copy("/proc/self/maps", file);
    s = moved(trid, folder, exe, "/nowhere/bin/app");
    ck_assert_str_eq(text_of(s, &call, false), text);
    posixtrace_symbols_free(s);
    copy(getenv("TEST_MODULE"), file);
    s = moved(trid, folder, exe, "/nowhere/bin/app");
    ck_assert_str_eq(text_of(s, &call, false), text);
    posixtrace_symbols_free(s);
    /* The file. */
    copy(exe, file);
    s = moved(trid, folder, exe, "/nowhere/bin/app");
    ck_assert_str_eq(text_of(s, &call, false), locker_text());
    ck_assert_str_eq(text_of(s, &call, true), "table_lock");
    posixtrace_symbols_free(s);
    th_close(trid);
}
END_TEST

/* A path in a log may name anything: nothing waits for it. */
START_TEST(strange_files)
{
    char exe[PATH_MAX] = "", path[TH_PATH], folder[TH_PATH], file[2 * TH_PATH];
    trace_id_t trid = begin(path, POSIX_TRACE_APPEND);
    const char *const names[] = { file, folder, "/dev/tty", "/dev/zero", "/proc/self/mem", "/" };
    struct lock_call call;

    ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
    locker(&table_lock);
    ck_ok(posix_trace_shutdown(trid));
    trid = th_open(path);
    call = call_in(trid, 0);
    make_folder(folder);
    snprintf(file, sizeof file, "%s/fifo", folder);
    ck_ok(mkfifo(file, 0600));
    for (size_t i = 0; i < TH_COUNT(names); i++) {
        posixtrace_symbols_t *s = moved(trid, NULL, exe, names[i]);

        ck_assert_ptr_nonnull(strstr(text_of(s, &call, false), "+0x"));
        posixtrace_symbols_free(s);
    }
    th_close(trid);
}
END_TEST

static void add(TCase *tc)
{
    th_use_folder_of_all(tc);
    /* First: with CK_FORK=no the other ones leave texts in the name map. */
    tcase_add_test(tc, untraced);
    tcase_add_test(tc, program);
    tcase_add_test(tc, element_of_an_array);
    tcase_add_test(tc, names_of_cxx);
    tcase_add_test(tc, unknown);
    tcase_add_test(tc, library);
    if (!is_under_valgrind()) {
        tcase_add_test(tc, library_that_is_gone);
        tcase_add_test(tc, library_gone_between_streams);
        tcase_add_test(tc, code_in_the_first_page);
        tcase_add_test(tc, library_gone_among_unknown_addresses);
        tcase_add_test(tc, library_in_the_place_of_another);
        tcase_add_test(tc, no_descriptor_for_a_moment);
    }
    tcase_add_test(tc, child);
    tcase_add_test(tc, first_call_in_the_child);
    tcase_add_test(tc, wrapped);
    tcase_add_test(tc, snapshot);
    tcase_add_test(tc, live);
    tcase_add_test(tc, killed);
    tcase_add_test(tc, other_machine);
    tcase_add_test(tc, strange_files);
}

int main(void)
{
    return posixtrace_symbols_have_names() ? th_main("mappings", add) : 77;
}
