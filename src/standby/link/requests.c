// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "standby/link/process.h"

static struct rm_parameter *parameter_of(struct rm_peer_process *process, enum rm_peer_parameter index) {
    return process->segment.parameter[index];
}

void rm_peer_requests_begin(struct rm_peer_process *process) {
    struct rm_peer_link *const link = &process->link;
    if (rm_owner_adopted(process->segment.owner)) {
        /* What an earlier process left: a number that was never written is 0. */
        double const kept = rm_parameter_read_f64(parameter_of(process, RM_PEER_PARAMETER_ACKNOWLEDGE));
        link->hold = link->hold || rm_parameter_read_f64(parameter_of(process, RM_PEER_PARAMETER_HOLD)) > 0.5;
        if (kept > (double)link->acknowledged)
            link->acknowledged = (uint64_t)kept;
    }
    rm_parameter_write_f64(parameter_of(process, RM_PEER_PARAMETER_HOLD), link->hold, rm_stamp_now());
}

void rm_peer_requests_ask_state(struct rm_peer_process *process, uint32_t application) {
    char name[RM_NAME_BYTES];
    double const one = 1.0;
    uint64_t number;
    snprintf(name, sizeof name, "%s/state_wanted", process->own.application[application].name);
    if (process->own.workspace != NULL)
        (void)rm_requests_post(process->segment.owner, process->own.workspace, name, 0, &one, sizeof one, &number,
                               NULL); // it is asked again where no state comes
}

static void answer(struct rm_peer_process *process, struct rm_request const *request, char const *refusal) {
    rm_inbox_answer(process->segment.inbox, request, refusal == NULL ? RM_VERDICT_DONE : RM_VERDICT_REFUSED, refusal);
}

static void switch_begin(struct rm_peer_process *process, struct rm_request const *request, double turn,
                         uint64_t now_ns) {
    char const *refusal = "put 1, or the turn at which the servers shall switch";
    if (process->is_switching)
        refusal = "a switch is being agreed already";
    else if (turn >= 1.0)
        refusal = rm_peer_link_switch(&process->link, turn < 2.0 ? 0 : (rm_turn)turn, now_ns);
    if (refusal != NULL) {
        answer(process, request, refusal);
        return;
    }
    process->switching = *request;
    process->is_switching = true;
}

/** Answers the request to switch when it is known what came of it. */
static void switch_go_on(struct rm_peer_process *process) {
    struct rm_peer_planned const *const planned = &process->link.planned;
    if (!process->is_switching)
        return;
    bool const is_lost = planned->id == 0; // another session has begun
    if (!is_lost && planned->phase != RM_PEER_AGREED && planned->phase != RM_PEER_REFUSED)
        return;
    process->is_switching = false;
    if (!is_lost && planned->phase == RM_PEER_AGREED)
        rm_parameter_write_f64(parameter_of(process, RM_PEER_PARAMETER_SWITCH), (double)planned->turn, rm_stamp_now());
    answer(process, &process->switching,
           is_lost                             ? "the other server's process was started anew"
           : planned->phase == RM_PEER_REFUSED ? planned->reason
                                               : NULL);
}

static void request_judge(struct rm_peer_process *process, struct rm_request const *request, uint64_t now_ns) {
    struct rm_peer_link *const link = &process->link;
    struct rm_parameter *parameter;
    char reason[RM_REASON_BYTES];
    double value;
    if (!rm_inbox_judge(process->segment.inbox, request, &parameter, reason)) {
        answer(process, request, reason);
        return;
    }
    memcpy(&value, request->value, sizeof value); // all writable ones are a double
    if (parameter == parameter_of(process, RM_PEER_PARAMETER_SWITCH)) {
        switch_begin(process, request, value, now_ns);
        return;
    }
    if (parameter == parameter_of(process, RM_PEER_PARAMETER_HOLD)) {
        if (value > 0.5 && link->has_server && link->state.role == RM_STANDBY_ACTIVE) {
            answer(process, request, "this server is active, and would stop: switch to the other one first");
            return;
        }
        link->hold = value > 0.5;
        rm_parameter_write_f64(parameter, link->hold, rm_stamp_now());
    } else if (parameter == parameter_of(process, RM_PEER_PARAMETER_ACKNOWLEDGE))
        ++link->acknowledged;
    answer(process, request, NULL);
}

void rm_peer_requests_answer(struct rm_peer_process *process, uint64_t now_ns) {
    struct rm_request request;
    rm_inbox_look(process->segment.inbox);
    while (rm_inbox_take(process->segment.inbox, &request))
        request_judge(process, &request, now_ns);
    switch_go_on(process);
}
