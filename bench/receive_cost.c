// SPDX-License-Identifier: Apache-2.0
/** What does the receive role cost per packet, without any port behind it?
 *
 *     receive_cost [INSTRUMENTS] [BURSTS]      default 9 and 200000
 *
 * Bursts of 64 frames of 74 to 106 bytes lie in memory already; their turns are written just before each burst. Two
 * loops alternate: one only writes the turns, the other hands the burst to rm_receive_duty as well. The difference of
 * their medians is the role: parse, checks, gate, ring, both decimators, counters, publication.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "engine/receive.h"
#include "wire/frame.h"

enum { ROUNDS = 15, CAPACITY = 1 << 20, CHAIN_CAPACITY = 1 << 17, LANES = 8, IDS = 65536, FRAME_BYTES = 128 };

/** The port of this program: a burst that is always ready. */
struct rm_port {
    uint8_t (*frame)[FRAME_BYTES]; /**< RM_BURST of them */
    uint32_t instruments;
    uint64_t sent;
};

static void write_turns(struct rm_port *port) {
    for (uint32_t i = 0; i < RM_BURST; ++i, ++port->sent) {
        uint64_t const turn = 1000 + port->sent / port->instruments;
        uint16_t const id = (uint16_t)(port->sent % port->instruments);
        uint8_t *payload = port->frame[i] + RM_FRAME_HEADER_BYTES;
        memcpy(payload + 4, &id, sizeof id);
        memcpy(payload + 8, &turn, sizeof turn);
    }
}

uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    for (uint32_t i = 0; i < RM_BURST; ++i) {
        burst->data[i] = port->frame[i];
        burst->length[i] = RM_FRAME_HEADER_BYTES + RM_NATIVE_HEADER_BYTES + 4 * LANES;
        burst->checksum_good[i] = false;
    }
    burst->count = RM_BURST;
    return RM_BURST;
}

void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port, (void)queue;
    burst->count = 0;
}

static void *zeroed(size_t bytes) {
    void *memory = aligned_alloc(RM_PAGE_BYTES, (bytes + RM_PAGE_BYTES - 1) / RM_PAGE_BYTES * RM_PAGE_BYTES);
    if (memory == NULL)
        exit(1);
    return memset(memory, 0, bytes);
}

static struct rm_stream *make_stream(uint64_t capacity, uint64_t period) {
    struct rm_stream *stream = zeroed(sizeof *stream + capacity * sizeof(struct rm_slot));
    stream->slots_offset = sizeof *stream;
    stream->capacity = capacity;
    stream->period = period;
    stream->margin = 512;
    atomic_store(&stream->head, RM_TURN_NONE);
    atomic_store(&stream->first, RM_TURN_NONE);
    return stream;
}

static struct rm_instrument *make_instrument(uint16_t id) {
    struct rm_instrument *made = zeroed(sizeof *made);
    made->id = id;
    made->kind = RM_KIND_BPM;
    made->lane_count = LANES;
    made->source_ipv4 = 0x0A000001;
    made->counters = zeroed(RM_STREAM_COUNTERS * sizeof(rm_counter));
    made->next_decimated = RM_TURN_NONE;
    made->gap_turns = 32;
    struct rm_fir_design const *designs[RM_CHAINS] = {&rm_fir_prompt, &rm_fir_sharp};
    if (!rm_stream_writer_open(&made->writer, make_stream(CAPACITY, 1), 4096))
        exit(1);
    for (int i = 0; i < RM_CHAINS; ++i) {
        rm_decimator_init(&made->chain[i].decimator, designs[i], rm_simd_best(), 0);
        if (!rm_stream_writer_open(&made->chain[i].writer, make_stream(CHAIN_CAPACITY, 12), 4096))
            exit(1);
    }
    return made;
}

static struct rm_receive *make_role(struct rm_port *port, uint32_t instruments) {
    struct rm_receive *role = zeroed(sizeof *role);
    struct rm_receive_queue *queue = zeroed(sizeof *queue);
    *queue = (struct rm_receive_queue){.port = port,
                                       .udp_port = 4660,
                                       .framing = RM_FRAMING_ETHERNET,
                                       .counters = zeroed(RM_PORT_COUNTERS * sizeof(rm_counter)),
                                       .by_id = zeroed(IDS * sizeof(void *))};
    role->queue = queue;
    role->queue_count = 1;
    role->instrument = zeroed(instruments * sizeof(void *));
    role->vote = zeroed(instruments * sizeof(void *));
    role->touched = zeroed(instruments * sizeof(void *));
    role->instrument_count = instruments;
    for (uint32_t i = 0; i < instruments; ++i) {
        role->instrument[i] = make_instrument((uint16_t)i);
        role->vote[i] = &role->instrument[i]->vote;
        rm_receive_index(queue->by_id, role->instrument[i]);
    }
    struct rm_gate_config const gate = {
        .turn_rate_hz = 1157000.0, .tsc_hz = rm_tsc_hz_measure(), .ahead_turns = 2048, .silence_turns = 262144};
    rm_turn_gate_init(&role->gate, &gate, zeroed(RM_CLOCK_COUNTERS * sizeof(rm_counter)));
    role->follow_ticks = (uint64_t)(0.01 * gate.tsc_hz);
    role->latency = zeroed(sizeof(struct rm_histogram));
    role->core_counters = zeroed(RM_CORE_COUNTERS * sizeof(rm_counter));
    return role;
}

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv) {
    uint32_t const instruments = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 9;
    uint64_t const bursts = argc > 2 ? strtoull(argv[2], NULL, 10) : 200000;
    struct rm_port port = {.frame = zeroed(RM_BURST * FRAME_BYTES), .instruments = instruments};
    struct rm_flow const flow = {.source_ipv4 = 0x0A000001, .destination_ipv4 = 0x0A00FF01, .destination_port = 4660};
    for (uint32_t i = 0; i < RM_BURST; ++i) {
        union rm_lane const lanes[LANES] = {{.i = (int32_t)i}};
        rm_frame_write_header(port.frame[i], &flow, RM_NATIVE_HEADER_BYTES + 4 * LANES);
        rm_native_write(port.frame[i] + RM_FRAME_HEADER_BYTES, RM_KIND_BPM, 0, 0, 0, lanes, LANES);
    }
    struct rm_receive *role = make_role(&port, instruments);
    double empty[ROUNDS], full[ROUNDS];
    double const ns_per_tick = 1e9 / role->gate.config.tsc_hz;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t const sent = port.sent;
        uint64_t const begin = rm_tsc();
        for (uint64_t i = 0; i < bursts; ++i) {
            write_turns(&port);
            __asm__ volatile("" ::: "memory");
        }
        uint64_t const middle = rm_tsc();
        port.sent = sent;
        for (uint64_t i = 0; i < bursts; ++i) {
            write_turns(&port);
            rm_receive_duty(role, rm_tsc());
        }
        empty[round] = (double)(middle - begin) * ns_per_tick / (double)(bursts * RM_BURST);
        full[round] = (double)(rm_tsc() - middle) * ns_per_tick / (double)(bursts * RM_BURST);
    }
    qsort(empty, ROUNDS, sizeof empty[0], by_size);
    qsort(full, ROUNDS, sizeof full[0], by_size);
    uint64_t accepted = 0;
    for (uint32_t i = 0; i < instruments; ++i)
        accepted += rm_counter_get(role->instrument[i]->counters, RM_STREAM_ACCEPTED);
    printf("%u instruments: %.2f ns per packet (%.2f to %.2f with the turns' %.2f); %.4f accepted\n", instruments,
           full[ROUNDS / 2] - empty[ROUNDS / 2], full[0], full[ROUNDS - 1], empty[ROUNDS / 2],
           (double)accepted / (double)port.sent);
    return 0;
}
