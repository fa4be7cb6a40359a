// SPDX-License-Identifier: Apache-2.0
#include "ask.h"

#include <stdbool.h>
#include <stddef.h>

#include <ringmaster/request.h>

static uint64_t const TIMEOUT_NS = 200000000;

enum { TRIES = 10 };

/** RM_OK with a verdict in `reply`; anything else may be tried again. */
static enum rm_code ask_once(struct premortem_action const *action, char const *workspace_name,
                             struct rm_reply *reply) {
    struct rm_workspace *workspace = NULL;
    struct rm_owner *owner = NULL;
    enum rm_code code = rm_workspace_attach(workspace_name, 0, &workspace, NULL);
    if (code == RM_OK)
        code = rm_owner_new_requester(workspace_name, "premortem", &owner, NULL);
    if (code == RM_OK) {
        rm_owner_requests(owner);
        code = rm_owner_open(owner, NULL);
    }
    if (code == RM_OK)
        code = rm_requests_put(owner, workspace, action->parameter, 0, &action->value, sizeof action->value, TIMEOUT_NS,
                               reply, NULL);
    rm_owner_close(owner);
    rm_workspace_detach(workspace);
    return code;
}

static void work_on(struct premortem_asks *asks, struct premortem_ask *ask, struct premortem_action const *action,
                    char const *workspace) {
    uint32_t const wanted = atomic_load_explicit(&ask->wanted, memory_order_acquire);
    if (wanted == ask->done)
        return;
    struct rm_reply reply = {.verdict = RM_VERDICT_REFUSED};
    bool const is_answered = workspace != NULL && ask_once(action, workspace, &reply) == RM_OK;
    if (workspace != NULL && !is_answered && ++ask->tries < TRIES)
        return;
    ask->done = wanted;
    ask->tries = 0;
    bool const is_granted = is_answered && reply.verdict == RM_VERDICT_DONE;
    atomic_fetch_add_explicit(is_granted ? &asks->granted : &asks->refused, 1, memory_order_relaxed);
}

void premortem_asks_work(struct premortem_asks *asks, struct premortem_file const *file, char const *workspace) {
    for (uint32_t i = 0; i < file->actions; ++i)
        if (file->action[i].parameter != NULL)
            work_on(asks, &asks->ask[i], &file->action[i], workspace);
}
