/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The target: an address from the command line; user and password from the environment or a file,
 * since other users of the machine can read the words of a command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tool.h"
#include "load/load.h"
#include "load/load_curl.h"

enum { SECRETS_MAX = 4096 };

static int bad_address(const char *text, const char *why)
{
    return tool_usage("--to=%s: %s; it is http://HOST:8123/DATABASE, or https", unquoted(text),
                      why);
}

static char *part(CURLU *u, CURLUPart which, unsigned flags)
{
    char *text = NULL, *copy;

    if (load_curl.url_get(u, which, &text, flags) != CURLUE_OK)
        return NULL;
    copy = tool_grow(NULL, strlen(text) + 1, 1);
    strcpy(copy, text);
    load_curl.free(text);
    return copy;
}

/* One part of a path, without the slash before it. */
static int set_database(struct load_target *t, CURLU *u, const char *text)
{
    char *path = part(u, CURLUPART_PATH, CURLU_URLDECODE);

    if (!path || path[0] != '/' || path[1] == '\0' || strchr(path + 1, '/')) {
        free(path);
        return bad_address(text, "it names no database");
    }
    memmove(path, path + 1, strlen(path));
    t->database = path;
    return EXIT_DONE;
}

static int set_parts(struct load_target *t, CURLU *u, const char *text)
{
    char *scheme = NULL, *user = NULL, *query = NULL;
    bool is_http;

    if (load_curl.url_set(u, CURLUPART_URL, text, 0) != CURLUE_OK)
        return bad_address(text, "that is not an address");
    scheme = part(u, CURLUPART_SCHEME, 0);
    is_http = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    free(scheme);
    if (!is_http)
        return bad_address(text, "it is neither http nor https");
    user = part(u, CURLUPART_USER, 0);
    query = part(u, CURLUPART_QUERY, 0);
    free(user);
    free(query);
    if (user)
        return tool_usage("--to has a user: other users can read the command line; set "
                          "POSIXTRACE_LOAD_USER and POSIXTRACE_LOAD_PASSWORD, or --auth-file");
    if (query)
        return bad_address(text, "it has a '?'");
    if (set_database(t, u, text) != EXIT_DONE)
        return EXIT_USAGE;
    load_curl.url_set(u, CURLUPART_PATH, "", 0);
    load_curl.url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    t->url = part(u, CURLUPART_URL, 0);
    if (!t->url)
        return bad_address(text, "that is not an address");
    if (t->url[strlen(t->url) - 1] == '/')
        t->url[strlen(t->url) - 1] = '\0';
    return EXIT_DONE;
}

static char *copy_secret(const char *text)
{
    char *copy = tool_grow(NULL, strlen(text) + 1, 1);

    return strcpy(copy, text);
}

/* A header is a line. */
static int check_secret(const char *what, const char *text)
{
    for (const char *at = text; text && *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return tool_error("%s has a control character, which no header can carry", what);
    return EXIT_DONE;
}

/* The first line is the user, the second the password. */
static int take_lines(struct load_target *t, char *text, const char *path)
{
    char *rest = text, *user = strsep(&rest, "\n"), *password = rest ? strsep(&rest, "\n") : NULL;

    if (!password || (rest && *rest))
        return tool_error("%s: it has not two lines, user and password", quote(path));
    t->user = copy_secret(user);
    t->password = copy_secret(password);
    return EXIT_DONE;
}

static int read_secrets(struct load_target *t, const char *path)
{
    char text[SECRETS_MAX + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), status = EXIT_DONE;
    struct stat st;
    ssize_t got = 0;

    if (fd < 0)
        return tool_error("cannot open %s: %s", quote(path), strerror(errno));
    if (fstat(fd, &st) != 0)
        status = tool_error("cannot read %s: %s", quote(path), strerror(errno));
    else if (S_ISREG(st.st_mode) && (st.st_mode & (S_IRWXG | S_IRWXO)))
        status = tool_error("%s: other users may read it (mode %03o); chmod 600", quote(path),
                            (unsigned)st.st_mode & 0777);
    if (status == EXIT_DONE) {
        got = read(fd, text, SECRETS_MAX);
        if (got < 0)
            status = tool_error("cannot read %s: %s", quote(path), strerror(errno));
    }
    close(fd);
    if (status != EXIT_DONE)
        return status;
    text[got] = '\0';
    status = take_lines(t, text, path);
    explicit_bzero(text, sizeof text);
    return status;
}

static int set_secrets(struct load_target *t)
{
    const char *user = getenv("POSIXTRACE_LOAD_USER");
    const char *password = getenv("POSIXTRACE_LOAD_PASSWORD");
    int status = EXIT_DONE;

    if (t->options->auth_file) {
        status = read_secrets(t, t->options->auth_file);
    } else {
        if (user && *user)
            t->user = copy_secret(user);
        if (password && *password)
            t->password = copy_secret(password);
    }
    if (status == EXIT_DONE)
        status = check_secret("the user", t->user);
    if (status == EXIT_DONE)
        status = check_secret("the password", t->password);
    return status;
}

int load_target_init(struct load_target *t, const struct load_options *options)
{
    CURLU *u;
    int status;

    memset(t, 0, sizeof *t);
    t->options = options;
    status = load_curl_begin();
    if (status != EXIT_DONE)
        return status;
    u = load_curl.url();
    if (!u)
        return tool_error("cannot use libcurl: no memory");
    status = set_parts(t, u, options->to);
    load_curl.url_cleanup(u);
    return status == EXIT_DONE ? set_secrets(t) : status;
}

void load_target_free(struct load_target *t)
{
    if (t->password)
        explicit_bzero(t->password, strlen(t->password));
    free(t->password);
    free(t->user);
    free(t->url);
    free(t->database);
}
