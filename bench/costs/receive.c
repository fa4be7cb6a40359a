// SPDX-License-Identifier: Apache-2.0
/** The receive role takes a packet, without any port behind it, of a native format and of a described one. Bursts of 64
 * frames lie in memory already; their turns are written just before each burst. Every round runs three loops, each
 * shorter than the slice of time that a busy machine gives: one only writes the turns, one hands each burst to a role of
 * native instruments as well, one to a role whose instruments send the same bytes in a described layout. What is beside
 * the turns alone is the native role's: parse, checks, gate, ring, all decimators, counters, publication. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/timebase.h"
#include "cost.h"
#include "engine/receive.h"
#include "given_port.h"
#include "wire/frame.h"
#include "wire/native.h"

enum {
    BURSTS = 300, /**< of one loop: about a millisecond */
    CAPACITY = 1 << 18,
    FAST_CAPACITY = 1 << 16,
    SLOW_CAPACITY = 1 << 12,
    RATES = 6,
    LANES = 8,
    FRAME_BYTES = 128
};

static uint64_t instruments = 9;

/** What is received: without a role only the turns are written. */
struct subject {
    struct rm_port port;
    uint64_t written; /**< frames whose turns were */
    struct rm_receive *role;
};

static void write_turns(struct subject *subject) {
    for (uint32_t i = 0; i < RM_BURST; ++i, ++subject->written) {
        uint64_t const turn = 1000 + subject->written / instruments;
        uint16_t const id = (uint16_t)(subject->written % instruments);
        uint8_t *payload = given_frame(&subject->port, i) + RM_FRAME_HEADER_BYTES;
        memcpy(payload + 4, &id, sizeof id);
        memcpy(payload + 8, &turn, sizeof turn);
    }
}

static struct rm_stream *make_stream(uint64_t capacity, uint64_t period) {
    struct rm_stream *stream = bench_allocate(sizeof *stream + capacity * sizeof(struct rm_slot));
    stream->slots_offset = sizeof *stream;
    stream->capacity = capacity;
    stream->period = period;
    stream->margin = 512;
    atomic_store(&stream->head, RM_TURN_NONE);
    atomic_store(&stream->first, RM_TURN_NONE);
    return stream;
}

static struct rm_config_rate rate_of(uint32_t from, uint32_t period, char const *filter, uint32_t decimation,
                                     uint64_t records) {
    struct rm_config_rate rate = {.from = from, .period = period, .decimation = decimation, .records = records};
    rate.stage_count = rm_fir_split(filter, decimation, RM_CONFIG_STAGES_MAX, rate.stage);
    return rate;
}

/** The default rates. */
static void make_rates(struct rm_rates *rates, struct rm_arena *arena) {
    struct rm_config_rate const rate[RATES] = {
        rate_of(RM_CONFIG_FROM_TURN, 12, "low_latency", 12, FAST_CAPACITY),
        rate_of(RM_CONFIG_FROM_TURN, 12, "sharp", 12, FAST_CAPACITY),
        rate_of(0, 120, "low_latency", 10, FAST_CAPACITY / 2),
        rate_of(1, 120, "sharp", 10, FAST_CAPACITY / 2),
        rate_of(2, 120000, "low_latency", 1000, SLOW_CAPACITY),
        rate_of(3, 120000, "sharp", 1000, SLOW_CAPACITY),
    };
    struct rm_decimator_input const input = {.period = 1};
    if (!rm_rates_make(rates, rate, RATES, rm_simd_best(), &input, arena))
        bench_fail("no memory");
    for (int i = 0; i < RATES; ++i)
        if (!rm_stream_writer_open(&rates->writer[i], make_stream(rate[i].records, rate[i].period), UINT64_MAX))
            bench_fail("no memory");
}

static struct rm_instrument *make_instrument(struct rm_layout const *layout, struct rm_arena *arena) {
    struct rm_instrument *made = rm_arena_take(arena, sizeof *made);
    if (made == NULL)
        bench_fail("no memory");
    rm_counting_init(&made->counting, 64, layout != NULL, 1, 0);
    made->layout = layout;
    made->kind = RM_KIND_BPM;
    made->lane_count = LANES;
    made->counters = bench_allocate(RM_STREAM_COUNTERS * sizeof(rm_counter));
    made->next_decimated = RM_TURN_NONE;
    made->gap_records = 32;
    if (!rm_stream_writer_open(&made->writer, make_stream(CAPACITY, 1), 4096))
        bench_fail("no memory");
    make_rates(&made->rates, arena);
    return made;
}

static struct rm_receive *make_role(struct rm_port *port, struct rm_layout const *layout, struct rm_arena *arena) {
    uint32_t const count = (uint32_t)instruments;
    struct rm_receive *role = bench_allocate(sizeof *role);
    struct rm_receive_queue *queue = bench_allocate(sizeof *queue);
    struct rm_receive_format *format = bench_allocate(sizeof *format);
    *format = (struct rm_receive_format){.udp_port = 4660, .layout = layout};
    struct rm_identity_table *identities = bench_allocate(sizeof *identities);
    struct rm_error error;
    bench_must(rm_identity_table_init(identities, count, &error), &error);
    *queue = (struct rm_receive_queue){.port = port,
                                       .framing = RM_FRAMING_ETHERNET,
                                       .vlan = RM_RECEIVE_ANY_VLAN,
                                       .counters = bench_allocate(RM_PORT_COUNTERS * sizeof(rm_counter)),
                                       .format_count = 1,
                                       .format = format,
                                       .identities = identities};
    role->queue = queue;
    role->queue_count = 1;
    role->instrument = bench_allocate(count * sizeof(void *));
    role->vote = bench_allocate(count * sizeof(void *));
    role->take_burst = rm_fast_path_burst_for(rm_simd_best());
    role->touched = bench_allocate((count + 1) * sizeof(void *));
    role->instrument_count = role->vote_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        role->instrument[i] = make_instrument(layout, arena);
        role->vote[i] = &role->instrument[i]->vote;
        struct rm_fast_path_sender const sender = {.source_ipv4 = 0x0A000001,
                                                   .udp_port = format->udp_port,
                                                   .id = (uint16_t)i,
                                                   .kind = RM_KIND_BPM,
                                                   .lane_count = LANES};
        rm_instrument_open_fast_path(role->instrument[i], &sender);
        rm_identity_add(identities, sender.source_ipv4, sender.id, role->instrument[i], NULL);
    }
    struct rm_gate_config const gate = {
        .turn_rate_hz = 1157000.0, .tsc_hz = rm_tsc_hz_measure(), .ahead_turns = 2048, .silence_turns = 262144};
    rm_turn_gate_init(&role->gate, &gate, bench_allocate(RM_CLOCK_COUNTERS * sizeof(rm_counter)));
    role->follow_ticks = (uint64_t)(0.01 * gate.tsc_hz);
    role->latency = bench_allocate(sizeof(struct rm_histogram));
    role->core_counters = bench_allocate(RM_CORE_COUNTERS * sizeof(rm_counter));
    return role;
}

/** The native datagram of a BPM electronics, described; its fields stand in the datagram, as a vendor's would. */
static struct rm_layout *make_described_layout(void) {
    struct rm_layout_description description = native_described;
    description.id.in = description.status.in = description.counter.in = RM_IN_DATAGRAM;
    struct rm_layout *layout;
    struct rm_error error;
    bench_must(rm_layout_compile(&description, &layout, &error), &error);
    return layout;
}

static void make_frames(struct rm_port *port) {
    struct rm_flow const flow = {.source_ipv4 = 0x0A000001, .destination_ipv4 = 0x0A00FF01, .destination_port = 4660};
    port->in = bench_allocate(RM_BURST * FRAME_BYTES);
    port->spacing_bytes = FRAME_BYTES;
    port->ready = RM_BURST;
    for (uint32_t i = 0; i < RM_BURST; ++i) {
        union rm_lane const lanes[LANES] = {{.i = (int32_t)i}};
        port->length[i] = RM_FRAME_HEADER_BYTES + RM_NATIVE_HEADER_BYTES + 4 * LANES;
        rm_frame_write_header(given_frame(port, i), &flow, RM_NATIVE_HEADER_BYTES + 4 * LANES);
        rm_native_write(given_frame(port, i) + RM_FRAME_HEADER_BYTES, RM_KIND_BPM, 0, 0, 0, lanes, LANES);
    }
}

static uint64_t receive_bursts(void *argument) {
    struct subject *const subject = argument;
    for (uint32_t i = 0; i < BURSTS; ++i) {
        write_turns(subject);
        /* A card's packets stand in the cache; ours would be in the store buffer, where a wide load waits for them. */
        atomic_thread_fence(memory_order_seq_cst);
        if (subject->role != NULL)
            rm_receive_duty(subject->role, rm_tsc());
    }
    return BURSTS * RM_BURST;
}

enum { TURNS_ALONE, NATIVE, DESCRIBED };

static struct subject subjects[DESCRIBED + 1];

static size_t receive_prepare(struct bench_case *cases) {
    static char const *const names[] = {"their turns written", "native", "described"};
    static struct rm_arena arena; // until the program ends
    for (int i = 0; i <= DESCRIBED; ++i) {
        make_frames(&subjects[i].port);
        cases[i] = (struct bench_case){names[i], receive_bursts, &subjects[i], i == 0 ? NULL : &cases[i - 1], NULL};
    }
    subjects[NATIVE].role = make_role(&subjects[NATIVE].port, NULL, &arena);
    subjects[DESCRIBED].role = make_role(&subjects[DESCRIBED].port, make_described_layout(), &arena);
    return DESCRIBED + 1;
}

static void receive_check(void) {
    for (int i = NATIVE; i <= DESCRIBED; ++i) {
        uint64_t accepted = 0;
        for (uint32_t j = 0; j < instruments; ++j) {
            struct rm_instrument *const instrument = subjects[i].role->instrument[j];
            rm_instrument_flush(instrument, rm_tsc()); /* what came by the fast path is counted then */
            accepted += rm_counter_get(instrument->counters, RM_STREAM_ACCEPTED);
        }
        if (accepted < subjects[i].written - subjects[i].written / 1000) /* a stall of the machine may cost some */
            bench_fail("of what was sent, more than a thousandth was not accepted");
    }
}

struct bench_cost const receive_cost = {.name = "receive",
                                        .about = "to receive a packet, of native and of described instruments",
                                        .rounds = 301,
                                        .words = {{"INSTRUMENTS", &instruments, 1, RM_CONFIG_INSTRUMENTS_MAX,
                                                   .kind = RM_OPTION_WHOLE, .place = RM_OPTIONAL_WORD}},
                                        .unit = "ns per packet",
                                        .unit_ns = 1,
                                        .prepare = receive_prepare,
                                        .check = receive_check};
