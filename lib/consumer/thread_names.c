/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See thread_names.h. */
#include <string.h>
#include "consumer/thread_names.h"
#include "process/thread_name.h"

#define AGAIN_NS 1000000000u

bool pt_thread_name_is_due(struct pt_name_turn *turn, uint64_t *read_at)
{
    if (!turn->all && (turn->left == 0 || (*read_at != 0 && turn->now - *read_at < AGAIN_NS)))
        return false;
    turn->left -= turn->left > 0;
    *read_at = turn->now;
    return true;
}

static void read_one(struct pt_account *t, struct pt_name_turn *turn)
{
    char name[16];

    if (!t->used || t->source != PT_TALLY_SLOT || t->author.tid <= 0 ||
        !pt_thread_name_is_due(turn, &t->named_at) ||
        !pt_thread_name_read(t->author.pid, t->author.tid, name) ||
        memcmp(name, t->author.name, sizeof name) == 0)
        return;
    memcpy(t->author.name, name, sizeof name);
    t->changed = true;
}

void pt_accounts_read_names(struct pt_accounts *a, struct pt_name_turn *turn)
{
    /* From where the last round stopped, so that each of very many threads has its turn. */
    for (uint32_t i = 0; i < a->room && (turn->all || turn->left); i++)
        read_one(&a->tally[a->name_at++ % a->room], turn);
}
