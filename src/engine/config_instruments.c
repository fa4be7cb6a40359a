// SPDX-License-Identifier: Apache-2.0
#include "engine/config_resolve.h"
#include "engine/kind_lanes.h"

#include <string.h>

static void default_lanes(struct rm_config_instrument *instrument) {
    struct rm_kind_lane const *const lanes = rm_kind_lanes(instrument->kind, &instrument->lane_count);
    for (uint32_t i = 0; i < instrument->lane_count; i++) {
        strcpy(instrument->lane[i].name, lanes[i].name);
        strcpy(instrument->lane[i].unit, lanes[i].unit);
        instrument->lane[i].type = RM_LANE_I32;
    }
}

static enum rm_code fail_lane(struct rm_config const *config, struct rm_error *error, uint32_t index, uint32_t lane,
                              char const *problem, char const *name) {
    char member[32];
    snprintf(member, sizeof member, "lanes[%u].name", lane);
    return rm_config_fail_entry(config, error, "instruments", index, member, "found \"%s\", %s", name, problem);
}

static enum rm_code resolve_lanes(struct rm_config *config, struct rm_error *error, uint32_t index,
                                  struct rm_file_instrument const *written) {
    struct rm_config_instrument *const instrument = &config->instrument[index];
    for (uint32_t i = 0; i < written->lanes_count; i++) {
        struct rm_file_lane const *const lane = &written->lanes[i];
        if (!rm_config_name_is_good(lane->name))
            return fail_lane(config, error, index, i, RM_CONFIG_NAME_RULE, lane->name);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(instrument->lane[j].name, lane->name) == 0)
                return fail_lane(config, error, index, i, "expected a name that no lane before it has", lane->name);
        strcpy(instrument->lane[i].name, lane->name);
        strcpy(instrument->lane[i].unit, lane->unit);
        instrument->lane[i].type = lane->type;
    }
    instrument->lane_count = written->lanes_count;
    return RM_OK;
}

static enum rm_code resolve_name(struct rm_config *config, struct rm_error *error, uint32_t index, char const *name) {
    if (!rm_config_name_is_good(name))
        return rm_config_fail_entry(config, error, "instruments", index, "name", "found \"%s\", " RM_CONFIG_NAME_RULE,
                                    name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(config->instrument[i].name, name) == 0)
            return rm_config_fail_entry(config, error, "instruments", index, "name",
                                        "\"%s\" is already the name of instruments[%u], expected one of its own", name,
                                        i);
    strcpy(config->instrument[index].name, name);
    return RM_OK;
}

static enum rm_code resolve_port(struct rm_config *config, struct rm_error *error, uint32_t index, char const *name) {
    uint32_t const port = rm_config_find_port(config, name, strlen(name));
    char guess[64];
    if (port == config->port_count)
        return rm_config_fail_entry(config, error, "instruments", index, "port",
                                    "found \"%s\", expected the name of a port%s", name,
                                    rm_config_guess_port(config, name, guess, sizeof guess));
    config->instrument[index].port = port;
    return RM_OK;
}

static enum rm_code resolve_source(struct rm_config *config, struct rm_error *error, uint32_t index,
                                   char const *source) {
    uint32_t *const ipv4 = &config->instrument[index].source_ipv4;
    uint32_t const first_multicast = 0xE0000000u; /* 224.0.0.0 */
    if (!rm_config_read_ipv4(source, ipv4) || *ipv4 == 0 || *ipv4 >= first_multicast)
        return rm_config_fail_entry(config, error, "instruments", index, "source",
                                    "found \"%s\", expected the IPv4 address of one host, such as 10.20.0.1", source);
    return RM_OK;
}

static enum rm_code check_identity(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                   char const *source) {
    struct rm_config_instrument const *const instrument = &config->instrument[index];
    for (uint32_t i = 0; i < index; i++) {
        struct rm_config_instrument const *const other = &config->instrument[i];
        if (other->port == instrument->port && other->source_ipv4 == instrument->source_ipv4 &&
            other->id == instrument->id)
            return rm_config_fail_entry(config, error, "instruments", index, "id",
                                        "id %u from %s on port \"%s\" is already instrument \"%s\" (instruments[%u]), "
                                        "expected another port, source or id",
                                        instrument->id, source, config->port[instrument->port].port.name, other->name,
                                        i);
    }
    return RM_OK;
}

static enum rm_code resolve_instrument(struct rm_config *config, struct rm_error *error, uint32_t index,
                                       struct rm_file_instrument const *written) {
    struct rm_config_instrument *const instrument = &config->instrument[index];
    instrument->kind = written->kind;
    instrument->id = written->id;
    instrument->turn_offset = written->turn_offset == NULL ? 0 : *written->turn_offset;
    enum rm_code code = resolve_name(config, error, index, written->name);
    if (code == RM_OK)
        code = resolve_port(config, error, index, written->port);
    if (code == RM_OK)
        code = resolve_source(config, error, index, written->source);
    if (code == RM_OK)
        code = check_identity(config, error, index, written->source);
    if (code != RM_OK)
        return code;
    if (written->lanes != NULL)
        return resolve_lanes(config, error, index, written);
    default_lanes(instrument);
    return RM_OK;
}

enum rm_code rm_config_resolve_instruments(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error) {
    for (uint32_t i = 0; i < file->instruments_count; i++) {
        enum rm_code const code = resolve_instrument(config, error, i, &file->instruments[i]);
        if (code != RM_OK)
            return code;
        config->instrument_count = i + 1;
    }
    return RM_OK;
}
