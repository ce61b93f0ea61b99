/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Expressions over events (posixtrace/filter.h), compiled: a tree of nodes in one allocation
 * without pointers, so that it can be copied and mapped anywhere.  Children come before their
 * parents; the last node is the root.
 */
#ifndef PT_MODEL_EXPRESSION_H
#define PT_MODEL_EXPRESSION_H

#include <posixtrace/filter.h>

#define PT_EXPRESSION_DEPTH 16u /* of brackets and nots, and so of the evaluation */

enum pt_node_op { PT_NODE_AND, PT_NODE_OR, PT_NODE_NOT, PT_NODE_TEST };

enum pt_subject {
    PT_SUBJECT_EVENT,
    PT_SUBJECT_CLASS,
    PT_SUBJECT_GROUP, /* the type's name */
    PT_SUBJECT_PID,
    PT_SUBJECT_TID,
    PT_SUBJECT_THREAD,
    PT_SUBJECT_LENGTH,
    PT_SUBJECT_FIELD
};

enum pt_relation {
    PT_EQUAL,
    PT_UNEQUAL,
    PT_LESS,
    PT_LESS_EQUAL,
    PT_MORE,
    PT_MORE_EQUAL,
    PT_LIKE,
    PT_TRUE
};

enum pt_operand { PT_OPERAND_INTEGER, PT_OPERAND_FLOAT, PT_OPERAND_STRING, PT_OPERAND_WORD };

struct pt_node {
    uint8_t op, subject, relation, operand;
    uint16_t child;        /* AND, OR: the first of several; NOT: the one */
    uint16_t next;         /* the next child of the same parent, plus 1; 0: the last */
    uint16_t name, string; /* offsets of texts: the field's name, the value */
    bool negative;         /* the integer is below 0 */
    union {
        uint64_t integer;
        double number;
    } value;
};

struct posixtrace_expression {
    uint16_t nodes, text;  /* number of nodes; bytes of text after them */
    bool fields;           /* some test is of a field */
    struct pt_node node[]; /* then the texts, NUL-terminated */
};

static inline const char *pt_expression_text(const struct posixtrace_expression *e, uint16_t at)
{
    return (const char *)(e->node + e->nodes) + at;
}

/* 0, -EINVAL with *fault, -ENAMETOOLONG, -ENOMEM. */
int pt_expression_parse(const char *text, struct posixtrace_expression **expression,
                        struct posixtrace_expression_fault *fault);

/* posixtrace_expression_from_patterns(), of patterns that are not NULL and a *fault that is
 * zero.  0, -EINVAL, -ENAMETOOLONG, -ENOMEM. */
int pt_expression_from_patterns(const char *const *patterns, size_t count, char *expression,
                                struct posixtrace_expression_fault *fault);

/* Memory for an expression of a text of that length, and while it is parsed. */
static inline size_t pt_expression_room(size_t len)
{
    return sizeof(struct posixtrace_expression) + (len + 1) * sizeof(struct pt_node) + 2 * len + 2;
}
/* The same in memory of the caller's, without allocation: async-signal-safe where fault is
 * NULL.  The expression begins where room does.  *used, or NULL: its bytes. */
int pt_expression_build(const char *text, void *room, size_t *used,
                        struct posixtrace_expression_fault *fault);

/* The event or type for which an expression is evaluated. */
struct pt_subject_event {
    const char *name;
    const struct posixtrace_event *event;   /* NULL: of a type */
    const struct posixtrace_layout *layout; /* or NULL */
    /* For a type without an event: */
    bool may_describe; /* without layout: one may be added later */
    int32_t pid;       /* the only process in question; 0: any */
};
/* The i-th test of a type's name or a field, or NULL. */
const struct pt_node *pt_expression_test(const struct posixtrace_expression *e, size_t i);
/* Has the type of that name and layout (or NULL) the name of the test, or its field, of a kind that
 * the test compares? */
bool pt_expression_test_suits(const struct posixtrace_expression *e, const struct pt_node *test,
                              const char *event_name, const struct posixtrace_layout *layout);

/* 0, 1, or -1: it depends on the event. */
int pt_expression_value(const struct posixtrace_expression *e, const struct pt_subject_event *s);

#endif
