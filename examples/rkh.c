/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * RKH's trace interface, as in its manual: symbols, filters, a user event; and the stream
 * as the bytes that a target would send, on standard output.
 *
 *     rkh > target.bin && posixtrace import --from=rkh target.bin target.ptl
 */
#include <errno.h>
#include <stdio.h>
#include <trace.h>
#include <posixtrace/rkh.h>

enum { PRESSURE = 3, IGNORED = 4 };
enum { START = 7, STOP = 8 };

static int pump;

static void trace_something(void)
{
    const uint64_t dispatched[] = { POSIXTRACE_RKH_POINTER(&pump), START, 0 };
    const uint64_t stopped[] = { POSIXTRACE_RKH_POINTER(&pump), STOP, 0 };
    const uint8_t raw[] = { 0x7e, 0x7d, 0x00 };

    posixtrace_rkh_record(RKH_TE_SM_DCH, 1, START, dispatched, 3);
    posixtrace_rkh_record(RKH_TE_SM_DCH, 1, STOP, stopped, 3);
    RKH_TRC_USR_BEGIN(PRESSURE)
    RKH_TUSR_OBJ(&pump);
    RKH_TUSR_UI16(3, 42);
    RKH_TUSR_I8(0, -1);
    RKH_TUSR_STR("bar");
    RKH_TUSR_MEM(raw, sizeof raw);
    RKH_TUSR_SIG(START);
    RKH_TRC_USR_END();
    RKH_TRC_USR_BEGIN(IGNORED)
    RKH_TUSR_UI8(0, 1);
    RKH_TRC_USR_END();
}

/* All that is there now. */
static int send(posixtrace_rkh_bytes_t *bytes)
{
    char block[256];
    size_t got;
    int error;

    do {
        error = posixtrace_rkh_get(bytes, block, sizeof block, &got);
        fwrite(block, 1, got, stdout);
    } while (!error && got);
    return error;
}

int main(void)
{
    posixtrace_rkh_bytes_t *bytes;
    trace_id_t trid;
    int error = posix_trace_create(0, NULL, &trid);

    if (error || (error = posix_trace_start(trid)) || (error = posixtrace_rkh_open(trid, &bytes))) {
        errno = error;
        perror("rkh");
        return 1;
    }
    trace_something(); /* all filters are on: nothing */
    RKH_FILTER_OFF_GROUP_ALL_EVENTS(RKH_TG_USR);
    RKH_FILTER_ON_EVENT(RKH_TE_USER + IGNORED);
    RKH_FILTER_OFF_EVENT(RKH_TE_SM_DCH);
    RKH_FILTER_OFF_ALL_SMA();
    RKH_FILTER_OFF_SIGNAL(START);
    RKH_TR_FWK_AO(&pump);
    RKH_TR_FWK_SIG(START);
    RKH_TR_FWK_TUSR(PRESSURE);
    trace_something();
    error = send(bytes);
    trace_something();
    error = error ? error : send(bytes);
    posixtrace_rkh_close(bytes);
    posix_trace_shutdown(trid);
    return error || fflush(stdout) ? 1 : 0;
}
