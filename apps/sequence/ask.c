// SPDX-License-Identifier: Apache-2.0
#include "ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>
#include <ringmaster/workspace.h>

static uint64_t const TIMEOUT_NS = 200000000;

enum {
    TRIES = 10,
    /** Calls from one look at the parameters to the next, and from one try to attach to the next. */
    CALLS_BETWEEN_LOOKS = 10,
    CALLS_BETWEEN_TRIES = 100,
    WORDS_BYTES = 256,
};

static void make_ask(struct sequence_ask *ask, struct sequence_act const *act, struct sequence_action const *action) {
    ask->is_constant = act->kind != SEQUENCE_ACT_PUT;
    ask->parameter = act->kind == SEQUENCE_ACT_PUT        ? action->put
                     : act->kind == SEQUENCE_ACT_FEEDBACK ? "feedback/loop"
                                                          : "postmortem/trigger";
    ask->may_be_absent = act->kind == SEQUENCE_ACT_FEEDBACK;
    ask->words = act->kind == SEQUENCE_ACT_TRIGGER ? action->trigger : NULL;
    ask->constant = act->kind == SEQUENCE_ACT_FEEDBACK ? (double)action->feedback - 1.0 : 0.0;
}

bool sequence_asks_make(struct sequence_asks *asks, struct sequence_program const *program) {
    struct sequence_file const *const file = program->file;
    asks->asks = program->asks;
    asks->ask = calloc(program->asks + 1, sizeof *asks->ask);
    for (uint32_t c = 0, act = 0; asks->ask != NULL && c < file->sequences; ++c)
        for (uint32_t n = 0; n < file->sequence[c].states; ++n)
            for (uint32_t a = 0; a < file->sequence[c].state[n].actions; ++a, ++act)
                if (program->act[act].ask != SEQUENCE_NONE)
                    make_ask(&asks->ask[program->act[act].ask], &program->act[act],
                             &file->sequence[c].state[n].action[a]);
    for (uint32_t i = 0; i < SEQUENCE_PARAMETERS_MAX; ++i)
        asks->seen[i] = (double)NAN;
    asks->lost_put = (double)NAN;
    return asks->ask != NULL;
}

static void leave_workspace(struct sequence_asks *asks) {
    rm_owner_close(asks->owner);
    rm_workspace_detach(asks->workspace);
    asks->owner = NULL;
    asks->workspace = NULL;
}

void sequence_asks_free(struct sequence_asks *asks) {
    leave_workspace(asks);
    free(asks->ask);
}

/* ── asking ── */

static bool enter_workspace(struct sequence_asks *asks, struct rm_application_setup const *setup) {
    if (asks->workspace != NULL && rm_workspace_alive(asks->workspace))
        return true;
    leave_workspace(asks);
    enum rm_code code = rm_workspace_attach(setup->workspace, 0, &asks->workspace, NULL);
    if (code == RM_OK)
        code = rm_owner_new_requester(setup->workspace, setup->name, &asks->owner, NULL);
    if (code == RM_OK) {
        rm_owner_requests(asks->owner);
        code = rm_owner_open(asks->owner, NULL);
    }
    if (code != RM_OK)
        leave_workspace(asks);
    return code == RM_OK;
}

/** The parameter as it is now; NULL: there is none of that name. */
static struct rm_parameter const *find_parameter(struct sequence_asks const *asks, char const *name) {
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(asks->workspace, RM_OBJECT_PARAMETER, name, &object, &memory, NULL);
    return code == RM_OK ? memory : NULL;
}

/** The value of another owner's parameter. NaN: there is none, its owner has ended, or says itself that it is invalid. */
static double read_parameter(struct sequence_asks const *asks, char const *name) {
    struct rm_parameter const *const parameter = find_parameter(asks, name);
    struct rm_parameter_reading when;
    double unused;
    if (parameter == NULL || !rm_workspace_owner_alive(asks->workspace, parameter) ||
        rm_parameter_read(parameter, &unused, sizeof unused, &when) == 0 || when.severity == RM_SEVERITY_INVALID)
        return (double)NAN;
    return rm_parameter_read_f64(parameter);
}

/** A whole number as the `bytes` bytes of an element. 0: it is none of those. */
static size_t encode_whole(double value, double least, double beyond, size_t bytes, void *encoded) {
    double const whole = round(value);
    if (!(whole >= least && whole < beyond))
        return 0;
    uint64_t const as = whole < 0.0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
    memcpy(encoded, &as, bytes); /* the low bytes: the machine is a little-endian one */
    return bytes;
}

/** One value as the bytes of an element. Returns how many; 0: of such elements there is none, or it is out of range. */
static size_t encode(uint64_t element_type, double value, void *bytes) {
    switch (element_type) {
    case RM_ELEMENT_F64:
        memcpy(bytes, &value, sizeof value);
        return sizeof value;
    case RM_ELEMENT_F32: {
        float const single = (float)value;
        memcpy(bytes, &single, sizeof single);
        return sizeof single;
    }
    case RM_ELEMENT_I64:
        return encode_whole(value, -0x1p63, 0x1p63, sizeof(int64_t), bytes);
    case RM_ELEMENT_U64:
        return encode_whole(value, 0.0, 0x1p64, sizeof(uint64_t), bytes);
    case RM_ELEMENT_I32:
        return encode_whole(value, -0x1p31, 0x1p31, sizeof(int32_t), bytes);
    case RM_ELEMENT_U32:
        return encode_whole(value, 0.0, 0x1p32, sizeof(uint32_t), bytes);
    default:
        return 0;
    }
}

/** RM_OK with a verdict in `reply`, as of a value that the parameter cannot have; anything else may be tried again. */
static enum rm_code ask_once(struct sequence_asks *asks, struct sequence_ask *ask, struct rm_reply *reply) {
    struct rm_parameter const *const parameter = find_parameter(asks, ask->parameter);
    union {
        uint64_t bits;
        double number;
    } const as = {.bits = atomic_load_explicit(&ask->value, memory_order_relaxed)};
    char bytes[WORDS_BYTES] = {0};
    if (parameter == NULL)
        return RM_E_NOT_FOUND;
    size_t count = encode(parameter->element_type, ask->is_constant ? ask->constant : as.number, bytes);
    if (ask->words != NULL) {
        count = parameter->value_bytes < sizeof bytes ? parameter->value_bytes : sizeof bytes;
        snprintf(bytes, count, "%s", ask->words);
    }
    if (count == 0)
        return RM_OK;
    return rm_requests_put(asks->owner, asks->workspace, ask->parameter, 0, bytes, count, TIMEOUT_NS, reply, NULL);
}

static void work_on(struct sequence_asks *asks, struct sequence_ask *ask) {
    uint32_t const wanted = atomic_load_explicit(&ask->wanted, memory_order_acquire);
    struct rm_reply reply = {.verdict = RM_VERDICT_REFUSED};
    if (wanted == ask->done)
        return;
    bool const is_absent = ask->may_be_absent && find_parameter(asks, ask->parameter) == NULL;
    bool const is_answered = !is_absent && ask_once(asks, ask, &reply) == RM_OK;
    if (!is_absent && !is_answered && ++ask->tries < TRIES)
        return;
    ask->done = wanted;
    ask->tries = 0;
    if (is_answered && reply.verdict == RM_VERDICT_DONE)
        atomic_fetch_add_explicit(&asks->granted, 1, memory_order_relaxed);
    else if (!is_absent)
        ++asks->untold;
}

/* ── own settings ── */

/** Puts elements of an own setting. They are tried again at the next call, where it fails. */
static bool put_own(struct sequence_asks *asks, struct rm_application_setup const *setup, char const *setting,
                    uint32_t first, double const *values, uint32_t count) {
    char name[RM_NAME_BYTES];
    struct rm_reply reply;
    snprintf(name, sizeof name, "%s/%s", setup->name, setting);
    return rm_requests_put(asks->owner, asks->workspace, name, first, values, count * sizeof *values, TIMEOUT_NS,
                           &reply, NULL) == RM_OK &&
           reply.verdict == RM_VERDICT_DONE;
}

/** Adds what was refused to the setting, which a process before this one may have left: so each refusal changes it. */
static void put_refused(struct sequence_asks *asks, struct rm_application_setup const *setup) {
    char name[RM_NAME_BYTES];
    if (asks->untold == 0)
        return;
    snprintf(name, sizeof name, "%s/refused", setup->name);
    double const refused = read_parameter(asks, name) + (double)asks->untold;
    if (put_own(asks, setup, "refused", 0, &refused, 1))
        asks->untold = 0;
}

static void put_if_changed(struct sequence_asks *asks, struct rm_application_setup const *setup, char const *setting,
                           double value, double *put) {
    if (value != *put && put_own(asks, setup, setting, 0, &value, 1))
        *put = value;
}

/** Reads all parameters; those that have changed are one request. */
static void look_at_parameters(struct sequence_asks *asks, struct rm_application_setup const *setup,
                               struct sequence_file const *file) {
    double now[SEQUENCE_PARAMETERS_MAX], lost = 0.0;
    bool has_changed = false;
    for (uint32_t i = 0; i < file->parameters; ++i) {
        now[i] = read_parameter(asks, file->parameter[i].parameter);
        if (!isfinite(now[i])) {
            lost += 1.0;
            now[i] = isfinite(asks->seen[i]) ? asks->seen[i] : 0.0;
        }
        has_changed |= now[i] != asks->seen[i];
    }
    if (has_changed && put_own(asks, setup, "parameter", 0, now, file->parameters))
        memcpy(asks->seen, now, file->parameters * sizeof now[0]);
    put_if_changed(asks, setup, "lost", lost, &asks->lost_put);
    /* An owner that came after the workspace was attached is seen by the next who attaches. */
    if (lost > 0.0 && asks->calls % CALLS_BETWEEN_TRIES == 0)
        leave_workspace(asks);
}

void sequence_asks_work(struct sequence_asks *asks, struct rm_application_setup const *setup,
                        struct sequence_file const *file) {
    bool const looks = file->parameters > 0 && asks->calls % CALLS_BETWEEN_LOOKS == 0;
    bool has_work = looks || asks->untold > 0;
    ++asks->calls;
    for (uint32_t i = 0; i < asks->asks && !has_work; ++i)
        has_work = atomic_load_explicit(&asks->ask[i].wanted, memory_order_relaxed) != asks->ask[i].done;
    if (!has_work || setup->workspace == NULL || !enter_workspace(asks, setup))
        return;
    for (uint32_t i = 0; i < asks->asks; ++i)
        work_on(asks, &asks->ask[i]);
    put_refused(asks, setup);
    if (looks)
        look_at_parameters(asks, setup, file);
}
