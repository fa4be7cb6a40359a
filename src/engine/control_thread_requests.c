// SPDX-License-Identifier: Apache-2.0
/* What others ask for: parameters of the server, and setpoints of supplies that are the operator's. */
#include "engine/control_thread_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/timebase.h"

enum { TEXT_BYTES = 256 }; /**< of a reason; the reply has the beginning of it */

static uint64_t const ROLE_TIMEOUT_NS = 100000000; /**< of its core's time: the transmit role looks many times in it */
static uint64_t const TIMEOUT_NS = 5000000000;     /**< of time, where other programs have that core */

/** The supply whose setpoint this is, or the number of supplies. */
static uint32_t supply_of(struct rm_control_thread const *control_thread, char const *parameter) {
    static char const TAIL[] = "/setpoint";
    struct rm_config const *const config = control_thread->setup.config;
    size_t const length = strnlen(parameter, RM_NAME_BYTES), tail = sizeof TAIL - 1;
    if (length <= tail || strncmp(parameter + length - tail, TAIL, tail) != 0)
        return config->supply_count;
    uint32_t i = 0;
    while (i < config->supply_count && (strlen(config->supply[i].name) != length - tail ||
                                        strncmp(config->supply[i].name, parameter, length - tail) != 0))
        ++i;
    return i;
}

/** How long the thread with this CPU clock has run so far. */
static uint64_t role_ran_ns(clockid_t transmit_time) {
    struct timespec ran;
    if (clock_gettime(transmit_time, &ran) != 0)
        return 0;
    return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}

/** True while it is too early to judge. The timeout is one of the role's own time: what a busy host keeps from it says
 * nothing about it. */
static bool role_has_time(uint64_t ran_ns, uint64_t waited_ns, char reason[TEXT_BYTES]) {
    if (ran_ns > ROLE_TIMEOUT_NS)
        snprintf(reason, TEXT_BYTES, "the transmit role hangs: its core ran it for %.0f ms without an answer",
                 (double)ran_ns * 1e-6);
    else if (waited_ns > TIMEOUT_NS)
        snprintf(reason, TEXT_BYTES,
                 "the transmit role had its core for %.0f ms of the last %.1f s: other programs keep it busy",
                 (double)ran_ns * 1e-6, (double)waited_ns * 1e-9);
    else
        return true;
    return false;
}

/** Waits for the answer. Without one in time the command is withdrawn; false then, with the reason. A role that moves to
 * another thread meanwhile is judged by the thread that it left. */
static bool wait_for_role(struct rm_control_thread const *control_thread, char reason[TEXT_BYTES]) {
    struct rm_operator_put *const box = control_thread->setup.put;
    clockid_t const time = atomic_load_explicit(&control_thread->transmit_time, memory_order_relaxed);
    uint64_t const begin = rm_monotonic_ns(), ran = role_ran_ns(time);
    while (!rm_mailbox_is_answered(&box->mailbox)) {
        bool const stop = rm_inbox_thread_is_stopping(&control_thread->beside);
        if ((stop || !role_has_time(role_ran_ns(time) - ran, rm_monotonic_ns() - begin, reason)) &&
            rm_mailbox_withdraw(&box->mailbox))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return true;
}

/** Gives a value to the transmit role, and waits for what the guard says. False, with the reason, when the role does
 * not answer: then nothing was commanded. */
static bool control_thread_put_setpoint(struct rm_control_thread *control_thread, uint32_t supply, double value,
                                        enum rm_refusal *refusal, double *limit, char reason[TEXT_BYTES]) {
    struct rm_operator_put *const box = control_thread->setup.put;
    box->supply = supply;
    box->value = value;
    rm_mailbox_post(&box->mailbox);
    if (!wait_for_role(control_thread, reason))
        return false;
    *refusal = box->refusal;
    *limit = box->limit;
    rm_mailbox_close(&box->mailbox);
    return true;
}

static void say_why(struct rm_config_supply const *supply, double value, enum rm_refusal refusal, double limit,
                    char reason[TEXT_BYTES]) {
    char const *const name = supply->name, *const unit = supply->unit;
    if (refusal == RM_REFUSED_NUMBER)
        snprintf(reason, TEXT_BYTES, "%s: %g is no number that a supply can be set to", name, value);
    else if (refusal == RM_REFUSED_LOW)
        snprintf(reason, TEXT_BYTES, "%s: %g %s is below its lower limit of %g %s", name, value, unit, limit, unit);
    else if (refusal == RM_REFUSED_HIGH)
        snprintf(reason, TEXT_BYTES, "%s: %g %s is above its upper limit of %g %s", name, value, unit, limit, unit);
    else if (refusal == RM_REFUSED_FAULT)
        snprintf(reason, TEXT_BYTES, "%s has tripped, or its chain is lost or has not answered yet: see supply/state",
                 name);
    else
        snprintf(reason, TEXT_BYTES, "%s: refused by the guard", name);
}

static void say_whose(struct rm_control_thread const *control_thread, struct rm_config_supply const *supply,
                      char reason[TEXT_BYTES]) {
    bool const here = control_thread->client[supply->application].here;
    snprintf(reason, TEXT_BYTES, "%s belongs to application %s, which %s", supply->name,
             control_thread->setup.config->application[supply->application].name,
             here ? "is running" : "does not run just now");
}

static bool set_supply(struct rm_control_thread *control_thread, uint32_t index, struct rm_request const *request,
                       char reason[TEXT_BYTES]) {
    struct rm_config_supply const *const supply = &control_thread->setup.config->supply[index];
    enum rm_refusal refusal;
    double value, limit;
    if (supply->application != 0) {
        say_whose(control_thread, supply, reason);
        return false;
    }
    if (rm_control_thread_stands_by(control_thread, reason, TEXT_BYTES))
        return false;
    if (request->first != 0 || request->bytes != sizeof value) {
        snprintf(reason, TEXT_BYTES, "%s is one f64: %llu bytes from element %llu are not", request->parameter,
                 (unsigned long long)request->bytes, (unsigned long long)request->first);
        return false;
    }
    memcpy(&value, request->value, sizeof value);
    char silence[TEXT_BYTES] = "the server stops";
    if (!control_thread_put_setpoint(control_thread, index, value, &refusal, &limit, silence)) {
        snprintf(reason, TEXT_BYTES, "%s: not set: %.128s", supply->name, silence);
        return false;
    }
    if (refusal != RM_REFUSED_NOTHING)
        say_why(supply, value, refusal, limit, reason);
    return refusal == RM_REFUSED_NOTHING;
}

static void control_thread_answer(struct rm_control_thread *control_thread, struct rm_request const *request) {
    uint32_t const supply = supply_of(control_thread, request->parameter);
    if (control_thread->setup.put == NULL || supply == control_thread->setup.config->supply_count) {
        rm_inbox_apply(control_thread->beside.inbox, request, rm_stamp_now());
        return;
    }
    char reason[TEXT_BYTES] = "";
    bool const done = set_supply(control_thread, supply, request, reason);
    rm_inbox_answer(control_thread->beside.inbox, request, done ? RM_VERDICT_DONE : RM_VERDICT_REFUSED,
                    done ? NULL : reason);
}

void rm_control_thread_answer(void *context, uint64_t until_ns) {
    struct rm_control_thread *const control_thread = context;
    struct rm_request request;
    do {
        if (rm_inbox_thread_is_stopping(&control_thread->beside) ||
            !rm_inbox_take(control_thread->beside.inbox, &request))
            return;
        control_thread_answer(control_thread, &request);
    } while (rm_monotonic_ns() < until_ns);
}
