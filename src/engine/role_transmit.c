// SPDX-License-Identifier: Apache-2.0
/* The transmit role: what it is given of the configuration, the segment and the ports. What it does is transmit.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/role.h"
#include "engine/server_state.h"
#include "engine/term_file.h"
#include "wire/arp.h"

enum { NAME_BYTES = 128 };

/** Looks objects up by name. They are asked for in the order in which they were planned, mostly, so each search begins
 * where the last one ended. */
struct finder {
    struct rm_store const *store;
    size_t at;
    enum rm_code code;
    struct rm_error *error;
};

static void *find_setpoint_object(struct finder *finder, char const *name) {
    struct rm_segment_plan const *const plan = &finder->store->plan;
    for (size_t i = 0; i < plan->count; ++i) {
        size_t const at = (finder->at + i) % plan->count;
        if (strcmp(plan->planned[at].object.name, name) != 0)
            continue;
        finder->at = at + 1;
        return rm_store_memory(finder->store, at);
    }
    finder->code = rm_fail(finder->error, RM_E_NOT_FOUND, "the server's segment has no object \"%s\"", name);
    return NULL;
}

static void *find_of(struct finder *finder, char const *before, char const *name, char const *behind) {
    char whole[NAME_BYTES];
    snprintf(whole, sizeof whole, "%s%s%s", before, name, behind);
    return find_setpoint_object(finder, whole);
}

static bool server_setpoints_allocate(struct rm_server_setpoints *made, struct rm_config const *config) {
    made->chain = calloc(config->chain_count + 1u, sizeof *made->chain);
    made->grant = calloc(config->application_count + 1u, sizeof *made->grant);
    made->guard_counters = calloc(config->application_count + 1u, sizeof *made->guard_counters);
    made->setpoint = calloc(config->supply_count + 1u, sizeof *made->setpoint);
    made->readback = calloc(config->supply_count + 1u, sizeof *made->readback);
    return made->chain && made->grant && made->guard_counters && made->setpoint && made->readback;
}

static struct rm_stream_view view_of(struct rm_stream const *stream) {
    return (struct rm_stream_view){
        .header = stream,
        .slot = (struct rm_slot const *)((uint8_t const *)stream + stream->slots_offset),
        .mask = stream->capacity - 1,
        .period = stream->period,
    };
}

static void fill_chain(struct rm_server *server, uint32_t index, struct finder *finder) {
    struct rm_config_chain const *const wanted = &server->config->chain[index];
    struct rm_config_port const *const port = &server->config->port[wanted->port];
    struct rm_transmit_chain *const chain = &server->setpoints.chain[index];
    *chain = (struct rm_transmit_chain){
        .config = wanted,
        .port = server->port[wanted->port].port,
        .source_ipv4 = port->answer_ipv4,
        .source_port = RM_CONFIG_SETPOINT_UDP_PORT,
        .vlan = port->vlan == RM_CONFIG_ANY_VLAN ? 0 : port->vlan,
        .counters = find_of(finder, "counters/chain/", wanted->name, ""),
    };
    if (!rm_port_mac(chain->port, chain->source_mac))
        rm_arp_make_mac(port->answer_ipv4, chain->source_mac);
    for (uint32_t p = 0; p < wanted->instrument_count; ++p)
        chain->readback[p] =
            view_of(rm_store_memory(&server->store, server->store.instrument[wanted->first_instrument + p].own));
}

static void fill_applications(struct rm_server *server, struct finder *finder) {
    for (uint32_t i = 0; i < server->config->application_count; ++i) {
        char const *const name = server->config->application[i].name;
        server->setpoints.grant[i] = find_of(finder, "grant/", name, "");
        server->setpoints.guard_counters[i] = find_of(finder, "counters/guard/", name, "");
    }
}

static void fill_supplies(struct rm_server *server, struct finder *finder) {
    for (uint32_t i = 0; i < server->config->supply_count; ++i) {
        char const *const name = server->config->supply[i].name;
        server->setpoints.setpoint[i] = find_of(finder, "", name, "/setpoint");
        server->setpoints.readback[i] = find_of(finder, "", name, "/readback");
    }
}

/** True when an instrument tells the first receive role the turn. Chains do not: their turns are ours. */
static bool clock_is_published(struct rm_server const *server) {
    struct rm_config const *const config = server->config;
    uint32_t first = 0;
    while (first < config->role_count && config->role[first].kind != RM_ROLE_RECEIVE)
        ++first;
    for (uint32_t i = 0; first < config->role_count && i < config->instrument_count; ++i) {
        struct rm_config_instrument const *const instrument = &config->instrument[i];
        uint16_t queue;
        if (!instrument->follows &&
            rm_server_role_of(server, instrument->port, instrument->source_ipv4, &queue) == first)
            return true;
    }
    return false;
}

bool rm_server_transmit_tells(struct rm_server const *server) {
    return server->config->chain_count != 0 && !clock_is_published(server);
}

/** At random, so that no two lives are taken for one; 0 is nobody's. */
static uint32_t draw_instance(void) {
    uint32_t instance = 0;
    while (instance == 0)
        if (getrandom(&instance, sizeof instance, 0) != sizeof instance)
            instance = (uint32_t)rm_tai_ns() | 1u;
    return instance;
}

/** Of a server that keeps its term in a file. */
static enum rm_code read_terms(struct rm_server *server, struct finder *finder) {
    char const *const path = server->config->setpoints.terms_path;
    if (path[0] == '\0')
        return RM_OK;
    server->setpoints.standby_counters = find_setpoint_object(finder, "counters/standby");
    return rm_term_file_read(path, &server->setpoints.saved_term, finder->error);
}

static void find_pair(struct rm_server *server, struct finder *finder, struct rm_transmit_pair *pair) {
    struct rm_config_standby const *const standby = &server->config->standby;
    *pair = (struct rm_transmit_pair){
        .server = standby->own + 1,
        .missed_cycles = standby->missed_cycles,
        .begin_cycles = standby->begin_cycles,
        .counters = find_setpoint_object(finder, "counters/standby"),
        .state = find_setpoint_object(finder, "standby/state"),
        .targets = find_setpoint_object(finder, "setpoints/targets"),
    };
    server->setpoints.standby_state = pair->state;
}

static enum rm_code transmit_make(struct rm_server *server, uint32_t index, void **role, struct rm_error *error) {
    (void)index;
    struct rm_config const *const config = server->config;
    struct rm_server_setpoints *const made = &server->setpoints;
    struct finder finder = {.store = &server->store, .code = RM_OK, .error = error};
    if (!server_setpoints_allocate(made, config))
        return rm_server_no_memory(error);
    for (uint32_t i = 0; i < config->chain_count; ++i)
        fill_chain(server, i, &finder);
    fill_applications(server, &finder);
    fill_supplies(server, &finder);
    made->sent = find_setpoint_object(&finder, "setpoints/sent");
    struct rm_clock *const clock = rm_store_memory(&server->store, server->store.clock);
    bool const tells = rm_server_transmit_tells(server);
    struct rm_transmit_pair pair = {.server = 0};
    if (config->standby.present)
        find_pair(server, &finder, &pair);
    enum rm_code code = read_terms(server, &finder);
    if (code != RM_OK)
        return code;
    struct rm_transmit_setup const setup = {
        .config = config,
        .tsc_hz = server->tsc_hz,
        .generation = server->generation,
        .term = made->saved_term,
        .instance = draw_instance(),
        .pair = config->standby.present ? &pair : NULL,
        .clock = tells ? NULL : clock,
        .publish = tells ? clock : NULL,
        .chain = made->chain,
        .grant = made->grant,
        .guard_counters = made->guard_counters,
        .counters = find_setpoint_object(&finder, "counters/transmit"),
        .sent = made->sent,
        .intended = find_setpoint_object(&finder, "setpoints/intended"),
        .supply_state = find_setpoint_object(&finder, "supply/state"),
        .latency = find_setpoint_object(&finder, "latency/setpoint"),
    };
    if (finder.code != RM_OK)
        return finder.code;
    rm_control_thread_show_nothing(made->setpoint, config->supply_count);
    rm_control_thread_show_nothing(made->readback, config->supply_count);
    code = rm_transmit_new(&setup, &server->transmit, error);
    *role = server->transmit;
    return code;
}

static void transmit_free(void *role) { rm_transmit_free(role); }

struct rm_role const rm_role_transmit = {
    .make = transmit_make, .duty = rm_transmit_duty, .free = transmit_free, .latency_critical = true};

void rm_server_free_setpoints(struct rm_server *server) {
    free(server->setpoints.chain);
    free(server->setpoints.grant);
    free(server->setpoints.guard_counters);
    free(server->setpoints.setpoint);
    free(server->setpoints.readback);
}
