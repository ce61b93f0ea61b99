/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See demangle.h: by the function of libstdc++ that the Itanium C++ ABI defines. */
#include <stddef.h>
#include <string.h>
#include "analysis/symbols/demangle.h"

#ifdef PT_HAVE_CXXABI

enum { NAME_MAX_LENGTH = 1000 };

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

char *pt_demangle(const char *name)
{
    char plain[NAME_MAX_LENGTH + 1];
    size_t length = strcspn(name, "@");
    int status;

    if (strncmp(name, "_Z", 2) != 0 || length > NAME_MAX_LENGTH)
        return NULL;
    memcpy(plain, name, length);
    plain[length] = '\0';
    return __cxa_demangle(plain, NULL, NULL, &status);
}

#else

char *pt_demangle(const char *name)
{
    (void)name;
    return NULL;
}

#endif
