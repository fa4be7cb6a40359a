// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure_feed.h"

#include <stdlib.h>

#include "net/port.h"
#include "wire/frame.h"
#include "wire/native.h"

static rm_turn const FIRST_TURN = 1ull << 40; /**< eleven days at 1.157 MHz; any offset may be taken off it */
static int32_t const LANE_BASE = 0x3F800000;  /**< 1.0 as f32, so that no lane is denormal */

enum {
    OWN_IPV4 = 0x0AFFFFFE,
    SENDER_PORT = 40000,
    STATUS = 0,
};

bool rm_measure_feed_init(struct rm_measure_feed *feed, struct rm_config const *config, uint32_t port_index,
                          bool shuffled) {
    uint16_t const vlan = config->port[port_index].vlan;
    *feed = (struct rm_measure_feed){
        .config = config,
        .vlan = vlan == RM_CONFIG_ANY_VLAN ? 0 : vlan,
        .shuffled = shuffled,
        .order = malloc(config->instrument_count * sizeof *feed->order),
        .next = config->instrument_count,
        .turn = FIRST_TURN,
        .random = 0x9E3779B97F4A7C15,
    };
    for (uint32_t i = 0; feed->order != NULL && i < config->instrument_count; ++i)
        feed->order[i] = i;
    return feed->order != NULL;
}

void rm_measure_feed_free(struct rm_measure_feed *feed) { free(feed->order); }

/** Marsaglia's xorshift64. */
static uint64_t measure_feed_draw(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void begin_turn(struct rm_measure_feed *feed) {
    feed->next = 0;
    ++feed->turn;
    for (uint32_t i = feed->config->instrument_count - 1; feed->shuffled && i > 0; --i) {
        uint32_t const other = (uint32_t)(measure_feed_draw(&feed->random) % (i + 1));
        uint32_t const taken = feed->order[i];
        feed->order[i] = feed->order[other];
        feed->order[other] = taken;
    }
}

uint32_t rm_measure_frame_bytes(struct rm_config const *config, uint32_t instrument) {
    uint16_t const vlan = config->port[config->instrument[instrument].port].vlan;
    bool const tagged = vlan != RM_CONFIG_ANY_VLAN && vlan != 0;
    return RM_FRAME_HEADER_BYTES + (tagged ? RM_VLAN_BYTES : 0) + RM_NATIVE_HEADER_BYTES +
           (uint32_t)sizeof(union rm_lane) * config->instrument[instrument].lane_count;
}

/** The frame of one instrument's turn; returns its length. */
static uint32_t write_measured_frame(struct rm_measure_feed const *feed, uint32_t index, uint8_t *frame) {
    struct rm_config_instrument const *instrument = &feed->config->instrument[index];
    struct rm_flow const flow = {
        .source_ipv4 = instrument->source_ipv4,
        .destination_ipv4 = OWN_IPV4,
        .source_port = SENDER_PORT,
        .destination_port = rm_config_udp_port(feed->config, instrument->port, instrument->format),
        .vlan = feed->vlan,
    };
    union rm_lane lane[RM_LANES];
    for (uint32_t i = 0; i < RM_LANES; ++i)
        lane[i].i = LANE_BASE + (int32_t)((feed->turn + i) & 0xFFFF);
    uint32_t const payload_bytes = RM_NATIVE_HEADER_BYTES + (uint32_t)sizeof *lane * instrument->lane_count;
    uint32_t const header_bytes = rm_frame_write_header(frame, &flow, payload_bytes);
    return header_bytes + rm_native_write(frame + header_bytes, (uint8_t)instrument->kind, instrument->id, STATUS,
                                          feed->turn - (uint64_t)instrument->turn_offset, lane, instrument->lane_count);
}

uint32_t rm_measure_feed_fill(struct rm_measure_feed *feed, uint32_t datagrams) {
    struct rm_burst burst;
    uint32_t sent = 0;
    while (sent < datagrams) {
        uint32_t const wanted = datagrams - sent < RM_BURST ? datagrams - sent : RM_BURST;
        if (rm_port_reserve(feed->port, 0, &burst, wanted) == 0)
            break;
        for (uint32_t i = 0; i < burst.count; ++i) {
            if (feed->next == feed->config->instrument_count)
                begin_turn(feed);
            burst.length[i] = write_measured_frame(feed, feed->order[feed->next++], burst.data[i]);
        }
        sent += rm_port_send(feed->port, 0, &burst);
        if (burst.count != 0) {
            rm_port_release(feed->port, 0, &burst);
            break;
        }
    }
    return sent;
}
