// SPDX-License-Identifier: Apache-2.0
#include "traffic/instrument_groups.h"

#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

#include "base/fail.h"
#include "wire/arp.h"
#include "wire/native.h"

enum { ONE_BLOCK = 1, ANY_BLOCKS = 0 };

static struct rm_config_instrument const *group_instrument(struct rm_instrument_groups const *groups, uint32_t index) {
    return &groups->config->instrument[groups->instrument[index]];
}

static struct rm_format const *instrument_format(struct rm_instrument_groups const *groups, uint32_t index) {
    return &groups->config->format[group_instrument(groups, index)->format];
}

/** Instruments in a datagram; ANY_BLOCKS: as many as there are. */
static uint32_t format_blocks(struct rm_format const *format) {
    return format->layout == NULL ? ONE_BLOCK : rm_layout_described(format->layout)->instrument_count;
}

static enum rm_code choose_instruments(struct rm_config const *config, char const *pattern,
                                       struct rm_instrument_groups *groups, struct rm_error *error) {
    groups->instrument = calloc(config->instrument_count, sizeof *groups->instrument);
    groups->group = calloc(config->instrument_count, sizeof *groups->group);
    if (groups->instrument == NULL || groups->group == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u instruments", config->instrument_count);
    for (uint32_t i = 0; i < config->instrument_count; ++i)
        if (!config->instrument[i].follows && rm_pattern_matches(pattern, config->instrument[i].name))
            groups->instrument[groups->instrument_count++] = i;
    if (groups->instrument_count == 0)
        return rm_fail(error, RM_E_CONFIG, "%s: none of its %u instruments is called \"%s\"", config->source_path,
                       config->instrument_count, pattern);
    return RM_OK;
}

static bool share_datagrams(struct rm_config_instrument const *one, struct rm_config_instrument const *other) {
    return one->port == other->port && one->source_ipv4 == other->source_ipv4 && one->format == other->format &&
           one->period_turns == other->period_turns;
}

/** Puts the instruments into groups, in their order. */
static void group_instruments(struct rm_instrument_groups *groups) {
    for (uint32_t i = 0; i < groups->instrument_count; ++i) {
        struct rm_config_instrument const *const one = group_instrument(groups, i);
        struct rm_format const *const format = instrument_format(groups, i);
        uint32_t const blocks = format_blocks(format);
        struct rm_instrument_group *const last =
            groups->group_count != 0 ? &groups->group[groups->group_count - 1] : NULL;
        if (last != NULL && (blocks == ANY_BLOCKS || last->count < blocks) &&
            share_datagrams(group_instrument(groups, last->first), one)) {
            ++last->count;
            continue;
        }
        groups->group[groups->group_count++] = (struct rm_instrument_group){
            .first = i,
            .count = 1,
            .layout = format->layout,
            .readings = format->layout == NULL ? 1 : rm_layout_described(format->layout)->turn_count,
            .period_turns = one->period_turns,
        };
    }
}

static enum rm_code group_check(struct rm_config const *config, struct rm_instrument_group const *group,
                                struct rm_format const *format, struct rm_config_instrument const *first,
                                struct rm_instrument_datagrams const *of, struct rm_error *error) {
    uint32_t const blocks = format_blocks(format), length = group->header_bytes + group->payload_bytes;
    if (blocks != ANY_BLOCKS && group->count != blocks)
        return rm_fail(
            error, RM_E_CONFIG,
            "%s: instrument \"%s\": a datagram of format \"%s\" is of %u instruments, found %u of its source "
            "that are called \"%s\"",
            config->source_path, first->name, format->name, blocks, group->count, of->pattern);
    if (length > of->longest_frame || group->count * group->readings > RM_LAYOUT_RECORDS_MAX)
        return rm_fail(
            error, RM_E_CONFIG,
            "%s: instrument \"%s\": its frames are of %u bytes, with %u records; expected up to %u bytes, the "
            "port's longest_frame, and %d records",
            config->source_path, first->name, length, group->count * group->readings, of->longest_frame,
            RM_LAYOUT_RECORDS_MAX);
    return RM_OK;
}

static enum rm_code group_make(struct rm_config const *config, struct rm_instrument_groups const *groups,
                               struct rm_instrument_datagrams const *of, struct rm_instrument_group *group,
                               struct rm_error *error) {
    struct rm_config_instrument const *const first = group_instrument(groups, group->first);
    struct rm_layout const *const layout = group->layout;
    uint16_t const vlan = config->port[first->port].vlan;
    struct rm_flow flow = of->flow;
    flow.source_ipv4 = first->source_ipv4;
    flow.destination_port = rm_config_udp_port(config, first->port, first->format);
    flow.source_port = flow.source_port != 0 ? flow.source_port : flow.destination_port;
    flow.vlan = vlan != RM_CONFIG_ANY_VLAN ? vlan : flow.vlan;
    static uint8_t const none[6];
    if (memcmp(flow.source_mac, none, sizeof none) == 0)
        rm_arp_make_mac(flow.source_ipv4, flow.source_mac);
    group->payload_bytes =
        layout == NULL ? RM_NATIVE_HEADER_BYTES + 4 * first->lane_count : rm_layout_payload_bytes(layout, group->count);
    group->header_bytes = rm_frame_write_header(group->header, &flow, group->payload_bytes);
    enum rm_code const code = group_check(config, group, instrument_format(groups, group->first), first, of, error);
    if (code != RM_OK)
        return code;
    group->payload = calloc(1, group->payload_bytes);
    if (group->payload == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the datagrams of \"%s\"", first->name);
    if (layout != NULL)
        rm_layout_begin(layout, group->payload, group->payload_bytes);
    return RM_OK;
}

enum rm_code rm_instrument_groups_make(struct rm_config const *config, struct rm_instrument_datagrams const *of,
                                       struct rm_instrument_groups *groups, struct rm_error *error) {
    *groups = (struct rm_instrument_groups){.config = config};
    enum rm_code code = choose_instruments(config, of->pattern, groups, error);
    if (code == RM_OK)
        group_instruments(groups);
    for (uint32_t g = 0; code == RM_OK && g < groups->group_count; ++g)
        code = group_make(config, groups, of, &groups->group[g], error);
    if (code != RM_OK)
        rm_instrument_groups_free(groups);
    return code;
}

void rm_instrument_groups_free(struct rm_instrument_groups *groups) {
    for (uint32_t g = 0; g < groups->group_count; ++g)
        free(groups->group[g].payload);
    free(groups->group);
    free(groups->instrument);
    *groups = (struct rm_instrument_groups){.group_count = 0};
}

static void write_lanes(struct rm_config_instrument const *instrument, rm_turn turn, union rm_lane lanes[RM_LANES]) {
    int32_t value = (int32_t)(turn % RM_INSTRUMENT_LANE_RANGE);
    for (uint32_t l = 0; l < instrument->lane_count; ++l) {
        if (instrument->lane[l].type == RM_LANE_F32)
            lanes[l].f = (float)value;
        else
            lanes[l].i = value;
        value += RM_INSTRUMENT_LANE_STEP;
        value -= value >= RM_INSTRUMENT_LANE_RANGE ? RM_INSTRUMENT_LANE_RANGE : 0;
    }
}

/** What an instrument's counter says at a turn: its offset is of whole records. */
static rm_turn counted_turn(struct rm_config_instrument const *instrument, rm_turn turn) {
    int64_t const period = instrument->period_turns;
    return turn - (uint64_t)(instrument->turn_offset / period * period);
}

static void write_described(struct rm_instrument_groups const *groups, struct rm_instrument_group *group,
                            rm_turn turn) {
    rm_turn const first_turn = turn - (uint64_t)(group->readings - 1) * group->period_turns;
    for (uint32_t i = 0; i < group->count; ++i) {
        struct rm_config_instrument const *const instrument = group_instrument(groups, group->first + i);
        for (uint32_t r = 0; r < group->readings; ++r) {
            rm_turn const now = first_turn + (uint64_t)r * group->period_turns;
            struct rm_sample const sample = {.id = instrument->id,
                                             .counter = counted_turn(instrument, now) / group->period_turns};
            union rm_lane lanes[RM_LANES];
            write_lanes(instrument, now, lanes);
            rm_layout_write(group->layout, group->payload, i * group->readings + r, &sample, lanes);
        }
    }
}

uint32_t rm_instrument_group_write(struct rm_instrument_groups const *groups, struct rm_instrument_group *group,
                                   rm_turn turn, uint8_t *frame) {
    memcpy(frame, group->header, group->header_bytes);
    uint8_t *const payload = frame + group->header_bytes;
    if (group->layout == NULL) {
        struct rm_config_instrument const *const one = group_instrument(groups, group->first);
        union rm_lane lanes[RM_LANES];
        write_lanes(one, turn, lanes);
        rm_native_write(payload, (uint8_t)one->kind, one->id, 0, counted_turn(one, turn), lanes, one->lane_count);
    } else {
        write_described(groups, group, turn);
        memcpy(payload, group->payload, group->payload_bytes);
    }
    rm_frame_write_udp_checksum(frame, group->payload_bytes);
    return group->header_bytes + group->payload_bytes;
}
