// SPDX-License-Identifier: Apache-2.0
#include "engine/test_receive_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "base/zeroed.h"
#include "wire/frame.h"
#include "wire/native.h"

enum {
    FIRST_ADDRESS = 0x0A140001 /* 10.20.0.1 */,
    STREAM_MARGIN = 128 /* the fast path may start amid a burst */,
    CHAIN_MARGIN = 64
};

static uint64_t const TSC_START = 1ull << 50;

/** The machine has one time stamp counter; so has the bench. */
static uint64_t tsc_now;

uint64_t rm_tsc(void) { return tsc_now; }

void rig_set_tsc(uint64_t tsc) { tsc_now = tsc; }

uint64_t rig_tsc_of(rm_turn turn) { return TSC_START + turn * RIG_TICKS_PER_TURN; }

static void *zeroed(size_t bytes) {
    void *const memory = rm_zeroed(1, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

/* What net/port.h promises, as far as the receive role asks for it. */

enum rm_framing rm_port_framing(struct rm_port const *port) { return port->framing; }

char const *rm_port_name(struct rm_port const *port) { return port->framing == RM_FRAMING_UDP ? "payloads" : "frames"; }

uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    for (burst->count = 0; burst->count < RM_BURST && port->count[queue] > 0; ++burst->count) {
        struct receive_rig_packet const *packet = &port->waiting[queue][port->first[queue]];
        port->first[queue] = (port->first[queue] + 1) % RIG_WAITING;
        --port->count[queue];
        burst->data[burst->count] = packet->bytes;
        burst->length[burst->count] = packet->length;
        burst->source_ipv4[burst->count] = port->source_ipv4;
        burst->checksum_good[burst->count] = packet->checksum_good;
    }
    return burst->count;
}

void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port;
    (void)queue;
    for (uint32_t i = 0; i < burst->count; ++i)
        free(burst->data[i]);
    burst->count = 0;
}

bool rm_port_punt(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t index) {
    (void)queue, (void)burst, (void)index; /* the bench keeps the bytes until the burst is released */
    if (port->punted == port->punt_room)
        return false;
    ++port->punted;
    return true;
}

static void open_stream(struct rm_stream_writer *writer, uint64_t capacity, uint64_t period, uint64_t late_turns,
                        uint64_t margin) {
    struct rm_stream *stream = zeroed(sizeof *stream + capacity * sizeof(struct rm_slot));
    stream->slots_offset = sizeof *stream;
    stream->capacity = capacity;
    stream->period = period;
    stream->margin = margin;
    atomic_init(&stream->head, RM_TURN_NONE);
    atomic_init(&stream->first, RM_TURN_NONE);
    struct rm_slot *slot = (struct rm_slot *)(stream + 1);
    for (uint64_t i = 0; i < capacity; ++i)
        atomic_init(&slot[i].word[0], RM_TURN_NONE);
    if (!rm_stream_writer_open(writer, stream, late_turns))
        abort();
}

static struct rm_config_rate rate_of(uint32_t from, char const *filter, uint32_t decimation, uint64_t records) {
    struct rm_config_rate rate = {.from = from, .decimation = decimation, .records = records};
    rate.stage_count = rm_fir_split(filter, decimation, RM_CONFIG_STAGES_MAX, rate.stage);
    return rate;
}

/** Some of the default rates, and one of two decimators in a row. */
static void make_rates(struct receive_rig *rig, struct rm_instrument *made, uint64_t period) {
    uint64_t const records = rig->config.chain_capacity;
    struct rm_config_rate const rate[RIG_RATES] = {
        [RIG_LOW_LATENCY] = rate_of(RM_CONFIG_FROM_TURN, "low_latency", 12, records),
        [RIG_FAST] = rate_of(RM_CONFIG_FROM_TURN, "sharp", rig->config.unlike ? 10 : 12, records),
        [RIG_LOOP] = rate_of(RIG_FAST, "sharp", 10, records),
        [RIG_SLOW] = rate_of(RIG_LOW_LATENCY, "low_latency", 100, records),
    };
    struct rm_decimator_input input = {.period = period};
    memcpy(input.reduction, rig->config.reduction, sizeof input.reduction);
    if (!rm_rates_make(&made->rates, rate, RIG_RATES, rm_simd_best(), &input, &rig->arena))
        abort();
    for (unsigned i = 0; i < RIG_RATES; ++i) {
        uint32_t const source = rate[i].from == RM_CONFIG_FROM_TURN ? 1 : rate[rate[i].from].decimation;
        open_stream(&made->rates.writer[i], records, period * source * rate[i].decimation, UINT64_MAX, CHAIN_MARGIN);
    }
}

static struct rm_instrument *make_instrument(struct receive_rig *rig, uint32_t index) {
    struct receive_rig_config const *config = &rig->config;
    struct rm_instrument *made = zeroed(sizeof *made);
    made->counters = rig->stream_counters[index];
    rm_counting_init(&made->counting, 64, false, 1, 0);
    made->kind = RM_KIND_BPM;
    made->lane_count = RIG_LANES;
    made->next_decimated = RM_TURN_NONE;
    made->gap_records = config->gap_turns;
    open_stream(&made->writer, config->capacity, config->period, config->late_turns * config->period, STREAM_MARGIN);
    make_rates(rig, made, config->period);
    return made;
}

static void fill_defaults(struct receive_rig_config *config) {
    uint64_t *const value[] = {&config->capacity,    &config->chain_capacity, &config->late_turns,
                               &config->ahead_turns, &config->silence_turns,  &config->gap_turns,
                               &config->period};
    uint64_t const otherwise[] = {1u << 16, 1u << 14, 4096, 2048, 1u << 18, 32, 1};
    for (unsigned i = 0; i < sizeof value / sizeof value[0]; ++i)
        *value[i] = *value[i] != 0 ? *value[i] : otherwise[i];
    config->instruments = config->instruments != 0 ? config->instruments : 1;
    config->queues = config->queues != 0 ? config->queues : 1;
}

static void make_ports(struct receive_rig *rig) {
    struct rm_receive *receive = &rig->receive;
    receive->queue = rig->queue;
    for (uint32_t i = 0; i < RIG_PORTS; ++i) {
        rig->port[i] = calloc(1, sizeof *rig->port[i]); /* large, and mostly never touched */
        struct rm_error error;
        if (rig->port[i] == NULL || rm_identity_table_init(&rig->identities[i], RIG_INSTRUMENTS, &error) != RM_OK)
            abort();
        rig->port[i]->framing = i == 0 ? RM_FRAMING_ETHERNET : RM_FRAMING_UDP;
        rig->reassembly[i] = rm_reassembly_new(4, 9216, RIG_FOLLOW_TURNS / 2 * RIG_TICKS_PER_TURN);
        if (rig->reassembly[i] == NULL)
            abort();
        uint16_t const queues = i == 0 ? rig->config.queues : 1;
        for (uint16_t queue = 0; queue < queues; ++queue)
            rig->queue[receive->queue_count++] = (struct rm_receive_queue){
                .port = rig->port[i],
                .queue = queue,
                .framing = rm_port_framing(rig->port[i]),
                .vlan = RM_RECEIVE_ANY_VLAN,
                .counters = rig->port_counters[i],
                .format_count = 1,
                .format = rig->format,
                .identities = &rig->identities[i],
                .reassembly = rig->reassembly[i],
            };
    }
}

static enum rm_simd simd_of(enum rig_fast_path lane) {
    switch (lane) {
    case RIG_FAST_PATH_SCALAR:
        return RM_SIMD_SCALAR;
    case RIG_FAST_PATH_AVX2:
        return RM_SIMD_AVX2;
    case RIG_FAST_PATH_AVX512:
        return RM_SIMD_AVX512;
    case RIG_FAST_PATH_BEST:
    case RIG_FAST_PATH_SHUT:
        break;
    }
    return rm_simd_best();
}

struct receive_rig *rig_make(struct receive_rig_config const *config) {
    struct receive_rig *rig = zeroed(sizeof *rig);
    rig->config = *config;
    fill_defaults(&rig->config);
    /* What the configuration's checks hold the server to. */
    if (2 * (rig->config.ahead_turns + rig->config.late_turns) > rig->config.capacity)
        abort();
    struct rm_receive *receive = &rig->receive;
    rig->format[rig->format_count++] = (struct rm_receive_format){.udp_port = RIG_UDP_PORT};
    make_ports(rig);
    receive->first_count = rig->config.first_queues;
    receive->instrument = rig->instrument;
    receive->vote = rig->vote;
    receive->take_burst = rm_fast_path_burst_for(simd_of(config->lane));
    receive->touched = rig->touched;
    receive->instrument_count = receive->vote_count = rig->config.instruments;
    for (uint32_t i = 0; i < rig->config.instruments; ++i) {
        rig->instrument[i] = make_instrument(rig, i);
        rig->vote[i] = &rig->instrument[i]->vote;
        rig->id[i] = (uint16_t)(i + 1);
        rig->source[i] = rig_source(i);
        rig->udp_port[i] = RIG_UDP_PORT;
        rig_know(rig, 0, rig_source(i), rig->id[i], i, NULL);
    }
    struct rm_gate_config const gate = {
        .turn_rate_hz = 1e9 / RIG_TICKS_PER_TURN,
        .tsc_hz = 1e9,
        .ahead_turns = rig->config.ahead_turns,
        .silence_turns = rig->config.silence_turns,
        .quorum = rig->config.quorum,
    };
    rm_turn_gate_init(&receive->gate, &gate, rig->clock_counters);
    receive->follow_ticks = RIG_FOLLOW_TURNS * RIG_TICKS_PER_TURN;
    receive->clock = &rig->clock;
    receive->latency = &rig->latency;
    receive->core_counters = rig->core_counters;
    rig_set_tsc(TSC_START);
    return rig;
}

static void close_stream(struct rm_stream_writer *writer) {
    free(writer->stream);
    rm_stream_writer_close(writer);
}

/** Packets that were not received. */
static void drop_waiting(struct rm_port *port) {
    for (unsigned queue = 0; queue < RIG_QUEUES; ++queue)
        for (uint32_t i = 0; i < port->count[queue]; ++i)
            free(port->waiting[queue][(port->first[queue] + i) % RIG_WAITING].bytes);
}

void rig_free(struct receive_rig *rig) {
    for (uint32_t i = 0; i < rig->config.instruments; ++i) {
        close_stream(&rig->instrument[i]->writer);
        for (unsigned rate = 0; rate < RIG_RATES; ++rate)
            close_stream(&rig->instrument[i]->rates.writer[rate]);
        free(rig->instrument[i]);
    }
    for (uint32_t i = 0; i < RIG_PORTS; ++i) {
        rm_identity_table_free(&rig->identities[i]);
        rm_reassembly_free(rig->reassembly[i]);
        drop_waiting(rig->port[i]);
        free(rig->port[i]);
    }
    rm_arena_free(&rig->arena);
    free(rig);
}

uint32_t rig_source(uint32_t index) { return FIRST_ADDRESS + index; }

static void open_fast_path(struct receive_rig *rig, uint32_t index, uint32_t source_ipv4, uint16_t id) {
    struct rm_instrument *const instrument = rig->instrument[index];
    struct rm_fast_path_sender const sender = {
        .source_ipv4 = source_ipv4,
        .udp_port = rig->udp_port[index],
        .id = id,
        .kind = instrument->kind,
        .lane_count = instrument->lane_count,
        .turn_offset = instrument->counting.offset_turns,
    };
    if (rig->config.lane == RIG_FAST_PATH_SHUT)
        rm_fast_path_shut(&instrument->fast_path);
    else
        rm_instrument_open_fast_path(instrument, &sender);
}

void rig_open(struct receive_rig *rig, uint32_t index) {
    open_fast_path(rig, index, rig->source[index], rig->id[index]);
}

void rig_describe(struct receive_rig *rig, uint32_t index, struct rm_layout const *layout, uint16_t udp_port,
                  uint32_t source_ipv4, uint16_t id) {
    rig->instrument[index]->layout = rig->layout[index] = layout;
    rig->instrument[index]->lane_count = (uint8_t)rm_layout_described(layout)->lane_count;
    rig->id[index] = id;
    rig->source[index] = source_ipv4;
    rig->udp_port[index] = udp_port;
    bool known = false;
    for (uint32_t i = 0; i < rig->format_count; ++i)
        known |= rig->format[i].udp_port == udp_port;
    if (!known)
        rig->format[rig->format_count++] = (struct rm_receive_format){udp_port, layout};
    for (uint32_t i = 0; i < rig->config.queues; ++i)
        rig->queue[i].format_count = rig->format_count;
    rig_know(rig, 0, source_ipv4, id, index, NULL);
}

void rig_know(struct receive_rig *rig, uint32_t port, uint32_t source_ipv4, uint16_t id, uint32_t index,
              struct rm_mirror_path *path) {
    open_fast_path(rig, index, source_ipv4, id);
    rm_identity_add(&rig->identities[port], source_ipv4, id, rig->instrument[index], path);
}

int32_t rig_value(uint32_t index, rm_turn turn, uint32_t lane) {
    return (int32_t)((turn * 7919 + index * 104729 + lane * 31) % 1000003) - 500000;
}

uint16_t rig_status(uint32_t index, rm_turn turn) {
    return (turn + index) % 64 == 0 ? (uint16_t)(1u << (turn / 64 + index) % 16) : 0;
}

static uint32_t write_described(struct receive_rig const *rig, uint32_t index, rm_turn turn, union rm_lane const *lanes,
                                uint8_t *payload) {
    struct rm_layout const *const layout = rig->layout[index];
    uint32_t const length = rm_layout_single_bytes(layout);
    struct rm_sample const sample = {
        .counter = turn / rig->instrument[index]->counting.period_turns,
        .id = rig->id[index],
        .status = rig_status(index, turn),
    };
    rm_layout_begin(layout, payload, length);
    rm_layout_write(layout, payload, 0, &sample, lanes);
    return length;
}

uint32_t rig_frame(struct receive_rig const *rig, uint32_t index, rm_turn turn, uint8_t *frame) {
    struct rm_instrument const *instrument = rig->instrument[index];
    struct rm_flow const flow = {
        .source_ipv4 = rig->source[index],
        .destination_ipv4 = FIRST_ADDRESS + 254,
        .source_port = 1000,
        .destination_port = rig->udp_port[index],
    };
    union rm_lane lanes[RM_LANES];
    for (uint32_t i = 0; i < instrument->lane_count; ++i)
        lanes[i].i = rig_value(index, turn, i);
    uint8_t *const to = frame + RM_FRAME_HEADER_BYTES;
    uint32_t const payload = rig->layout[index] != NULL
                                 ? write_described(rig, index, turn, lanes, to)
                                 : rm_native_write(to, instrument->kind, rig->id[index], rig_status(index, turn), turn,
                                                   lanes, instrument->lane_count);
    rm_frame_write_header(frame, &flow, payload);
    return RM_FRAME_HEADER_BYTES + payload;
}

void rig_push(struct receive_rig *rig, uint32_t port_index, uint32_t queue, uint8_t const *bytes, uint32_t length) {
    struct rm_port *port = rig->port[port_index];
    if (port->count[queue] == RIG_WAITING)
        abort();
    /* One byte at least, so that there is memory to be given back. */
    uint8_t *copy = malloc(length != 0 ? length : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, bytes, length);
    uint32_t const last = (port->first[queue] + port->count[queue]++) % RIG_WAITING;
    port->waiting[queue][last] = (struct receive_rig_packet){copy, length, port->checksum_good};
}

void rig_send(struct receive_rig *rig, uint32_t index, rm_turn turn) {
    uint8_t frame[256];
    uint32_t const length = rig_frame(rig, index, turn, frame);
    rig_push(rig, 0, index % rig->config.queues, frame, length);
}

void rig_send_all(struct receive_rig *rig, rm_turn turn) {
    for (uint32_t i = 0; i < rig->config.instruments; ++i)
        rig_send(rig, i, turn);
}

static bool anything_waits(struct receive_rig const *rig) {
    for (uint32_t i = 0; i < rig->receive.queue_count; ++i)
        if (rig->queue[i].port->count[rig->queue[i].queue] > 0)
            return true;
    return false;
}

char const *rig_poll(struct receive_rig *rig) {
    char const *broken = NULL;
    while (broken == NULL && anything_waits(rig)) {
        rm_receive_duty(&rig->receive, tsc_now);
        broken = rig_broken(rig);
    }
    return broken;
}

char const *rig_idle(struct receive_rig *rig) {
    for (uint32_t i = 0; i < rig->receive.queue_count; ++i)
        rm_receive_duty(&rig->receive, tsc_now);
    return rig_broken(rig);
}

uint64_t rig_port_count(struct receive_rig const *rig, enum rm_port_counter counter) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RIG_PORTS; ++i)
        sum += rm_counter_get(rig->port_counters[i], counter);
    return sum;
}

uint64_t rig_count(struct receive_rig const *rig, uint32_t index, enum rm_stream_counter counter) {
    uint64_t const counted = rm_counter_get(rig->stream_counters[index], counter);
    return counter == RM_STREAM_ACCEPTED ? counted + rig->instrument[index]->fast_path.run : counted;
}

uint64_t rig_clock_count(struct receive_rig const *rig, enum rm_clock_counter counter) {
    return rm_counter_get(rig->clock_counters, counter);
}

static uint64_t decoded_of(struct receive_rig const *rig, uint32_t index) {
    return rig_count(rig, index, RM_STREAM_ACCEPTED) + rig_count(rig, index, RM_STREAM_OUT_OF_ORDER) +
           rig_count(rig, index, RM_STREAM_DUPLICATE) + rig_count(rig, index, RM_STREAM_TURN_AHEAD) +
           rig_count(rig, index, RM_STREAM_TURN_BEHIND) + rig_count(rig, index, RM_STREAM_MIRRORED) +
           rig_count(rig, index, RM_STREAM_TURN_OUT_OF_RANGE) + rig_count(rig, index, RM_STREAM_UNANCHORED);
}

static char const *broken_instrument(struct receive_rig const *rig, uint32_t index) {
    struct rm_instrument const *instrument = rig->instrument[index];
    if (rig_count(rig, index, RM_STREAM_SKIPPED) != instrument->writer.skipped)
        return "skipped is not what the writer skipped";
    if (rig_count(rig, index, RM_STREAM_OUT_OF_ORDER) > instrument->writer.skipped)
        return "more late records than turns skipped";
    if (atomic_load(&instrument->writer.stream->head) != rm_instrument_head(instrument))
        return "a turn-rate head is not published";
    for (unsigned i = 0; i < RIG_RATES; ++i)
        if (atomic_load(&instrument->rates.writer[i].stream->head) != instrument->rates.writer[i].head)
            return "a decimated head is not published";
    return instrument->fast_path.touched ? "an instrument is still touched" : NULL;
}

char const *rig_broken(struct receive_rig const *rig) {
    uint64_t parts = 0, decoded = 0;
    for (unsigned i = RM_PORT_DECODED; i <= RM_PORT_WRONG_LANES; ++i)
        parts += rig_port_count(rig, i);
    parts += rig_port_count(rig, RM_PORT_WRONG_VLAN) + rig_port_count(rig, RM_PORT_BAD_FRAGMENT);
    parts += rig_port_count(rig, RM_PORT_UNFINISHED_CHECKSUM) + rig_port_count(rig, RM_PORT_REPEATED_ID);
    uint64_t const received = rig_port_count(rig, RM_PORT_RECEIVED);
    if (parts != received)
        return "received is not the sum of the port's other counters";
    for (uint32_t i = 0; i < rig->config.instruments; ++i) {
        decoded += decoded_of(rig, i);
        char const *broken = broken_instrument(rig, i);
        if (broken != NULL)
            return broken;
    }
    if (decoded != rig_port_count(rig, RM_PORT_RECORDS))
        return "records is not the sum of the streams' counters";
    if (atomic_load(&rig->latency.total) != received)
        return "the latency histogram does not hold every packet";
    if (rm_counter_get(rig->core_counters, RM_CORE_PACKETS) != received)
        return "the core did not count every packet";
    return NULL;
}

struct rm_stream_view rig_view(struct rm_stream_writer const *writer) {
    return (struct rm_stream_view){writer->stream, writer->slot, writer->mask, writer->period};
}

bool rig_shows(struct receive_rig const *rig, uint32_t index, rm_turn turn) {
    struct rm_instrument const *instrument = rig->instrument[index];
    struct rm_stream_view const view = rig_view(&instrument->writer);
    struct rm_record record;
    if (rm_stream_read(&view, turn, &record) != RM_READ_OK)
        return false;
    for (uint32_t lane = 0; lane < RM_LANES; ++lane) {
        rm_turn const sent = turn - (uint64_t)instrument->counting.offset_turns;
        if (record.lane[lane].i != (lane < instrument->lane_count ? rig_value(index, sent, lane) : 0))
            return false;
    }
    return true;
}

rm_turn rig_head(struct receive_rig const *rig, uint32_t index) {
    struct rm_stream_view const view = rig_view(&rig->instrument[index]->writer);
    return rm_stream_head(&view);
}
