// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.h"

#include <string.h>

uint32_t rm_measure_role(struct rm_config const *config) {
    uint32_t role = 0;
    while (config->role[role].kind != RM_ROLE_RECEIVE)
        ++role;
    return role;
}

static enum rm_code check_port(struct rm_config const *config, uint32_t role, struct rm_error *error) {
    struct rm_config_role const *receive = &config->role[role];
    uint32_t const port = receive->queue[0].port;
    if (config->port[port].port.kind != RM_PORT_RING)
        return rm_config_fail_entry(config, error, "ports", port, "kind",
                                    "found %s, but what is to be measured polls a port that receives what it sends, "
                                    "expected ring",
                                    rm_config_port_kind_name(config->port[port].port.kind));
    if (receive->queue_count != 1 || config->port[port].port.queues != 1)
        return rm_config_fail_entry(config, error, "roles", role, "ports",
                                    "a receive role is measured by one queue, expected one port of one queue");
    return RM_OK;
}

static enum rm_code check_instrument(struct rm_config const *config, uint32_t index, uint32_t port,
                                     struct rm_error *error) {
    struct rm_config_instrument const *instrument = &config->instrument[index];
    if (instrument->port != port || instrument->mirror.present)
        return rm_config_fail_entry(config, error, "instruments", index, NULL,
                                    "one queue is measured, expected \"%s\" to send to port \"%s\" alone",
                                    instrument->name, config->port[port].port.name);
    if (config->format[instrument->format].layout != NULL || instrument->period_turns != 1)
        return rm_config_fail_entry(config, error, "instruments", index, NULL,
                                    "native datagrams of every turn are measured, expected \"%s\" to send them",
                                    instrument->name);
    return RM_OK;
}

static void give_lanes(struct rm_config_instrument *instrument, uint32_t lanes) {
    instrument->lane_count = lanes;
    for (uint32_t i = 0; i < lanes; ++i) {
        struct rm_lane_info *lane = &instrument->lane[i];
        *lane = (struct rm_lane_info){.type = RM_LANE_I32, .reduction = RM_REDUCE_FIR};
        snprintf(lane->name, sizeof lane->name, "lane%02u", i + 1);
    }
}

/** A workspace of the measurement's own, so that no server's rings are taken over. */
static void rename_workspace(struct rm_config *config) {
    static char const SUFFIX[] = "-measure";
    size_t const most = sizeof config->workspace - sizeof SUFFIX;
    config->workspace[most] = '\0';
    strcat(config->workspace, SUFFIX);
}

enum rm_code rm_measure_prepare(struct rm_config *config, struct rm_measure_options const *options,
                                struct rm_error *error) {
    uint32_t const role = rm_measure_role(config);
    enum rm_code code = check_port(config, role, error);
    uint32_t const port = config->role[role].queue[0].port;
    for (uint32_t i = 0; code == RM_OK && i < config->instrument_count; ++i)
        code = check_instrument(config, i, port, error);
    if (code != RM_OK)
        return code;
    for (uint32_t i = 0; options->lanes != 0 && i < config->instrument_count; ++i)
        give_lanes(&config->instrument[i], options->lanes);
    rename_workspace(config);
    return RM_OK;
}
