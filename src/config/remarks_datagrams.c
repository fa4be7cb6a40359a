// SPDX-License-Identifier: Apache-2.0
/* Do datagrams fit their port, and lanes beside each other? */
#include "config/remarks.h"

#include "wire/native.h"

enum {
    ETHERNET_BYTES = 14,
    VLAN_BYTES = 4,
    IP_UDP_BYTES = 20 + 8,
    MTU_BYTES = 1500, /* senders fragment what is longer; a port that sees the fragments needs no longer frames */
};

static bool same_sender(struct rm_config_instrument const *one, struct rm_config_instrument const *other) {
    return one->port == other->port && one->source_ipv4 == other->source_ipv4 && one->format == other->format;
}

/* Instruments from one address in one format share its datagrams, when the format has no count of its own. */
static uint32_t sender_blocks(struct rm_config const *config, uint32_t first) {
    uint32_t count = 0;
    for (uint32_t i = first; i < config->instrument_count; i++)
        count += same_sender(&config->instrument[first], &config->instrument[i]);
    return count;
}

static bool is_first_of_sender(struct rm_config const *config, uint32_t instrument) {
    for (uint32_t i = 0; i < instrument; i++)
        if (same_sender(&config->instrument[i], &config->instrument[instrument]))
            return false;
    return true;
}

static bool kernel_reassembles(enum rm_port_kind kind) { return kind == RM_PORT_AF_PACKET || kind == RM_PORT_UDP; }

static void remark_length(struct rm_config const *config, uint32_t first, uint32_t port,
                          struct rm_config_remarks *remarks) {
    struct rm_config_instrument const *const instrument = &config->instrument[first];
    struct rm_format const *const format = &config->format[instrument->format];
    struct rm_config_port const *const on = &config->port[port];
    uint32_t const blocks = sender_blocks(config, first);
    uint32_t const payload = format->layout == NULL ? RM_NATIVE_HEADER_BYTES + 4 * instrument->lane_count
                                                    : rm_layout_payload_bytes(format->layout, blocks);
    bool const tagged = on->vlan != 0 && on->vlan != RM_CONFIG_ANY_VLAN;
    uint32_t const headers = ETHERNET_BYTES + (tagged ? VLAN_BYTES : 0) + IP_UDP_BYTES;
    uint32_t const frame = payload + headers;
    if (frame <= on->port.longest_frame)
        return;
    if (!kernel_reassembles(on->port.kind) && on->port.longest_frame >= MTU_BYTES + headers - IP_UDP_BYTES)
        return; /* fragments of it come, and they fit */
    rm_config_remark(
        remarks,
        "a datagram of format %s from %s%s has %u bytes, %u with its headers, and longest_frame of port %s "
        "is %u: it would not be received; longest_frame: %u holds it",
        format->name, instrument->name, blocks > 1 ? " …" : "", payload, frame, on->port.name, on->port.longest_frame,
        frame);
}

static void remark_overlap(struct rm_format const *format, struct rm_config_remarks *remarks) {
    struct rm_layout_description const *const layout = rm_layout_described(format->layout);
    for (uint32_t i = 0; i < layout->lane_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            struct rm_layout_lane const *const one = &layout->lane[k], *const other = &layout->lane[i];
            uint32_t const one_end = one->at + rm_field_bytes(one->type);
            uint32_t const other_end = other->at + rm_field_bytes(other->type);
            if (one->at < other_end && other->at < one_end)
                rm_config_remark(remarks,
                                 "format %s: lanes %s (bytes %u to %u) and %s (bytes %u to %u) overlap; is one `at` "
                                 "wrong?",
                                 format->name, one->name, one->at, one_end - 1, other->name, other->at, other_end - 1);
        }
    }
}

/* 0: it tells the turn by itself. */
static uint64_t lap_of(struct rm_config const *config, uint32_t instrument) {
    struct rm_config_instrument const *const counts = &config->instrument[instrument];
    struct rm_layout const *const layout = config->format[counts->format].layout;
    return layout == NULL ? 0 : rm_counter_lap_turns(rm_layout_counter_bits(layout), counts->period_turns);
}

/* The instrument with the longest lap; as many as there are where one tells the turn by itself, or none counts. */
static uint32_t longest_counter(struct rm_config const *config) {
    uint32_t longest = config->instrument_count;
    for (uint32_t i = 0; i < config->instrument_count; i++) {
        if (config->instrument[i].follows)
            continue;
        if (lap_of(config, i) == 0)
            return config->instrument_count;
        if (longest == config->instrument_count || lap_of(config, i) > lap_of(config, longest))
            longest = i;
    }
    return longest;
}

/* Where no instrument tells the turn by itself, the longest counters set the clock, and begin again where its turns do:
 * so must the others. */
static void remark_laps(struct rm_config const *config, struct rm_config_remarks *remarks) {
    uint32_t const longest = longest_counter(config);
    for (uint32_t i = 0; longest < config->instrument_count && i < config->instrument_count; i++) {
        uint64_t const lap = config->instrument[i].follows ? 0 : lap_of(config, i);
        if (lap == 0 || lap_of(config, longest) % lap == 0)
            continue;
        rm_config_remark(
            remarks,
            "the counter of %s begins again every %llu turns, that of %s, which sets the turn clock, every "
            "%llu: no multiple, so the turns of the two go apart each time",
            config->instrument[i].name, (unsigned long long)lap, config->instrument[longest].name,
            (unsigned long long)lap_of(config, longest));
        return;
    }
}

void rm_config_remark_datagrams(struct rm_config const *config, struct rm_config_remarks *remarks) {
    for (uint32_t i = 0; i < config->format_count; i++)
        if (config->format[i].layout != NULL)
            remark_overlap(&config->format[i], remarks);
    remark_laps(config, remarks);
    for (uint32_t i = 0; i < config->instrument_count; i++) {
        struct rm_config_instrument const *const instrument = &config->instrument[i];
        if (instrument->follows || !is_first_of_sender(config, i))
            continue;
        remark_length(config, i, instrument->port, remarks);
        if (instrument->mirror.present)
            remark_length(config, i, instrument->mirror.port, remarks);
    }
}
