/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See load_curl.h.
 */
#include "load/load_curl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/tool.h"

/* The number has not changed since 2006. */
#define LIBRARY "libcurl.so.4"

#define NAME(name) { "curl_" #name, offsetof(struct load_curl, name) },

struct load_curl load_curl;

static const struct {
    const char *name;
    size_t place;
} functions[] = { LOAD_CURL_FUNCTIONS(NAME) };

static bool find(void *library)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (!function)
            return false;
        memcpy((char *)&load_curl + functions[i].place, &function, sizeof function);
    }
    return true;
}

int load_curl_begin(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library || !find(library))
        return tool_error("cannot use libcurl, which this verb needs: %s", dlerror());
    if (load_curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return tool_error("cannot use libcurl: no memory");
    return EXIT_DONE;
}
