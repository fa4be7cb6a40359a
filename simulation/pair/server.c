// SPDX-License-Identifier: Apache-2.0
/* Lives of a server. */
#include "server.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "engine/guard_setup.h"
#include "pair.h"

enum rm_code rm_pair_server_open(struct rm_pair *pair, uint32_t index, struct rm_pair_server *server,
                                 struct rm_error *error) {
    uint32_t const supplies = pair->config->supply_count;
    *server = (struct rm_pair_server){.pair = pair, .index = index, .switch_turn = RM_TURN_NONE};
    server->contact = rm_zeroed(pair->config->chain_count, sizeof *server->contact);
    server->sent = rm_zeroed(supplies, sizeof *server->sent);
    server->stands = rm_zeroed(supplies, sizeof *server->stands);
    server->said = rm_zeroed(RM_PAIR_SAID_CYCLES, sizeof *server->said);
    server->come = rm_zeroed(RM_PAIR_SAID_CYCLES, sizeof *server->come);
    server->said_sent = calloc((size_t)RM_PAIR_SAID_CYCLES * supplies, sizeof *server->said_sent);
    server->said_target = calloc((size_t)RM_PAIR_SAID_CYCLES * supplies, sizeof *server->said_target);
    server->waiting = rm_zeroed(RM_PAIR_WAITING_MAX, sizeof *server->waiting);
    if (!server->contact || !server->sent || !server->stands || !server->said || !server->come || !server->said_sent ||
        !server->said_target || !server->waiting)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a server of %u supplies", supplies);
    for (uint32_t i = 0; i < RM_PAIR_SAID_CYCLES; ++i) {
        server->said[i].sent = server->said_sent + (size_t)i * supplies;
        server->said[i].target = server->said_target + (size_t)i * supplies;
    }
    return RM_OK;
}

void rm_pair_server_close(struct rm_pair_server *server) {
    rm_pair_stepping_free(&server->stepping);
    rm_guard_free(server->guard);
    free(server->contact);
    free(server->sent);
    free(server->stands);
    free(server->said);
    free(server->come);
    free(server->said_sent);
    free(server->said_target);
    free(server->waiting);
    *server = (struct rm_pair_server){0};
}

/** What a life knows, it forgets. */
static void pair_server_forget(struct rm_pair const *pair, struct rm_pair_server *server) {
    for (uint32_t c = 0; c < pair->config->chain_count; ++c)
        server->contact[c] = (struct rm_pair_contact){0};
    for (uint32_t s = 0; s < pair->config->supply_count; ++s)
        server->sent[s] = NAN, server->stands[s] = false;
    for (uint32_t i = 0; i < RM_PAIR_SAID_CYCLES; ++i)
        server->come[i] = 0;
    server->cycle = server->heard_instruments = server->sent_cycle = 0;
    server->peer_cycle = server->peer_come = server->peer_life = server->next_step = 0;
    server->switch_turn = RM_TURN_NONE;
    server->acknowledged = 0;
    server->stopped = server->stops_within = false;
}

enum rm_code rm_pair_server_begin(struct rm_pair *pair, uint32_t index, struct rm_error *error) {
    struct rm_pair_server *const server = &pair->server[index];
    struct rm_standby_setup const setup = {
        .server = index + 1,
        .chains = pair->config->chain_count,
        .missed_cycles = pair->setup->missed_cycles,
        .begin_cycles = RM_PAIR_BEGIN_CYCLES,
        .term = server->saved_term,
    };
    pair_server_forget(pair, server);
    rm_guard_free(server->guard);
    server->guard = NULL;
    enum rm_code code = rm_guard_of_config(pair->config, &server->guard, error);
    if (code == RM_OK)
        code = rm_pair_stepping_begin(pair, server, error);
    if (code != RM_OK)
        return code;
    for (uint32_t a = 1; a < pair->config->application_count; ++a)
        rm_guard_grant(server->guard, a, 1, false);
    rm_standby_make(&server->standby, &setup);
    server->instance = (uint32_t)rm_noise_u64(pair->key = rm_noise_u64(pair->key)) | 1u;
    ++server->life;
    server->alive = true;
    return RM_OK;
}

void rm_pair_server_drop(struct rm_pair *pair, uint32_t index) {
    struct rm_pair_server *const server = &pair->server[index];
    for (uint32_t i = 0; i < server->waits; ++i)
        if (server->waiting[i].kind == RM_PAIR_ANSWER)
            rm_pair_parcel_give(pair, server->waiting[i].what);
    server->waits = 0;
}
