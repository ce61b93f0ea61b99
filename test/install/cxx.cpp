/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The headers work in C++, twice over and in any order, and a C++ program
 * links, records an event and reads it back.
 */
#include <posixtrace/stream.h>
#include <posixtrace/log.h>
#include <posixtrace/info.h>
#include <posixtrace/event.h>
#include <trace.h>
#include <trace.h>
#include <posixtrace/event.h>

#include <cstdio>
#include <cstring>

namespace
{

int fail(const char *what, int error)
{
    std::fprintf(stderr, "cxx: %s: %d\n", what, error);
    return 1;
}

} // namespace

int main()
{
    trace_event_id_t id;
    trace_id_t trid;
    posix_trace_event_info info;
    char data[16];
    size_t length = 0;
    int error, unavailable = 0;
    bool seen = false;

    if ((error = posix_trace_eventid_open("from C++", &id)))
        return fail("posix_trace_eventid_open", error);
    if ((error = posix_trace_create(0, nullptr, &trid)))
        return fail("posix_trace_create", error);
    if ((error = posix_trace_start(trid)))
        return fail("posix_trace_start", error);
    posix_trace_event(id, "data", 4);
    while (!(error = posix_trace_trygetnext_event(trid, &info, data, sizeof data, &length,
                                                  &unavailable)) &&
           !unavailable)
        seen |= info.posix_event_id == id && length == 4 && !std::memcmp(data, "data", 4);
    if (error)
        return fail("posix_trace_trygetnext_event", error);
    if (!seen)
        return fail("the event was not read back", 0);
    if ((error = posix_trace_shutdown(trid)))
        return fail("posix_trace_shutdown", error);
    return 0;
}
