/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See top_terminal.h.  Sequences are those that every terminal since the VT220 and all emulators of
 * xterm know.  A signal handler only writes a byte into a pipe, which the wait for keys finds.
 */
#include "top/top_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/tool.h"
#include "top/top_screen.h"

#define ENTER "\033[?1049h\033[?25l\033[H\033[2J"
#define LEAVE "\033[0m\033[?25h\033[?1049l"

static struct {
    bool screen, changed; /* is wanted; is now */
    bool keys;            /* standard input is a terminal */
    struct termios before;
    int pipe[2];
} terminal = { .pipe = { -1, -1 } };

static volatile sig_atomic_t ended_by, resized, stopped;

/* ---- signals ---- */

static void take_signal(int number)
{
    int error = errno;

    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGTSTP)
        stopped = 1;
    else
        ended_by = number;
    if (write(terminal.pipe[1], "", 1) < 0)
        errno = error; /* it is full: the wait ends anyway */
    errno = error;
}

/* One that is ignored (nohup) stays so. */
static void catch (int number)
{
    struct sigaction action = { .sa_handler = take_signal }, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void catch_all(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    if (pipe2(terminal.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        terminal.pipe[0] = terminal.pipe[1] = -1;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        catch (numbers[i]);
    if (terminal.screen) {
        catch (SIGTSTP);
        catch (SIGWINCH);
    }
}

int top_terminal_signal(void)
{
    return ended_by;
}

/* ---- output ---- */

/* A terminal that takes nothing (Ctrl-S) keeps the program waiting until a signal comes. */
static bool put_all(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(STDOUT_FILENO, text, length);

        if (n < 0 && errno == EINTR && !ended_by)
            continue;
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

            if (poll(&p, 1, -1) < 0 && ended_by)
                return false;
            continue;
        }
        if (n <= 0)
            return false;
        text += n;
        length -= (size_t)n;
    }
    return true;
}

static bool put(const char *text)
{
    return put_all(text, strlen(text));
}

void top_terminal_draw(const struct top_screen *s)
{
    size_t size = 64, length = 0;
    char *all;

    for (size_t i = 0; i < s->count; i++)
        size += strlen(s->lines[i].text) + 40;
    all = tool_grow(NULL, size, 1);
    length = (size_t)(stpcpy(all, "\033[H") - all);
    for (size_t i = 0; i < s->count; i++) {
        char *at = stpcpy(all + length, colour_code(s->lines[i].colour));

        at = stpcpy(at, s->lines[i].text);
        at = stpcpy(at, colour_code(COLOUR_PLAIN));
        at = stpcpy(at, i + 1 < s->count ? "\033[K\r\n" : "\033[K\033[J");
        length = (size_t)(at - all);
    }
    if (!put_all(all, length) && !ended_by && (errno == EIO || errno == EPIPE))
        ended_by = SIGHUP;
    free(all);
}

/* ---- the terminal ---- */

static void enter(void)
{
    struct termios raw = terminal.before;

    if (terminal.keys) {
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    terminal.changed = true;
    put(ENTER);
}

static void leave(void)
{
    if (!terminal.changed)
        return;
    terminal.changed = false;
    put(LEAVE);
    if (terminal.keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
}

void top_terminal_begin(bool screen)
{
    terminal.screen = screen;
    terminal.keys = screen && isatty(STDIN_FILENO) &&
                    tcgetattr(STDIN_FILENO, &terminal.before) == 0;
    catch_all();
    if (!screen)
        return;
    atexit(leave);
    enter();
}

void top_terminal_end(void)
{
    leave();
}

void top_terminal_size(size_t *columns, size_t *rows)
{
    struct winsize size;

    *columns = 80;
    *rows = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return;
    if (size.ws_col > 0)
        *columns = size.ws_col;
    if (size.ws_row > 0)
        *rows = size.ws_row;
}

/* The shell gets the terminal as it was, and gives it back with SIGCONT. */
static void stop(void)
{
    struct sigaction action = { .sa_handler = SIG_DFL }, before;

    leave();
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, &before);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &before, NULL);
    stopped = 0;
    if (terminal.keys)
        tcgetattr(STDIN_FILENO, &terminal.before);
    enter();
}

/* ---- waiting ---- */

static void empty_pipe(void)
{
    char bytes[64];

    while (read(terminal.pipe[0], bytes, sizeof bytes) > 0)
        ;
}

static enum top_event read_key(unsigned char *key)
{
    ssize_t n = read(STDIN_FILENO, key, 1);

    if (n == 1)
        return TOP_KEY;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return TOP_TIMEOUT;
    ended_by = SIGHUP;
    return TOP_OVER;
}

enum top_event top_terminal_wait(int64_t ns, unsigned char *key)
{
    struct pollfd p[] = { { .fd = terminal.pipe[0], .events = POLLIN },
                          { .fd = terminal.keys ? STDIN_FILENO : -1, .events = POLLIN } };
    struct timespec most = { ns / 1000000000, ns % 1000000000 };
    int n = ended_by || resized || stopped ? 0 : ppoll(p, 2, ns < 0 ? NULL : &most, NULL);

    if (ended_by)
        return TOP_OVER;
    if (stopped) {
        stop();
        resized = 1;
    }
    empty_pipe();
    if (resized) {
        resized = 0;
        return TOP_RESIZED;
    }
    return n > 0 && p[1].revents ? read_key(key) : TOP_TIMEOUT;
}
