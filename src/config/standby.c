// SPDX-License-Identifier: Apache-2.0
/* Two servers, one machine. Which of them is loaded is known from FILE@NAME: servers.h. */
#include "config/resolve.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "wire/address.h"

enum {
    MISSED_CYCLES_LEAST = 2,
    MISSED_CYCLES_MAX = 60,
    ASKING_CYCLES = 2, /* a query and its answers, and the first setpoint of the successor */
};

static double const BEGIN_MOST_S = 3600;

static double cycle_s(struct rm_config const *config) { return config->setpoints.period_turns / config->turn_rate_hz; }

static enum rm_code take_name(struct rm_file_standby const *file, struct rm_config *config, uint32_t server,
                              struct rm_error *error) {
    struct rm_config_server *const servers = config->standby.server;
    char const *const written = file->servers[server].name;
    if (!rm_config_name_is_good(written))
        return rm_config_fail_entry(config, error, "standby.servers", server, "name", "found \"%s\", %s", written,
                                    RM_CONFIG_NAME_RULE);
    strcpy(servers[server].name, written);
    if (server != 0 && strcmp(servers[0].name, written) == 0)
        return rm_config_fail_entry(config, error, "standby.servers", server, "name",
                                    "\"%s\" is already the name of the other server, expected another", written);
    return RM_OK;
}

/** The server that has this link already; RM_CONFIG_SERVERS: none. */
static uint32_t server_at(struct rm_config_standby const *standby, struct rm_config_link const *link) {
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; s++)
        for (uint32_t i = 0; i < standby->server[s].link_count; i++)
            if (standby->server[s].link[i].ipv4 == link->ipv4 && standby->server[s].link[i].port == link->port)
                return s;
    return RM_CONFIG_SERVERS;
}

static enum rm_code take_links(struct rm_file_standby const *file, struct rm_config *config, uint32_t server,
                               struct rm_error *error) {
    uint32_t const first_multicast = 0xE0000000u; /* 224.0.0.0 */
    struct rm_config_server *const to = &config->standby.server[server];
    struct rm_file_server const *const from = &file->servers[server];
    if (from->links_count != file->servers[0].links_count)
        return rm_config_fail_entry(config, error, "standby.servers", server, "links",
                                    "found %u, expected %u: each joins the other server's link of its number",
                                    from->links_count, file->servers[0].links_count);
    for (uint32_t i = 0; i < from->links_count; i++) {
        struct rm_config_link link;
        if (!rm_endpoint_parse(from->links[i], &link.ipv4, &link.port) || link.ipv4 == 0 ||
            link.ipv4 >= first_multicast)
            return rm_config_fail_entry(config, error, "standby.servers", server, "links",
                                        "found \"%s\", expected an address of this server and a UDP port, such as "
                                        "10.40.0.1:4671",
                                        from->links[i]);
        uint32_t const other = server_at(&config->standby, &link);
        if (other != RM_CONFIG_SERVERS)
            return rm_config_fail_entry(config, error, "standby.servers", server, "links",
                                        "%s is already a link of server \"%s\", expected one of its own",
                                        from->links[i], config->standby.server[other].name);
        to->link[to->link_count++] = link;
    }
    return RM_OK;
}

static enum rm_code take_times(struct rm_file_standby const *file, struct rm_config *config, struct rm_error *error) {
    struct rm_config_standby *const standby = &config->standby;
    standby->missed_cycles = *file->missed_cycles;
    if (standby->missed_cycles < MISSED_CYCLES_LEAST || standby->missed_cycles > MISSED_CYCLES_MAX)
        return rm_config_fail(config, error, "standby.missed_cycles", "found %u, expected %d to %d cycles",
                              standby->missed_cycles, MISSED_CYCLES_LEAST, MISSED_CYCLES_MAX);
    double const begin_s = *file->begin_s, cycles = ceil(begin_s / cycle_s(config));
    if (!(begin_s > 0 && begin_s <= BEGIN_MOST_S && cycles <= UINT32_MAX))
        return rm_config_fail(config, error, "standby.begin_s", "found %g s, expected more than 0, up to %g s", begin_s,
                              BEGIN_MOST_S);
    if (cycles <= standby->missed_cycles)
        return rm_config_fail(config, error, "standby.begin_s",
                              "%g s are %.0f cycles, expected more than the %u of missed_cycles: more than %g s",
                              begin_s, cycles, standby->missed_cycles, standby->missed_cycles * cycle_s(config));
    standby->begin_cycles = (uint32_t)cycles;
    return RM_OK;
}

static enum rm_code take_key(struct rm_file_standby const *file, struct rm_config *config, struct rm_error *error) {
    if (rm_config_locate(config, file->key, config->standby.key_path))
        return RM_OK;
    return rm_config_fail(config, error, "standby.key",
                          "with the configuration's folder before it the path is longer than %d bytes",
                          RM_CONFIG_PATH_BYTES - 1);
}

enum rm_code rm_config_resolve_standby(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error) {
    struct rm_file_standby const *const written = file->standby;
    if (written == NULL)
        return RM_OK;
    config->standby.present = true;
    if (config->setpoints.period_turns == 0)
        return rm_config_fail(config, error, "standby",
                              "there are no setpoints that one of two servers would send, expected the keys "
                              "\"setpoints\" and \"chains\" too");
    enum rm_code code = RM_OK;
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; s++)
        code = rm_code_first(code, take_name(written, config, s, error));
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; s++)
        code = rm_code_first(code, take_links(written, config, s, error));
    code = rm_code_first(code, take_times(written, config, error));
    return rm_code_first(code, take_key(written, config, error));
}

/** A chain that stops by itself before the standby can have taken over makes a step of its own. */
static enum rm_code check_timeout(struct rm_config_file const *file, struct rm_config const *config, uint32_t index,
                                  struct rm_error *error) {
    struct rm_config_chain const *const chain = &config->chain[index];
    uint32_t const entry = rm_config_written_chain(file, index);
    uint32_t const cycles = config->standby.missed_cycles + ASKING_CYCLES;
    double const least_s = cycles * cycle_s(config);
    if (chain->timeout_s == 0)
        return rm_config_fail_entry(
            config, error, "chains", entry, NULL,
            "the key \"timeout_us\" is missing, expected with standby: the time after which the "
            "chain stops by itself, more than %.4g µs (%u cycles); 0: never",
            1e6 * least_s, cycles);
    if (chain->timeout_s > least_s)
        return RM_OK;
    return rm_config_fail_entry(
        config, error, "chains", entry, "timeout_us",
        "found %g µs, expected more than %.4g µs: the %u cycles of standby.missed_cycles, and %d "
        "in which the standby asks the chains and takes over",
        1e6 * chain->timeout_s, 1e6 * least_s, config->standby.missed_cycles, ASKING_CYCLES);
}

/** One error for each entry of the file. */
static enum rm_code check_timeouts(struct rm_config_file const *file, struct rm_config const *config,
                                   struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < config->chain_count; c++)
        if (c == 0 || rm_config_written_chain(file, c) != rm_config_written_chain(file, c - 1))
            code = rm_code_first(code, check_timeout(file, config, c, error));
    return code;
}

static enum rm_code check_voters(struct rm_config const *config, struct rm_error *error) {
    for (uint32_t c = 0; c < config->chain_count; c++)
        if (config->chain[c].readback)
            return RM_OK;
    return rm_config_fail(config, error, "chains",
                          "none of them answers, so none can say which server it obeys, expected some without "
                          "\"readback: false\" with standby");
}

enum rm_code rm_config_check_standby(struct rm_config_file const *file, struct rm_config const *config,
                                     struct rm_error *error) {
    if (!config->standby.present)
        return RM_OK;
    enum rm_code code = check_timeouts(file, config, error);
    code = rm_code_first(code, check_voters(config, error));
    if (config->simulated_time)
        code =
            rm_code_first(code, rm_config_fail(config, error, "simulated_time",
                                               "found true with standby, expected false: the ring would wait for the "
                                               "setpoints of a server that is to be missed"));
    if (!rm_config_tells_turn(config))
        code =
            rm_code_first(code, rm_config_fail(config, error, "standby",
                                               "both servers must count the same turns, but no instrument tells them: "
                                               "expected some on a port of the first receive role"));
    return code;
}
