// SPDX-License-Identifier: Apache-2.0
/* Roles move between cores while these run: core.h has how two cores hand a role over, this file the order in which they
 * are told.
 *
 * Nothing is told to any core before all is known to be good: no list is too long, and each core that is to change comes
 * round. So there is no half of a move. A core that sleeps is told first, and the others when it is awake: it is then
 * ready for roles when the others let them go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/server_state.h"

static uint64_t const TIMEOUT_NS = 10000000000; /**< other programs may keep a core for seconds */

enum { NAP_NS = 50000 };

/** What a core is to run, and what it runs. */
struct core_move {
    struct rm_core *core;
    struct rm_core_list list;
    bool changes;
    bool sleeps;
    /** Its loops when it was asked to come round. */
    uint64_t loops;
};

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL); }

static struct rm_core_list const *present_list(struct rm_core const *core) {
    return &core->list[atomic_load_explicit(&core->given, memory_order_relaxed) % 2];
}

static bool is_same_list(struct rm_core_list const *a, struct rm_core_list const *b) {
    if (a->duty_count != b->duty_count)
        return false;
    for (uint32_t i = 0; i < a->duty_count; ++i)
        if (a->duty[i].place != b->duty[i].place)
            return false;
    return true;
}

static enum rm_code plan_moves(struct rm_server *server, struct rm_config const *wanted,
                               struct rm_config_placement const *placement, struct core_move *move,
                               struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < server->cores_started; ++i) {
        struct rm_core *const core = move[i].core = &server->core[i];
        code = rm_server_list(server, wanted, placement, core->cpu, &move[i].list, error);
        move[i].changes = code == RM_OK && !is_same_list(&move[i].list, present_list(core));
        move[i].sleeps = present_list(core)->duty_count == 0;
    }
    return code;
}

/** Waits until each core that is to change has ended a cycle. */
static enum rm_code await_cores(struct core_move *move, uint32_t count, struct rm_error *error) {
    uint64_t const begin_ns = rm_monotonic_ns();
    for (uint32_t i = 0; i < count; ++i) {
        move[i].loops = rm_counter_get(move[i].core->counters, RM_CORE_LOOPS);
        if (move[i].changes)
            rm_core_wake(move[i].core);
    }
    for (uint32_t i = 0; i < count; ++i)
        while (move[i].changes && rm_counter_get(move[i].core->counters, RM_CORE_LOOPS) == move[i].loops) {
            if (rm_monotonic_ns() - begin_ns > TIMEOUT_NS)
                return rm_fail(error, RM_E_BUSY,
                               "core %u has not come round for %.0f s: one of its roles hangs, or other programs keep "
                               "the core; nothing has moved",
                               move[i].core->cpu, (double)TIMEOUT_NS * 1e-9);
            nap();
        }
    return RM_OK;
}

static void give_lists(struct core_move *move, uint32_t count, bool sleeps) {
    for (uint32_t i = 0; i < count; ++i)
        if (move[i].changes && move[i].sleeps == sleeps) {
            rm_core_give(move[i].core, &move[i].list);
            rm_core_wake(move[i].core);
        }
    for (uint32_t i = 0; i < count && sleeps; ++i)
        while (move[i].changes && move[i].sleeps && !rm_core_has_taken(move[i].core))
            nap();
}

static void tell_of_move(struct rm_server *server, uint32_t role, uint32_t from) {
    ++server->moves[role];
    fprintf(stderr, "ringmaster-server: roles[%u] (%s) moved from core %u to core %u, and stood still for %.0f us\n",
            role, rm_config_role_name(server->config->role[role].kind), from, server->placement.core[role],
            (double)server->place[role].stood_ticks / server->tsc_hz * 1e6);
}

/** What others know of where roles run. Without memory for it they know it late: nothing is undone for that. */
static void publish_placement(struct rm_server *server, struct rm_config_placement const *placement) {
    struct rm_error error;
    struct rm_config_placement const before = server->placement;
    server->placement = *placement;
    for (uint32_t i = 0; i < server->config->role_count; ++i)
        if (before.core[i] != placement->core[i])
            tell_of_move(server, i, before.core[i]);
    if (server->control_thread != NULL)
        rm_control_thread_follow(server->control_thread, rm_server_transmit_time(server));
    if (rm_server_steer(server, &error) != RM_OK || rm_server_publish_roles(server, &error) != RM_OK)
        fprintf(stderr, "ringmaster-server: where roles run is not published: %s\n", error.text);
}

static enum rm_code move_all(struct rm_server *server, struct rm_config_placement const *placement,
                             struct core_move *move, struct rm_error *error) {
    uint32_t const count = server->cores_started;
    enum rm_code const code = await_cores(move, count, error);
    if (code != RM_OK)
        return code;
    give_lists(move, count, true);
    give_lists(move, count, false);
    for (uint32_t i = 0; i < count; ++i)
        while (!rm_core_is_settled(move[i].core))
            nap();
    publish_placement(server, placement);
    return RM_OK;
}

enum rm_code rm_server_move(struct rm_server *server, struct rm_config const *wanted,
                            struct rm_config_placement const *placement, struct rm_error *error) {
    struct core_move *const move = calloc(server->cores_started, sizeof *move);
    if (move == NULL)
        return rm_server_no_memory(error);
    enum rm_code code = plan_moves(server, wanted, placement, move, error);
    if (code == RM_OK)
        code = move_all(server, placement, move, error);
    free(move);
    return code;
}

enum rm_code rm_server_publish_roles(struct rm_server *server, struct rm_error *error) {
    struct rm_config const *const config = server->config;
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    if (out == NULL)
        return rm_server_no_memory(error);
    for (uint32_t i = 0; i < config->role_count; ++i) {
        uint32_t const role = server->placement.order[i];
        fprintf(out, "%u %s %u %u %.0f\n", role, rm_config_role_name(config->role[role].kind),
                server->placement.core[role], server->moves[role],
                (double)server->place[role].stood_ticks / server->tsc_hz * 1e9);
    }
    fclose(out);
    bool const written = rm_store_write_roles(&server->store, text);
    free(text);
    return written ? RM_OK : rm_server_no_memory(error);
}
