// SPDX-License-Identifier: Apache-2.0
/** A receive role on a bench: ports that deliver what the test puts into them, instruments with rings in private
 * memory, and time in the test's hands. Frames are copied into buffers of exactly their length, so that a sanitizer
 * sees every byte read too many.
 *
 *     rig_make; rig_send …; rig_poll; …; rig_free
 */
#ifndef RM_ENGINE_TEST_RECEIVE_RIG_H
#define RM_ENGINE_TEST_RECEIVE_RIG_H

#include "engine/receive.h"

enum {
    /** Port 0 delivers Ethernet frames, port 1 bare UDP payloads. */
    RIG_PORTS = 2,

    RIG_QUEUES = 2,
    RIG_INSTRUMENTS = 96,
    /** Most frames that wait in one queue. */
    RIG_WAITING = 8192,
    /** UDP port of native datagrams. */
    RIG_UDP_PORT = 4660,

    RIG_FORMATS = 8,
    RIG_LANES = 8,
    /** 1 MHz, at a TSC of 1 GHz. */
    RIG_TICKS_PER_TURN = 1000,

    RIG_FOLLOW_TURNS = 10000,
};

/** Each instrument's rates. */
enum {
    /** ÷12, low-latency. */
    RIG_LOW_LATENCY,
    /** ÷12, sharp. */
    RIG_FAST,
    /** ÷10 of RIG_FAST, sharp. */
    RIG_LOOP,
    /** ÷10 ÷10 of RIG_LOW_LATENCY, low-latency. */
    RIG_SLOW,

    RIG_RATES,
};

/** Which version of the fast path the role has; none is beyond rm_simd_best(). */
enum rig_fast_path {
    RIG_FAST_PATH_BEST,
    /** Every packet takes the general path. */
    RIG_FAST_PATH_SHUT,

    RIG_FAST_PATH_SCALAR,
    RIG_FAST_PATH_AVX2,
    RIG_FAST_PATH_AVX512,
};

struct receive_rig_packet {
    /** Allocated on the heap. */
    uint8_t *bytes;

    uint32_t length;
    bool checksum_good;
};

struct rm_port {
    enum rm_framing framing;
    /** What the device reports of frames that are pushed from now on. */
    bool checksum_good;
    /** Source address of the bare payloads. */
    uint32_t source_ipv4;
    /** Frames taken out of bursts … */
    uint32_t punted;
    /** … while there were fewer than these. */
    uint32_t punt_room;

    struct receive_rig_packet waiting[RIG_QUEUES][RIG_WAITING];
    uint32_t first[RIG_QUEUES];
    uint32_t count[RIG_QUEUES];
};

/** The address that instrument `index` sends from. */
uint32_t rig_source(uint32_t index);

/** Zeros take the defaults in brackets. */
struct receive_rig_config {
    /** [1] instrument i has id i + 1 and address 10.20.0.(i + 1). */
    uint32_t instruments;
    /** Records in a turn-rate ring, a power of two [2^16]. */
    uint64_t capacity;
    /** Records in a decimated ring, a power of two [2^14]. */
    uint64_t chain_capacity;
    /** Late window [4096]. */
    uint64_t late_turns;
    /** Window ahead of the clock [2048]. */
    uint64_t ahead_turns;
    /** Distance at which silent streams follow [2^18]. */
    uint64_t silence_turns;
    /** Gap that decimators wait for, in records of the instrument [32]. */
    uint64_t gap_turns;
    /** Turns from one record of an instrument to the next [1]. */
    uint64_t period;
    /** [lane] enum rm_reduction. */
    uint8_t reduction[RM_LANES];
    /** Quorum [0: more than half of those that send]. */
    uint32_t quorum;
    /** Queues of port 0 that are polled [1]; then that of port 1 is. */
    uint16_t queues;
    /** How many of the queues are served first [0]. */
    uint16_t first_queues;
    /** RIG_FAST is ÷10: the rates of an instrument's own records decimate unlike. */
    bool unlike;

    enum rig_fast_path lane;
};

struct receive_rig {
    struct rm_receive receive;
    struct rm_clock clock;
    struct receive_rig_config config;
    /** Memory of the decimators. */
    struct rm_arena arena;

    struct rm_port *port[RIG_PORTS];
    struct rm_identity_table identities[RIG_PORTS];
    struct rm_reassembly *reassembly[RIG_PORTS];
    /** Formats of all queues; the first one is native. */
    struct rm_receive_format format[RIG_FORMATS];

    uint32_t format_count;
    struct rm_receive_queue queue[RIG_QUEUES + 1];
    rm_counter port_counters[RIG_PORTS][RM_PORT_COUNTERS];
    rm_counter core_counters[RM_CORE_COUNTERS];
    rm_counter clock_counters[RM_CLOCK_COUNTERS];
    struct rm_instrument *instrument[RIG_INSTRUMENTS];
    struct rm_gate_vote *vote[RIG_INSTRUMENTS];
    struct rm_instrument *touched[RIG_INSTRUMENTS + 1];
    /** Ids of the frames that rig_frame writes … */
    uint16_t id[RIG_INSTRUMENTS];
    /** … and their source addresses. */
    uint32_t source[RIG_INSTRUMENTS];

    uint16_t udp_port[RIG_INSTRUMENTS];
    struct rm_layout const *layout[RIG_INSTRUMENTS];
    rm_counter stream_counters[RIG_INSTRUMENTS][RM_STREAM_COUNTERS];
    struct rm_histogram latency;
};

/** Makes a rig. Aborts when there is no memory. */
struct receive_rig *rig_make(struct receive_rig_config const *config);
void rig_free(struct receive_rig *rig);

/** Sets what the TSC reads from now on. */
void rig_set_tsc(uint64_t tsc);

/** TSC at which a datagram of `turn` arrives without delay. */
uint64_t rig_tsc_of(rm_turn turn);

/** Value that instrument `index` sends for `turn` in one lane: a pattern in which all three are distinct. */
int32_t rig_value(uint32_t index, rm_turn turn, uint32_t lane);

/** Status that it sends with that turn: a bit now and then. */
uint16_t rig_status(uint32_t index, rm_turn turn);

/** Writes the native frame of `turn` that instrument `index` would send; 256 bytes are enough. Returns its length. */
uint32_t rig_frame(struct receive_rig const *rig, uint32_t index, rm_turn turn, uint8_t *frame);

/** Makes instrument `index` known on a port as the sender of `id` from `source_ipv4`. */
void rig_know(struct receive_rig *rig, uint32_t port, uint32_t source_ipv4, uint16_t id, uint32_t index,
              struct rm_mirror_path *path);

/** Lets instrument `index`, which counts records by now (rm_counting_init), send in that layout to that UDP port, from
 * that address and under that id. The layout outlives the rig. */
void rig_describe(struct receive_rig *rig, uint32_t index, struct rm_layout const *layout, uint16_t udp_port,
                  uint32_t source_ipv4, uint16_t id);

/** Opens the fast path for instrument `index` as it is now, if it may use it. Call it again after the test has changed
 * the instrument. */
void rig_open(struct receive_rig *rig, uint32_t index);

/** Puts bytes as they are into a queue. */
void rig_push(struct receive_rig *rig, uint32_t port, uint32_t queue, uint8_t const *bytes, uint32_t length);

/** Puts the frame of `turn` from instrument `index` into the queue by which its packets come. */
void rig_send(struct receive_rig *rig, uint32_t index, rm_turn turn);

/** Calls rig_send for all instruments. */
void rig_send_all(struct receive_rig *rig, rm_turn turn);

/** Runs the duty cycle until nothing waits, with checks after each call. Returns what it found broken, or NULL. */
char const *rig_poll(struct receive_rig *rig);

/** Lets the role look at silent streams, as it does every RIG_FOLLOW_TURNS. */
char const *rig_idle(struct receive_rig *rig);

/** What is broken, or NULL: sums of counters, published heads, the histogram's total. */
char const *rig_broken(struct receive_rig const *rig);

uint64_t rig_port_count(struct receive_rig const *rig, enum rm_port_counter counter);

/** A counter of an instrument, including records that the fast path has not counted yet. */
uint64_t rig_count(struct receive_rig const *rig, uint32_t index, enum rm_stream_counter counter);
uint64_t rig_clock_count(struct receive_rig const *rig, enum rm_clock_counter counter);

struct rm_stream_view rig_view(struct rm_stream_writer const *writer);

/** True when the turn-rate ring of `index` shows `turn` to a reader, with the right lanes. */
bool rig_shows(struct receive_rig const *rig, uint32_t index, rm_turn turn);

/** Published head of the turn-rate stream. */
rm_turn rig_head(struct receive_rig const *rig, uint32_t index);

#endif
