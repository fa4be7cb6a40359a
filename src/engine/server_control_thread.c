// SPDX-License-Identifier: Apache-2.0
/* The control thread: what it is given of the configuration, the segment and the transmit role. */
#include "engine/server_state.h"
#include "fabric/segment_map.h"

/** The server's segment as others see an owner's: the same memory, under the name that requests are addressed to. */
static enum rm_code make_owner(struct rm_server *server, struct rm_error *error) {
    struct rm_owner *const owner = &server->setpoints.owner;
    *owner = (struct rm_owner){.name = "server",
                               .plan = server->store.plan,
                               .segment = server->store.segment,
                               .requests = RM_OWNER_NONE,
                               .replies = server->store.replies,
                               .open = true};
    return rm_workspace_path(server->config->workspace, owner->workspace, error);
}

clockid_t rm_server_transmit_time(struct rm_server const *server) {
    struct rm_config const *const config = server->config;
    clockid_t clock = CLOCK_MONOTONIC;
    for (uint32_t role = 0; role < config->role_count; ++role)
        for (uint32_t i = 0; config->role[role].kind == RM_ROLE_TRANSMIT && i < server->cores_started; ++i)
            if (server->core[i].cpu == server->placement.core[role])
                pthread_getcpuclockid(server->core[i].thread, &clock);
    return clock;
}

enum rm_code rm_server_start_control_thread(struct rm_server *server, struct rm_error *error) {
    enum rm_code const code = make_owner(server, error);
    if (code != RM_OK)
        return code;
    struct rm_transmit *const transmit = server->transmit;
    struct rm_control_thread_setup const setup = {
        .config = server->config,
        .generation = server->generation,
        .owner = &server->setpoints.owner,
        .mailbox = transmit != NULL ? rm_transmit_mailbox(transmit, 0) : NULL,
        .put = transmit != NULL ? rm_transmit_put(transmit) : NULL,
        .transmit_time = rm_server_transmit_time(server),
        .sent = server->setpoints.sent,
        .chain = server->setpoints.chain,
        .peer = transmit != NULL ? rm_transmit_peer_mailbox(transmit) : NULL,
        .standby_state = server->setpoints.standby_state,
        .highest_term = transmit != NULL ? rm_transmit_highest_term(transmit) : NULL,
        .saved_term = server->setpoints.saved_term,
        .standby_counters = server->setpoints.standby_counters,
        .setpoint = server->setpoints.setpoint,
        .readback = server->setpoints.readback,
    };
    return rm_control_thread_start(&setup, &server->control_thread, error);
}
