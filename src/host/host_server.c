// SPDX-License-Identifier: Apache-2.0
#include "host/host_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/supply.h>

#include "base/fail.h"
#include "fabric/workspace_parts.h"

enum { SUPPLIES_MAX = 4096 };

static void const *host_server_find_object(struct rm_host_server *server, enum rm_object_kind kind, char const *name,
                                           struct rm_object const **object, struct rm_error *error) {
    void const *memory;
    if (rm_workspace_find(server->workspace, kind, name, object, &memory, error) != RM_OK)
        return NULL;
    return memory;
}

static enum rm_code find_grant(struct rm_host_server *server, struct rm_host_setup const *setup,
                               struct rm_error *error) {
    struct rm_object const *object;
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "grant/%s", setup->name);
    server->clock = host_server_find_object(server, RM_OBJECT_CLOCK, "clock", &object, error);
    if (server->clock == NULL)
        return RM_E_NOT_FOUND;
    server->grant = host_server_find_object(server, RM_OBJECT_GRANT, name, &object, NULL);
    if (server->grant == NULL)
        return rm_fail(error, RM_E_NOT_FOUND,
                       "the server of workspace \"%s\" runs without an application \"%s\": restart it with the "
                       "configuration that has it",
                       setup->workspace, setup->name);
    return RM_OK;
}

/** The number of a supply by the server's list of names, one per line; UINT32_MAX when it is not there. */
static uint32_t number_of(char const *names, size_t bytes, char const *wanted) {
    size_t const length = strlen(wanted);
    uint32_t number = 0;
    for (size_t i = 0; i + length <= bytes && names[i] != '\0'; ++number) {
        bool const ends = i + length == bytes || names[i + length] == '\n' || names[i + length] == '\0';
        if (ends && memcmp(names + i, wanted, length) == 0)
            return number;
        char const *end = memchr(names + i, '\n', bytes - i);
        if (end == NULL)
            break;
        i = (size_t)(end - names) + 1;
    }
    return UINT32_MAX;
}

static enum rm_code find_supplies(struct rm_host_server *server, struct rm_host_setup const *setup,
                                  struct rm_error *error) {
    struct rm_object const *sent, *names, *state;
    server->sent = host_server_find_object(server, RM_OBJECT_SETPOINTS, "setpoints/sent", &sent, error);
    char const *text = host_server_find_object(server, RM_OBJECT_TEXT, "supply/names", &names, error);
    server->supply_state = host_server_find_object(server, RM_OBJECT_PARAMETER, "supply/state", &state, error);
    if (server->sent == NULL || text == NULL || server->supply_state == NULL)
        return RM_E_NOT_FOUND;
    uint64_t const count = server->sent->actuator_count;
    bool const whole = count <= SUPPLIES_MAX && server->supply_state->count == count &&
                       server->supply_state->element_type == RM_ELEMENT_U32 &&
                       server->sent->vector_bytes >= rm_setpoint_vector_bytes(count) &&
                       server->sent->vectors_offset + RM_SETPOINT_BUFFERS * server->sent->vector_bytes <= sent->bytes;
    if (!whole)
        return rm_fail(error, RM_E_VERSION, "workspace \"%s\": setpoints/sent and supply/state do not fit together",
                       setup->workspace);
    server->supply_count = (uint32_t)count;
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        server->supply[i] = number_of(text, names->bytes, setup->actuator[i].name);
        if (server->supply[i] >= count)
            return rm_fail(error, RM_E_NOT_FOUND,
                           "the server of workspace \"%s\" runs without the supply %s: restart it with this "
                           "configuration",
                           setup->workspace, setup->actuator[i].name);
    }
    return RM_OK;
}

static enum rm_code find_inputs(struct rm_host_server *server, struct rm_host_program const *program,
                                struct rm_error *error) {
    struct rm_host_setup const *const setup = &program->setup;
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        enum rm_code code = rm_workspace_stream(server->workspace, setup->input[i], &server->input[i], error);
        if (code == RM_OK)
            code = rm_host_program_takes(program, i, server->input[i].period, error);
        if (code == RM_OK && server->runs.count > 0 &&
            !rm_host_runs_make_room(&server->runs, i, server->input[i].header))
            code = rm_fail(error, RM_E_NO_SPACE, "no memory for the runs of %s", setup->input[i]);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

enum rm_code rm_host_server_attach(struct rm_host_program const *program, struct rm_host_server **server,
                                   struct rm_error *error) {
    struct rm_host_setup const *const setup = &program->setup;
    struct rm_host_server *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to attach");
    made->supply = calloc(setup->actuator_count + 1ul, sizeof *made->supply);
    made->input = calloc(setup->input_count + 1ul, sizeof *made->input);
    made->actuator_count = setup->actuator_count;
    made->input_count = setup->input_count;
    enum rm_code code = RM_OK;
    uint32_t const runs = program->code.it->takes_runs != 0 ? setup->input_count : 0;
    if (made->supply == NULL || made->input == NULL || !rm_host_runs_open(&made->runs, runs, setup->period_turns))
        code = rm_fail(error, RM_E_NO_SPACE, "no memory to attach");
    if (code == RM_OK)
        code = rm_workspace_attach(setup->workspace, 0, &made->workspace, error);
    if (code == RM_OK) {
        made->generation = rm_workspace_generation(made->workspace);
        code = find_grant(made, setup, error);
        struct rm_object const *object;
        made->role = host_server_find_object(made, RM_OBJECT_STANDBY_STATE, "standby/state", &object, NULL);
    }
    if (code == RM_OK)
        code = find_supplies(made, setup, error);
    if (code == RM_OK)
        code = find_inputs(made, program, error);
    if (code != RM_OK) {
        rm_host_server_detach(made);
        return code;
    }
    *server = made;
    return RM_OK;
}

bool rm_host_server_lives(struct rm_host_server const *server) {
    return rm_workspace_alive(server->workspace) && rm_workspace_generation(server->workspace) == server->generation;
}

bool rm_host_server_has_inputs(struct rm_host_server const *server) {
    for (uint32_t i = 0; i < server->input_count; ++i) {
        struct rm_mapped_segment const *const holder = rm_workspace_holder(server->workspace, server->input[i].header);
        if (holder != NULL && atomic_load_explicit(&holder->header->state, memory_order_acquire) == RM_SEGMENT_REPLACED)
            return false;
    }
    return true;
}

void rm_host_server_detach(struct rm_host_server *server) {
    if (server == NULL)
        return;
    rm_workspace_detach(server->workspace);
    rm_host_runs_close(&server->runs);
    free(server->supply);
    free(server->input);
    free(server);
}

static struct rm_setpoint_vector const *vector_of(struct rm_setpoints const *setpoints, unsigned buffer) {
    uint8_t const *start = (uint8_t const *)setpoints + setpoints->vectors_offset;
    return (struct rm_setpoint_vector const *)(start + buffer * setpoints->vector_bytes);
}

/** The newest whole vector, or NULL, and its sequence. Acquire: pairs with rm_setpoints_commit. */
static struct rm_setpoint_vector const *newest_vector(struct rm_setpoints const *setpoints, uint64_t *sequence) {
    struct rm_setpoint_vector const *newest = NULL;
    *sequence = 0;
    for (unsigned buffer = 0; buffer < RM_SETPOINT_BUFFERS; ++buffer) {
        struct rm_setpoint_vector const *vector = vector_of(setpoints, buffer);
        uint64_t const now = atomic_load_explicit(&vector->sequence, memory_order_acquire);
        if ((now & 1) != 0 || now <= *sequence)
            continue;
        newest = vector;
        *sequence = now;
    }
    return newest;
}

/* As rm_setpoints_copy, for a few of many: an application has some supplies of some thousand. */
bool rm_host_server_sent(struct rm_host_server const *server, uint64_t *seen, double *sent) {
    uint64_t sequence;
    struct rm_setpoint_vector const *vector = newest_vector(server->sent, &sequence);
    if (vector == NULL || sequence == *seen)
        return false;
    _Atomic uint64_t const *const value = vector->value; // goes on behind the struct
    for (uint32_t i = 0; i < server->actuator_count; ++i) {
        union {
            uint64_t bits;
            double number;
        } const word = {.bits = atomic_load_explicit(&value[server->supply[i]], memory_order_relaxed)};
        sent[i] = (double)(float)word.number; // as datagrams carry it: the server's are, and so a record can be
    }
    atomic_thread_fence(memory_order_acquire);
    *seen = atomic_load_explicit(&vector->sequence, memory_order_relaxed) == sequence ? sequence : 0;
    return *seen == sequence;
}

bool rm_host_server_joined(struct rm_host_server const *server) {
    uint32_t state[SUPPLIES_MAX];
    struct rm_parameter_reading when;
    size_t const bytes = server->supply_count * sizeof state[0];
    if (rm_parameter_look(server->supply_state, state, bytes, &when) < bytes)
        return false;
    for (uint32_t i = 0; i < server->actuator_count; ++i)
        if ((state[server->supply[i]] & (RM_SUPPLY_JOINING | RM_SUPPLY_LOST)) == RM_SUPPLY_JOINING)
            return false;
    return true;
}
