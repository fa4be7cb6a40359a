// SPDX-License-Identifier: Apache-2.0
#include "engine/test_transmit_rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "base/zeroed.h"
#include "fabric/clock_writer.h"
#include "wire/frame.h"
#include <ringmaster/segment.h>

enum { RING_RECORDS = 1024, RING_MARGIN = 64 };

static struct transmit_rig *running;

uint64_t rm_tsc(void) { return running->tsc; }

static void require(bool held) {
    if (!held)
        abort();
}

static void *zeroed(size_t bytes) {
    void *const memory = rm_zeroed(1, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

struct rm_setpoints *rig_make_vectors(uint32_t actuators) {
    struct rm_setpoints *const made = zeroed(rm_setpoints_bytes(actuators));
    *made = (struct rm_setpoints){.vectors_offset = sizeof *made,
                                  .vector_bytes = rm_setpoint_vector_bytes(actuators),
                                  .actuator_count = actuators};
    return made;
}

static struct rm_parameter *make_states(uint32_t count) {
    struct rm_parameter *const made = zeroed(sizeof *made + 4ul * count + 8);
    made->values_offset = sizeof *made;
    made->count = count;
    made->value_bytes = 4ul * count;
    made->element_type = RM_ELEMENT_U32;
    return made;
}

static void make_supplies(struct transmit_rig *rig, struct transmit_rig_options const *options) {
    double const cycles = rig->config.turn_rate_hz / RIG_PERIOD;
    for (uint32_t i = 0; i < options->chains * options->supplies; ++i) {
        struct rm_config_supply *const supply = &rig->supply_config[i];
        *supply = (struct rm_config_supply){
            .chain = i / options->supplies,
            .application = options->applications != 0 ? 1 + i % options->applications : 0,
            .unit = "A",
            .low = -10,
            .high = 10,
            .slew_per_s = RIG_SLEW * cycles,
            .safe = RIG_SAFE,
            .safe_slew_per_s = RIG_SLEW / 2 * cycles,
            .tolerance = options->tolerance != 0 ? options->tolerance : RIG_TOLERANCE,
            .settle_cycles = options->settle_cycles != 0 ? options->settle_cycles : 5,
        };
        snprintf(supply->name, sizeof supply->name, "sr/ps/s%u", i);
    }
    rig->config.supply = rig->supply_config;
    rig->config.supply_count = options->chains * options->supplies;
}

static void make_applications(struct transmit_rig *rig, struct transmit_rig_options const *options) {
    rig->config.application = rig->application_config;
    rig->config.application_count = 1 + options->applications;
    for (uint32_t a = 0; a < rig->config.application_count; ++a) {
        struct rm_config_application *const application = &rig->application_config[a];
        *application = (struct rm_config_application){
            .period_turns = RIG_PERIOD, .freshness_turns = 240, .watchdog_cycles = 2, .stop = options->stop};
        snprintf(application->name, sizeof application->name, a == 0 ? "operator" : "app%u", a);
        application->supply = calloc(rig->config.supply_count + 1u, sizeof *application->supply);
        require(application->supply != NULL);
        for (uint32_t s = 0; s < rig->config.supply_count; ++s)
            if (rig->supply_config[s].application == a)
                application->supply[application->supply_count++] = s;
        rig->vectors[a] = rig_make_vectors(application->supply_count);
        rig->grant[a] = zeroed(sizeof *rig->grant[a]);
        rig->guard_counters[a] = zeroed(RM_GUARD_COUNTERS * sizeof(rm_counter));
    }
}

static void make_chains(struct transmit_rig *rig, struct transmit_rig_options const *options) {
    rig->config.chain = rig->chain_config;
    rig->config.chain_count = options->chains;
    for (uint32_t c = 0; c < options->chains; ++c) {
        uint32_t const parts =
            options->deaf ? 0 : (options->supplies + RM_SUPPLIES_PER_RECORD - 1) / RM_SUPPLIES_PER_RECORD;
        rig->chain_config[c] = (struct rm_config_chain){
            .id = (uint16_t)(c + 1),
            .address_ipv4 = 0x0A1E0001 + c,
            .mac = {2, 0, 0x0A, 0x1E, 0, 1},
            .udp_port = 4662,
            .readback = !options->deaf,
            .first_supply = c * options->supplies,
            .supply_count = options->supplies,
            .instrument_count = parts,
        };
        rig->chain_setup[c] = (struct rm_transmit_chain){
            .config = &rig->chain_config[c],
            .port = rig->port,
            .source_ipv4 = 0x0A1E00FE,
            .source_port = 4662,
            .counters = rig->chain_counters[c],
        };
        for (uint32_t p = 0; p < parts; ++p) {
            require(test_ring_make(&rig->chain[c].ring[p], RING_RECORDS, RING_MARGIN, RIG_PERIOD, 64 * RIG_PERIOD));
            rig->chain_setup[c].readback[p] = rig->chain[c].ring[p].view;
        }
    }
}

void rig_set_clock(struct transmit_rig *rig, rm_turn turn, uint64_t turn_epoch) {
    struct rm_clock_reading const reading = {.anchored = true,
                                             .turn_epoch = turn_epoch,
                                             .turn = turn,
                                             .turn_tsc = rig->tsc,
                                             .ticks_per_turn = RIG_TICKS,
                                             .tsc_hz = 1e9,
                                             .tai_tsc = rig->tsc,
                                             .tai_ns = 1700000000000000000u};
    rm_clock_publish(&rig->clock, &reading);
}

enum rm_code rig_make_role(struct transmit_rig *rig, struct rm_error *error) {
    struct rm_transmit_setup const setup = {
        .config = &rig->config,
        .tsc_hz = 1e9,
        .generation = rig->generation,
        .instance = (uint32_t)rig->generation,
        .term = rig->term,
        .pair = rig->pair.server != 0 ? &rig->pair : NULL,
        .clock = rig->by_tai ? NULL : &rig->clock,
        .publish = rig->by_tai ? &rig->published : NULL,
        .chain = rig->chain_setup,
        .grant = rig->grant,
        .guard_counters = rig->guard_counters,
        .counters = rig->counters,
        .sent = rig->sent,
        .intended = rig->intended,
        .supply_state = rig->supply_state,
        .latency = &rig->latency,
    };
    rig->transmit = NULL;
    return rm_transmit_new(&setup, &rig->transmit, error);
}

static void make_transmit(struct transmit_rig *rig) {
    struct rm_error error = {0};
    if (rig_make_role(rig, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
}

struct transmit_rig *rig_make(struct transmit_rig_options const *options) {
    struct transmit_rig *const rig = zeroed(sizeof *rig);
    running = rig;
    rig->tsc = 1000000;
    rig->config.turn_rate_hz = 1e6;
    rig->config.simulated_time = options->simulated_time;
    rig->config.turn_window.ahead_turns = 2048;
    rig->config.setpoints = (struct rm_config_setpoints){
        .period_turns = RIG_PERIOD,
        .phase_turns = options->phase_turns,
        .lead = options->lead,
        .lost_cycles = options->lost_cycles != 0 ? options->lost_cycles : 10,
    };
    rig->port = fake_port_make(0);
    make_supplies(rig, options);
    make_applications(rig, options);
    make_chains(rig, options);
    rig->sent = rig_make_vectors(rig->config.supply_count);
    rig->intended = options->last_life != NULL ? options->last_life : zeroed(options->chains * sizeof *rig->intended);
    rig->supply_state = make_states(rig->config.supply_count);
    rig_set_clock(rig, RIG_FIRST_TURN, 1);
    rig->generation = 77 + options->server;
    rig->term = options->term;
    if (options->server != 0)
        rig->pair = (struct rm_transmit_pair){.server = options->server,
                                              .missed_cycles = options->missed_cycles,
                                              .begin_cycles = options->begin_cycles,
                                              .state = zeroed(sizeof *rig->pair.state),
                                              .targets = rig_make_vectors(rig->config.supply_count),
                                              .counters = rig->standby_counters};
    rig->by_tai = options->by_tai;
    make_transmit(rig);
    return rig;
}

void rig_free(struct transmit_rig *rig) {
    rm_transmit_free(rig->transmit);
    require(rig->port->lent == 0);
    for (uint32_t c = 0; c < rig->config.chain_count; ++c)
        for (uint32_t p = 0; p < rig->chain_config[c].instrument_count; ++p)
            test_ring_free(&rig->chain[c].ring[p]);
    for (uint32_t a = 0; a < rig->config.application_count; ++a) {
        free(rig->application_config[a].supply);
        free(rig->vectors[a]);
        free(rig->grant[a]);
        free(rig->guard_counters[a]);
    }
    free(rig->sent);
    free(rig->intended);
    free(rig->supply_state);
    free(rig->pair.state);
    free(rig->pair.targets);
    free(rig->port);
    free(rig);
}

/** The chain answers, part by part. */
static void answer(struct transmit_rig *rig, uint32_t index, uint16_t verdict) {
    struct transmit_rig_chain *const chain = &rig->chain[index];
    struct rm_config_chain const *const config = &rig->chain_config[index];
    for (uint32_t p = 0; p < config->instrument_count; ++p) {
        struct rm_record record = {.turn = chain->turn, .tag = rm_tag_full_rate(rig->tsc, chain->says | verdict)};
        uint32_t state = 0;
        record.lane[RM_SUPPLY_LANE_SEQUENCE].i =
            rm_supply_answer_lane(chain->term, (uint16_t)(chain->sequence + chain->sequence_error));
        for (uint32_t i = 0; i < RM_SUPPLIES_PER_RECORD && p * RM_SUPPLIES_PER_RECORD + i < config->supply_count; ++i) {
            record.lane[RM_SUPPLY_LANE_FIRST + i].f = chain->stands[p * RM_SUPPLIES_PER_RECORD + i];
            state |= chain->bits[p * RM_SUPPLIES_PER_RECORD + i] << i * RM_SUPPLY_BITS;
        }
        record.lane[RM_SUPPLY_LANE_STATE].i = (int32_t)state;
        rm_stream_writer_put(&chain->ring[p].writer, &record);
        rm_stream_writer_publish(&chain->ring[p].writer, rig->tsc);
    }
}

static void obey(struct transmit_rig *rig, struct fake_frame const *frame) {
    struct rm_datagram udp = {0};
    struct rm_setpoint_datagram datagram;
    require(rm_frame_parse(frame->byte, frame->length, false, &udp) == RM_PORT_DECODED);
    require(rm_setpoint_parse(udp.payload, udp.length, &datagram) == RM_SETPOINT_GOOD);
    uint32_t const index = datagram.chain - 1u;
    require(index < rig->config.chain_count && udp.destination_ipv4 == rig->chain_config[index].address_ipv4 &&
            udp.destination_port == 4662 && udp.source_port == 4662 &&
            datagram.count == rig->chain_config[index].supply_count);
    struct transmit_rig_chain *const chain = &rig->chain[index];
    bool const query = (datagram.flags & RM_SETPOINT_QUERY) != 0;
    if (!query && datagram.term > chain->term)
        chain->sequence = datagram.sequence - 1;
    require(query || (datagram.term >= chain->term && datagram.sequence == chain->sequence + 1));
    chain->turn = datagram.turn;
    chain->sequence = query ? chain->sequence : datagram.sequence;
    chain->term = query ? chain->term : datagram.term;
    chain->sent_tsc = rig->tsc;
    ++chain->datagrams;
    chain->queries += query;
    for (uint32_t i = 0; !query && i < datagram.count; ++i) {
        chain->got[i] = rm_setpoint_value(&datagram, i);
        if (!chain->stuck && (chain->bits[i] & RM_SUPPLY_BIT_TRIPPED) == 0)
            chain->stands[i] = chain->got[i];
    }
    if (!chain->mute)
        answer(rig, index, query ? RM_CHAIN_SAYS_QUERIED : 0);
}

static void obey_all(struct transmit_rig *rig) {
    for (uint32_t i = 0; i < rig->port->sent_count; ++i)
        obey(rig, &rig->port->sent[i]);
    rig->port->sent_count = 0;
}

void rig_pass(struct transmit_rig *rig, uint64_t ticks) {
    for (uint64_t const end = rig->tsc + ticks; rig->tsc < end;) {
        rig->tsc += end - rig->tsc < RIG_STEP ? end - rig->tsc : RIG_STEP;
        rm_transmit_duty(rig->transmit, rig->tsc);
        obey_all(rig);
    }
}

void rig_stand_at(struct transmit_rig *rig, uint32_t chain, float value) {
    for (uint32_t i = 0; i < RM_CHAIN_SUPPLIES_MAX; ++i)
        rig->chain[chain].stands[i] = value;
}

/* Where the role is to be killed. */
static jmp_buf after_kill;
static enum fake_place fatal_place;
static uint32_t times_left;

static void kill_at_place(enum fake_place place) {
    if (place == fatal_place && --times_left == 0)
        longjmp(after_kill, 1);
}

void rig_kill(struct transmit_rig *rig, enum fake_place place, uint32_t times) {
    fatal_place = place;
    times_left = times;
    rig->port->at = kill_at_place;
    if (setjmp(after_kill) == 0) {
        rig_pass_cycles(rig, 100);
        abort(); /* it never came there */
    }
    rig->port->at = NULL;
    obey_all(rig);
    rm_transmit_free(rig->transmit); /* gives back its memory, and touches nothing that its successor sees */
    ++rig->generation;
    make_transmit(rig);
}

void rig_pass_cycles(struct transmit_rig *rig, uint32_t cycles) { rig_pass(rig, (uint64_t)cycles * RIG_CYCLE); }

static struct rm_clock_reading clock_of(struct transmit_rig const *rig) {
    struct rm_clock_reading reading;
    require(rm_clock_read(&rig->clock, &reading));
    return reading;
}

uint64_t rig_due(struct transmit_rig const *rig, rm_turn turn) {
    struct rm_clock_reading const reading = clock_of(rig);
    return rm_clock_tsc(&reading, turn + rig->config.setpoints.phase_turns);
}

rm_turn rig_next_turn(struct transmit_rig const *rig) {
    struct rm_clock_reading const reading = clock_of(rig);
    rm_turn const now = rm_clock_turn(&reading, rig->tsc) - rig->config.setpoints.phase_turns;
    return (now / RIG_PERIOD + 1) * RIG_PERIOD;
}

static void post(struct transmit_rig *rig, uint32_t application, struct rm_transmit_command command) {
    struct rm_command_mailbox *const box = rm_transmit_mailbox(rig->transmit, application);
    require(rm_mailbox_is_free(&box->mailbox));
    box->command = command;
    rm_mailbox_post(&box->mailbox);
}

void rig_grant(struct transmit_rig *rig, uint32_t application, uint64_t grant_number, uint64_t instance) {
    post(rig, application,
         (struct rm_transmit_command){.setpoints = rig->vectors[application],
                                      .vector_bytes = rig->vectors[application]->vector_bytes,
                                      .grant_number = grant_number,
                                      .instance = instance,
                                      .pid = 4711});
}

void rig_leave(struct transmit_rig *rig, uint32_t application, bool died) {
    post(rig, application, (struct rm_transmit_command){.died = died});
}

void rig_commit(struct transmit_rig *rig, uint32_t application, uint64_t grant_number, double value) {
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(rig->vectors[application]);
    for (uint32_t i = 0; i < rig->application_config[application].supply_count; ++i)
        rm_setpoints_put(vector, i, value);
    struct rm_clock_reading const reading = clock_of(rig);
    rm_setpoints_commit(vector, grant_number, rm_clock_turn(&reading, rig->tsc), rig->tsc);
}

uint64_t rig_count(struct transmit_rig const *rig, unsigned counter) { return rm_counter_get(rig->counters, counter); }

uint64_t rig_chain_count(struct transmit_rig const *rig, uint32_t chain, unsigned counter) {
    return rm_counter_get(rig->chain_counters[chain], counter);
}

uint32_t rig_state(struct transmit_rig const *rig, uint32_t supply) {
    static uint32_t state[RIG_CHAINS * RM_CHAIN_SUPPLIES_MAX];
    struct rm_parameter_reading when;
    require(rm_parameter_read(rig->supply_state, state, sizeof state, &when) != 0);
    return state[supply];
}

double rig_sent(struct transmit_rig const *rig, uint32_t supply) {
    static double sent[RIG_CHAINS * RM_CHAIN_SUPPLIES_MAX];
    struct rm_setpoints_place place = {0};
    struct rm_setpoint_reading reading;
    bool const there =
        rm_setpoints_copy(rig->sent, rig->sent->vector_bytes, &place, &reading, sent, rig->config.supply_count);
    return there ? sent[supply] : (double)NAN;
}

bool rig_successor_would_know(struct transmit_rig const *rig) {
    bool known = true;
    for (uint32_t c = 0; c < rig->config.chain_count; ++c) {
        struct rm_intended const *const intended = &rig->intended[c];
        uint32_t const count = rig->chain_config[c].supply_count;
        uint64_t const row = atomic_load(&intended->transmitted) % 2;
        known &= atomic_load(&intended->supplies) == count;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t const noted = atomic_load(&intended->value[row * count + i]);
            known &= memcmp(&noted, &rig->chain[c].got[i], sizeof noted) == 0;
        }
    }
    return known;
}
