/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The parser of expressions:
 *
 *   or    = and {"or" and}
 *   and   = not {"and" not}
 *   not   = "not" not | "(" or ")" | test
 *   test  = subject [[relation] value]
 *   value = integer | number | "string" | word
 *
 * "&&", "||" and "!" are the same words.  By recursive descent; the depth is bounded, so
 * that neither this nor the evaluation needs more of a stack than a handler has.
 */
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "model/decimal.h"
#include "model/expression.h"
#include "model/ctype_c.h"

struct parser {
    const char *from, *at;
    struct posixtrace_expression_fault *fault;
    struct pt_node *node;
    char *text;
    uint16_t nodes, used;
    unsigned depth;
    bool failed, fields;
};

struct word {
    const char *at;
    size_t len;
};

static const struct subject {
    char name[8];
    uint8_t subject;
    bool text;
} subjects[] = {
    { "event", PT_SUBJECT_EVENT, true },    { "class", PT_SUBJECT_CLASS, true },
    { "group", PT_SUBJECT_GROUP, true },    { "thread", PT_SUBJECT_THREAD, true },
    { "pid", PT_SUBJECT_PID, false },       { "tid", PT_SUBJECT_TID, false },
    { "length", PT_SUBJECT_LENGTH, false },
};

/* Bytes of the text that a fault shows. */
enum { FOUND_MAX = 20 };

static const struct relation {
    char sign[3];
    uint8_t relation;
} relations[] = {
    { "==", PT_EQUAL }, { "!=", PT_UNEQUAL }, { "<=", PT_LESS_EQUAL }, { ">=", PT_MORE_EQUAL },
    { "<", PT_LESS },   { ">", PT_MORE },     { "~", PT_LIKE },        { "=", PT_EQUAL },
};

static uint16_t fail(struct parser *p, const char *at, const char *what)
{
    char found[FOUND_MAX + 1] = "";
    size_t len;

    /* The caller may print the text on a terminal, so control characters are replaced. */
    for (len = 0; at[len] && len < FOUND_MAX && !pt_is_space(at[len]); len++)
        found[len] = pt_is_control(at[len]) ? '?' : at[len];
    if (!p->failed && p->fault) {
        p->fault->column = (size_t)(at - p->from) + 1;
        snprintf(p->fault->text, sizeof p->fault->text, "%s%s%s%s", what, len ? ", found '" : "",
                 found, len ? "'" : ", but it ends");
    }
    p->failed = true;
    return 0;
}

static void skip_space(struct parser *p)
{
    while (pt_is_space(*p->at))
        p->at++;
}

static struct word peek_word(struct parser *p)
{
    struct word w;

    skip_space(p);
    w.at = p->at;
    for (w.len = 0; pt_is_word_byte(w.at[w.len], w.len == 0); w.len++)
        ;
    return w;
}

static bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.at, text, w.len) == 0;
}

static bool take_sign(struct parser *p, const char *sign)
{
    skip_space(p);
    if (strncmp(p->at, sign, strlen(sign)) != 0)
        return false;
    p->at += strlen(sign);
    return true;
}

static bool take_word(struct parser *p, const char *word)
{
    struct word w = peek_word(p);

    if (!word_is(w, word))
        return false;
    p->at += w.len;
    return true;
}

static uint16_t keep_text(struct parser *p, const char *text, size_t len)
{
    uint16_t at = p->used;

    memcpy(p->text + at, text, len);
    p->text[at + len] = '\0';
    p->used = (uint16_t)(at + len + 1);
    return at;
}

static uint16_t add_node(struct parser *p, struct pt_node node)
{
    p->node[p->nodes] = node;
    return p->nodes++;
}

/* "..." with \" and \\ in it. */
static bool take_string(struct parser *p, struct pt_node *n)
{
    const char *begin = p->at++;

    n->operand = PT_OPERAND_STRING;
    n->string = p->used;
    for (; *p->at && *p->at != '"'; p->at++) {
        if (*p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\'))
            p->at++;
        p->text[p->used++] = *p->at;
    }
    p->text[p->used++] = '\0';
    if (*p->at != '"') {
        fail(p, begin, "the string has no end");
        return false;
    }
    p->at++;
    return true;
}

/* Has it a point or an exponent?  Its digits may begin with 0, and be more than 64 bits hold. */
static bool is_decimal(const char *at)
{
    at += *at == '-' || *at == '+';
    at += strspn(at, "0123456789");
    return *at == '.' || *at == 'e' || *at == 'E';
}

/* *fits: is there a double as large? */
static char *read_float(const char *at, struct pt_node *n, bool *fits)
{
    char *end;

    n->operand = PT_OPERAND_FLOAT;
    n->value.number = pt_decimal_read(at, &end);
    *fits = n->value.number <= DBL_MAX && n->value.number >= -DBL_MAX;
    return end;
}

/* *fits: has it 64 bits?  Keeps errno, as an event does that comes here. */
static char *read_integer(const char *at, struct pt_node *n, bool *fits)
{
    int saved = errno;
    char *end;

    errno = 0;
    n->operand = PT_OPERAND_INTEGER;
    n->negative = *at == '-';
    n->value.integer = n->negative ? (uint64_t)strtoll(at, &end, 0) : strtoull(at, &end, 0);
    n->negative = n->negative && n->value.integer != 0; /* -0 is 0 */
    *fits = errno != ERANGE;
    errno = saved;
    return end;
}

static bool take_number(struct parser *p, struct pt_node *n)
{
    bool fits;
    char *end = is_decimal(p->at) ? read_float(p->at, n, &fits) : read_integer(p->at, n, &fits);

    if (*end == '.') /* a hexadecimal one */
        end = read_float(p->at, n, &fits);
    if (end == p->at || !fits || pt_is_word_byte(*end, false)) {
        fail(p, p->at, "a number is expected");
        return false;
    }
    p->at = end;
    return true;
}

static bool take_value(struct parser *p, struct pt_node *n)
{
    struct word w = peek_word(p);

    if (*p->at == '"')
        return take_string(p, n);
    if (w.len == 0)
        return take_number(p, n);
    n->operand = PT_OPERAND_WORD;
    n->string = keep_text(p, w.at, w.len);
    p->at += w.len;
    return true;
}

static bool take_relation(struct parser *p, struct pt_node *n)
{
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (take_sign(p, relations[i].sign)) {
            n->relation = relations[i].relation;
            return true;
        }
    return false;
}

/* Checks that the relation fits the value, and the value its subject. */
static bool is_sound(struct parser *p, const char *at, const struct pt_node *n, bool text)
{
    bool string = n->operand == PT_OPERAND_STRING;

    if (n->subject != PT_SUBJECT_FIELD && (text != string || n->operand == PT_OPERAND_WORD))
        fail(p, at, text ? "a string is expected" : "a number is expected");
    else if (n->relation == PT_LIKE && !string)
        fail(p, at, "after ~ stands a pattern as a string");
    else if (string && n->relation != PT_EQUAL && n->relation != PT_UNEQUAL &&
             n->relation != PT_LIKE)
        fail(p, at, "strings are compared by ==, != and ~ only");
    else if (n->operand == PT_OPERAND_WORD && n->relation > PT_UNEQUAL)
        fail(p, at, "names of values are compared by == and != only");
    return !p->failed;
}

static uint16_t parse_test(struct parser *p)
{
    bool field = take_sign(p, "."), text = false;
    struct word w = peek_word(p);
    struct pt_node n = { .op = PT_NODE_TEST, .subject = PT_SUBJECT_FIELD, .relation = PT_TRUE };
    const char *at;

    if (w.len == 0)
        return fail(p, p->at,
                    "the name of a field, or event, class, group, pid, tid, thread or "
                    "length is expected");
    p->at += w.len;
    for (size_t i = 0; !field && i < sizeof subjects / sizeof *subjects; i++)
        if (word_is(w, subjects[i].name)) {
            n.subject = subjects[i].subject;
            text = subjects[i].text;
        }
    if (n.subject == PT_SUBJECT_FIELD) {
        p->fields = true;
        n.name = keep_text(p, w.at, w.len);
    }
    if (!take_relation(p, &n)) {
        if (n.subject == PT_SUBJECT_FIELD)
            return add_node(p, n);
        /* `event "a*"`, `tid 5` */
        n.relation = text ? PT_LIKE : PT_EQUAL;
    }
    skip_space(p);
    at = p->at;
    if (!take_value(p, &n) || !is_sound(p, at, &n, text))
        return 0;
    return add_node(p, n);
}

static uint16_t parse_or(struct parser *p);

/* Parses the expression after a "not" or a bracket at at. */
static uint16_t parse_inner(struct parser *p, const char *at, uint16_t (*parse)(struct parser *p))
{
    uint16_t inner;

    if (p->depth == PT_EXPRESSION_DEPTH)
        return fail(p, at, "more than 16 brackets and nots in each other");
    p->depth++;
    inner = parse(p);
    pt_assert(p->depth > 0 && p->depth <= PT_EXPRESSION_DEPTH);
    p->depth--;
    return inner;
}

static uint16_t parse_not(struct parser *p)
{
    const char *at;
    uint16_t inner;

    skip_space(p);
    at = p->at;
    if (take_word(p, "not") || (strncmp(p->at, "!=", 2) != 0 && take_sign(p, "!"))) {
        inner = parse_inner(p, at, parse_not);
        return p->failed ? 0 : add_node(p, (struct pt_node){ .op = PT_NODE_NOT, .child = inner });
    }
    if (!take_sign(p, "("))
        return parse_test(p);
    inner = parse_inner(p, at, parse_or);
    if (!p->failed && !take_sign(p, ")"))
        return fail(p, p->at, "a bracket is not closed");
    return inner;
}

/* Parses operands with a word or sign between them; several get one common parent. */
static uint16_t parse_several(struct parser *p, uint16_t (*parse)(struct parser *p),
                              const char *word, const char *sign, enum pt_node_op op)
{
    uint16_t first = parse(p), last = first, next;
    bool several = false;

    while (!p->failed && (take_word(p, word) || take_sign(p, sign))) {
        next = parse(p);
        pt_assert(p->failed || (last < p->nodes && next < p->nodes && next > last));
        p->node[last].next = (uint16_t)(next + 1);
        last = next;
        several = true;
    }
    if (!several || p->failed)
        return first;
    return add_node(p, (struct pt_node){ .op = (uint8_t)op, .child = first });
}

static uint16_t parse_and(struct parser *p)
{
    return parse_several(p, parse_not, "and", "&&", PT_NODE_AND);
}

static uint16_t parse_or(struct parser *p)
{
    return parse_several(p, parse_and, "or", "||", PT_NODE_OR);
}

int pt_expression_build(const char *text, void *room, size_t *used,
                        struct posixtrace_expression_fault *fault)
{
    struct posixtrace_expression *e = room;
    struct parser p = { .from = text, .at = text, .fault = fault, .node = e->node };
    size_t len = strnlen(text, POSIXTRACE_EXPRESSION_MAX + 1);

    if (len > POSIXTRACE_EXPRESSION_MAX)
        return -ENAMETOOLONG;
    /* Each node, and each text with its NUL, needs at least one byte of the input. */
    p.text = (char *)(p.node + len + 1);
    parse_or(&p);
    skip_space(&p);
    if (!p.failed && *p.at)
        fail(&p, p.at, "and, or or the end is expected");
    if (p.failed)
        return -EINVAL;
    /* A node, and a text with its NUL, stand for one byte of the input at least each. */
    pt_assert(p.depth == 0 && p.nodes > 0 && p.nodes <= len && p.used <= len + 1);
    *e = (struct posixtrace_expression){ .nodes = p.nodes, .text = p.used, .fields = p.fields };
    memmove(e->node + e->nodes, p.text, p.used);
    if (used)
        *used = sizeof *e + p.nodes * sizeof *e->node + p.used;
    return 0;
}

int pt_expression_parse(const char *text, struct posixtrace_expression **expression,
                        struct posixtrace_expression_fault *fault)
{
    void *room = malloc(pt_expression_room(strnlen(text, POSIXTRACE_EXPRESSION_MAX)));
    void *less;
    size_t used;
    int r = room ? pt_expression_build(text, room, &used, fault) : -ENOMEM;

    if (r < 0) {
        free(room);
        return r;
    }
    less = realloc(room, used);
    *expression = less ? less : room;
    return 0;
}
