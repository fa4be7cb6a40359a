// SPDX-License-Identifier: Apache-2.0
#include "ring_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "base/fail.h"
#include "lane_model.h"
#include "ring_file.h"
#include "ring_resolve.h"

static uint64_t const DEFAULT_FIRST_TURN = 1000000;
static double const DEFAULT_TURN_RATE_HZ = 1157000;

void rm_ring_flow_default(struct rm_flow *flow) {
    /* The MAC is locally administered: a kernel that sees the frames leaves them alone. */
    *flow = (struct rm_flow){
        .destination_mac = {0x02, 'R', 'M', 0, 0, 1},
        .destination_ipv4 = 0x0A14FF01,
        .source_port = 4660,
        .destination_port = 4660,
    };
}

static enum rm_code resolve_core(struct rm_resolve const *resolve) {
    uint32_t const *core = resolve->file->core;
    resolve->config->core = core == NULL ? RM_RING_ANY_CORE : (int32_t)*core;
    if (core != NULL && *core > INT32_MAX)
        return rm_yaml_fail(resolve->error, resolve->path, "core", "found %u, expected the number of a CPU", *core);
    return RM_OK;
}

static enum rm_code resolve_mac(struct rm_resolve const *resolve, char const *key, char const *text, uint8_t mac[6]) {
    if (text == NULL || rm_mac_parse(text, mac))
        return RM_OK;
    return rm_yaml_fail(resolve->error, resolve->path, key, "found \"%s\", expected a MAC such as 02:00:0a:14:ff:01",
                        text);
}

static enum rm_code resolve_flow(struct rm_resolve const *resolve) {
    struct rm_ring_file const *file = resolve->file;
    struct rm_flow *flow = &resolve->config->flow;
    rm_ring_flow_default(flow);
    if (file->udp_port != NULL && *file->udp_port == 0)
        return rm_yaml_fail(resolve->error, resolve->path, "udp_port", "found 0, expected 1 to 65535");
    if (file->udp_port != NULL)
        flow->source_port = flow->destination_port = *file->udp_port;
    if (file->destination != NULL && !rm_ipv4_parse(file->destination, &flow->destination_ipv4))
        return rm_yaml_fail(resolve->error, resolve->path, "destination",
                            "found \"%s\", expected an IPv4 address such as 10.20.255.1", file->destination);
    enum rm_code const code = resolve_mac(resolve, "destination_mac", file->destination_mac, flow->destination_mac);
    return code != RM_OK ? code : resolve_mac(resolve, "source_mac", file->source_mac, flow->source_mac);
}

static enum rm_code check_unique(struct rm_resolve const *resolve, uint32_t index) {
    struct rm_virtual_instrument const *all = resolve->config->instruments, *one = &all[index];
    for (uint32_t i = 0; i < index; ++i) {
        if (strcmp(all[i].name, one->name) == 0)
            return rm_resolve_fail(resolve, "instruments", index, "name", "instruments[%u] has the name \"%s\" already",
                                   i, one->name);
        if (all[i].id == one->id && all[i].source_ipv4 == one->source_ipv4)
            return rm_resolve_fail(resolve, "instruments", index, "id",
                                   "\"%s\" has the same id and source: nobody could tell them apart", all[i].name);
    }
    return RM_OK;
}

static enum rm_code resolve_instrument(struct rm_resolve const *resolve, uint32_t index) {
    struct rm_ring_file_instrument const *from = &resolve->file->instruments[index];
    struct rm_virtual_instrument *to = &resolve->config->instruments[index];
    *to = (struct rm_virtual_instrument){
        .kind = from->kind, .id = from->id, .lane_count = rm_lane_model_count(from->kind)};
    snprintf(to->name, sizeof to->name, "%s", from->name);
    if (strcmp(from->name, "all") == 0 || !rm_virtual_name_is_good(from->name))
        return rm_resolve_fail(resolve, "instruments", index, "name",
                               "found \"%s\", expected a name of a-z, 0-9, _ and -, other than \"all\"", from->name);
    if (!rm_ipv4_parse(from->source, &to->source_ipv4))
        return rm_resolve_fail(resolve, "instruments", index, "source",
                               "found \"%s\", expected an IPv4 address such as 10.20.0.1", from->source);
    return check_unique(resolve, index);
}

static enum rm_code resolve_instruments(struct rm_resolve const *resolve) {
    struct rm_ring_config *config = resolve->config;
    config->instruments = calloc(resolve->file->instruments_count, sizeof *config->instruments);
    if (config->instruments == NULL)
        return rm_fail(resolve->error, RM_E_NO_SPACE, "%s: no memory for the instruments", resolve->path);
    enum rm_code code = RM_OK;
    while (code == RM_OK && config->instrument_count < resolve->file->instruments_count)
        code = resolve_instrument(resolve, config->instrument_count++);
    return code;
}

static enum rm_code resolve(struct rm_resolve const *resolve) {
    struct rm_ring_file const *file = resolve->file;
    struct rm_ring_config *config = resolve->config;
    config->first_turn = file->first_turn == NULL ? DEFAULT_FIRST_TURN : *file->first_turn;
    config->udp_checksum = file->udp_checksum != NULL && *file->udp_checksum;
    config->beam.turn_rate_hz = file->turn_rate_hz == NULL ? DEFAULT_TURN_RATE_HZ : *file->turn_rate_hz;
    config->beam.seed = file->seed == NULL ? 1 : *file->seed;
    if (file->workspace != NULL)
        snprintf(config->workspace, sizeof config->workspace, "%s", file->workspace);
    if (config->first_turn > RM_RING_FIRST_TURN_MAX)
        return rm_yaml_fail(resolve->error, resolve->path, "first_turn", "found %llu, expected at most 2^62",
                            (unsigned long long)config->first_turn);
    if (!(config->beam.turn_rate_hz >= RM_RING_TURN_RATE_MIN && config->beam.turn_rate_hz <= RM_RING_TURN_RATE_MAX))
        return rm_yaml_fail(resolve->error, resolve->path, "turn_rate_hz", "found %g, expected %g to %g",
                            config->beam.turn_rate_hz, RM_RING_TURN_RATE_MIN, RM_RING_TURN_RATE_MAX);
    enum rm_code (*const parts[])(struct rm_resolve const *) = {
        resolve_core, rm_resolve_port, resolve_flow, rm_resolve_beam, resolve_instruments, rm_resolve_faults};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p) {
        enum rm_code const code = parts[p](resolve);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

enum rm_code rm_ring_config_load(char const *path, struct rm_ring_config *config, struct rm_error *error) {
    struct rm_ring_file *file = NULL;
    *config = (struct rm_ring_config){0};
    enum rm_code code = rm_yaml_load(path, &rm_ring_schema, (void **)&file, error);
    if (code != RM_OK)
        return code;
    code = resolve(&(struct rm_resolve){path, file, config, error});
    rm_yaml_free(&rm_ring_schema, file);
    if (code != RM_OK)
        rm_ring_config_free(config);
    return code;
}

void rm_ring_config_free(struct rm_ring_config *config) {
    free(config->instruments);
    free(config->faults);
    *config = (struct rm_ring_config){0};
}
