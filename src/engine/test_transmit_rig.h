// SPDX-License-Identifier: Apache-2.0
/** The transmit role on a bench: a port, a clock, chains and applications in the test's hands.
 *
 * A turn has RIG_TICKS ticks, a cycle RIG_PERIOD turns. Chain c has the supplies from c × `supplies` on; all have the
 * limits ±10, a slew of 0.5 a cycle, the safe value 1 and a tolerance of 0.1 unless the test asks for more. Chains obey at once, and answer in the
 * step in which they are asked, as long as the test lets them. Application 1 and further ones share the chains out
 * evenly: application a has all supplies s with s % applications == a - 1. Without any, the supplies are the
 * operator's. */
#ifndef RM_ENGINE_TEST_TRANSMIT_RIG_H
#define RM_ENGINE_TEST_TRANSMIT_RIG_H

#include "engine/test_exception_path_ports.h"
#include "engine/transmit.h"
#include "fabric/test_ring.h"
#include "wire/setpoint.h"

enum {
    RIG_TICKS = 1000,
    RIG_PERIOD = 12,
    RIG_CYCLE = RIG_TICKS * RIG_PERIOD,
    /** Ticks from one call of the duty to the next. */
    RIG_STEP = 100,

    RIG_FIRST_TURN = 1200,
    /** Ticks: 20 ms and a little. */
    RIG_SIMULATED_ALONE = 20 * 1000 * 1000 + 2 * RIG_CYCLE,

    RIG_CHAINS = 96,
    RIG_APPLICATIONS = 4,
};

#define RIG_SLEW 0.5
#define RIG_SAFE 1.0
#define RIG_TOLERANCE 0.1

/** What the test asks for. */
struct transmit_rig_options {
    uint32_t chains, supplies, applications, lead, phase_turns, lost_cycles, settle_cycles;
    /** Chains have no readback. */
    bool deaf;
    /** The turns come from TAI, because there is no clock. */
    bool by_tai;

    bool simulated_time;
    /** 0: RIG_TOLERANCE. */
    double tolerance;
    enum rm_stop_action stop;
    /** [chain] what an earlier role left; the rig takes it over. */
    struct rm_intended *last_life;
    /** Highest term that the disk has. */
    uint32_t term;
    /** 1 or 2: it is one of two servers. 0: it is alone. */
    uint32_t server;
    uint32_t missed_cycles, begin_cycles;
};

/** One chain, as seen from outside. */
struct transmit_rig_chain {
    uint32_t datagrams, queries;
    rm_turn turn;
    uint64_t sequence, sent_tsc;
    /** The highest that it was sent. */
    uint16_t term;
    /** Values of the newest setpoint datagram. */
    float got[RM_CHAIN_SUPPLIES_MAX];

    float stands[RM_CHAIN_SUPPLIES_MAX];
    /** Values of the lane "state". */
    uint32_t bits[RM_CHAIN_SUPPLIES_MAX];

    bool mute, stuck;
    uint16_t says;
    /** Added to the sequence number in answers. */
    uint64_t sequence_error;

    struct stream_ring ring[RM_CHAIN_ID_PARTS];
};

struct transmit_rig {
    struct rm_clock clock, published;
    struct transmit_rig_chain chain[RIG_CHAINS];
    uint64_t tsc;
    struct rm_config config;
    struct rm_config_chain chain_config[RIG_CHAINS];
    struct rm_config_supply supply_config[RIG_CHAINS * RM_CHAIN_SUPPLIES_MAX];
    struct rm_config_application application_config[RIG_APPLICATIONS];
    struct rm_transmit_chain chain_setup[RIG_CHAINS];
    struct rm_grant *grant[RIG_APPLICATIONS];
    rm_counter *guard_counters[RIG_APPLICATIONS];
    /** [application]. */
    struct rm_setpoints *vectors[RIG_APPLICATIONS];

    rm_counter counters[RM_TRANSMIT_COUNTERS];
    rm_counter chain_counters[RIG_CHAINS][RM_CHAIN_COUNTERS];
    struct rm_setpoints *sent;
    struct rm_intended *intended;
    struct rm_parameter *supply_state;
    struct rm_histogram latency;
    struct rm_port *port;
    struct rm_transmit *transmit;
    /** What one of two servers has. */
    struct rm_transmit_pair pair;
    rm_counter standby_counters[RM_STANDBY_COUNTERS];
    uint64_t generation;
    uint32_t term;
    bool by_tai;
};

/** Makes the rig of the test that runs; there is one at a time. */
struct transmit_rig *rig_make(struct transmit_rig_options const *options);
void rig_free(struct transmit_rig *rig);

/** Makes a role in the place of the last one, which was freed; as rm_transmit_new. */
enum rm_code rig_make_role(struct transmit_rig *rig, struct rm_error *error);

/** Sets the clock: `turn` is due now, in this turn-counter epoch. */
void rig_set_clock(struct transmit_rig *rig, rm_turn turn, uint64_t turn_epoch);

/** Lets time pass. */
void rig_pass(struct transmit_rig *rig, uint64_t ticks);
void rig_pass_cycles(struct transmit_rig *rig, uint32_t cycles);

/** TSC at which the cycle of `turn` is due. */
uint64_t rig_due(struct transmit_rig const *rig, rm_turn turn);

/** Turn of the next cycle that is due by its time. */
rm_turn rig_next_turn(struct transmit_rig const *rig);

/** All supplies of a chain stand at `value`. */
void rig_stand_at(struct transmit_rig *rig, uint32_t chain, float value);

/** Lets time pass until the role comes to that place of its port for the `times`-th time, kills it there, and makes its
 * successor. Nothing that it does after that place is done. */
void rig_kill(struct transmit_rig *rig, enum fake_place place, uint32_t times);

/** Grants application `a` a grant number, as the control thread does. */
void rig_grant(struct transmit_rig *rig, uint32_t application, uint64_t grant_number, uint64_t instance);
void rig_leave(struct transmit_rig *rig, uint32_t application, bool died);

/** Commits a vector of application `a` in which all values are the same. */
void rig_commit(struct transmit_rig *rig, uint32_t application, uint64_t grant_number, double value);

uint64_t rig_count(struct transmit_rig const *rig, unsigned counter);
uint64_t rig_chain_count(struct transmit_rig const *rig, uint32_t chain, unsigned counter);
uint32_t rig_state(struct transmit_rig const *rig, uint32_t supply);
double rig_sent(struct transmit_rig const *rig, uint32_t supply);

/** True when a successor of the role would find what each chain was sent last. */
bool rig_successor_would_know(struct transmit_rig const *rig);

struct rm_setpoints *rig_make_vectors(uint32_t actuators);

#endif
