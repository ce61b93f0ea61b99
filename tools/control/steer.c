/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See steer.h.
 */
#include "control/steer.h"

#include <stddef.h>
#include <posixtrace/attach.h>

#include "common/options.h"
#include "input/stream_find.h"
#include "common/tool.h"

/* The operand alone; EXIT_DONE, or the status to end with. */
static int read_operand(struct options *o, const char **word)
{
    int code;

    *word = NULL;
    while ((code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            *word = NULL;
            return o->status;
        }
        if (*word)
            return tool_usage("one stream at a time: %s and %s", quote(*word), quote(o->value));
        *word = o->value;
    }
    return *word ? EXIT_DONE : tool_usage("no process or stream named");
}

int steer_attach(struct options *o, const char **word, struct posixtrace_stream *stream,
                 trace_id_t *trid)
{
    int status = read_operand(o, word);

    *trid = 0;
    /* no word: --help was printed */
    if (status == EXIT_DONE && *word) {
        status = stream_attach(*word, stream, trid);
        if (status != EXIT_DONE)
            *trid = 0;
    }
    return status;
}

int steer(struct options *o, int (*act)(trace_id_t trid))
{
    struct posixtrace_stream stream;
    const char *word;
    trace_id_t trid;
    int status = steer_attach(o, &word, &stream, &trid), error;

    if (!trid)
        return status;
    error = act(trid);
    posixtrace_detach(trid);
    return error ? stream_error(&stream, tool_verb(), error) : EXIT_DONE;
}
