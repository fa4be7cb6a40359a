// SPDX-License-Identifier: Apache-2.0
/* The cycle: when it goes out, by whose vector, and what becomes of vectors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_transmit_rig.h"
#include "fabric/clock_writer.h"

enum { GRANT_NUMBER = 5001 };

static void a_cycle_goes_out_at_its_phase_and_not_before(void **state) {
    (void)state;
    for (uint32_t phase = 0; phase < RIG_PERIOD; phase += 5) {
        struct transmit_rig *const rig =
            rig_make(&(struct transmit_rig_options){.chains = 2, .supplies = 3, .phase_turns = phase});
        rig_pass_cycles(rig, 2);
        for (int i = 0; i < 20; ++i) {
            rm_turn const turn = rig_next_turn(rig);
            uint32_t const before = rig->chain[1].datagrams;
            rig_pass(rig, rig_due(rig, turn) - rig->tsc - 1);
            assert_int_equal(rig->chain[1].datagrams, before);
            rig_pass(rig, 1);
            assert_int_equal(rig->chain[1].datagrams, before + 1);
            assert_int_equal(rig->chain[1].turn, turn);
            assert_int_equal(rig->chain[1].term, 1);
        }
        assert_int_equal(rig_count(rig, RM_TRANSMIT_LATE), 0);
        assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 0);
        assert_int_equal(rig_count(rig, RM_TRANSMIT_DATAGRAMS), 2 * rig_count(rig, RM_TRANSMIT_CYCLES));
        rig_free(rig);
    }
}

static void vectors_move_supplies_by_their_slew(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .applications = 2});
    rig_pass_cycles(rig, 3);
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 2);
    float const at = rig->chain[0].got[0];
    for (int i = 1; i <= 4; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 2.25);
        rig_pass_cycles(rig, 1);
        float const wanted = at + (float)i * (float)RIG_SLEW;
        assert_true(rig->chain[0].got[0] == (wanted < 2.25f ? wanted : 2.25f));
        assert_true(rig->chain[0].got[1] == at);
    }
    rig_commit(rig, 1, GRANT_NUMBER, 2.25);
    rig_pass_cycles(rig, 1);
    assert_true(rig->chain[0].got[0] == 2.25f);
    assert_true(rig_sent(rig, 0) == 2.25);
    assert_int_equal(rm_counter_get(rig->guard_counters[1], RM_GUARD_TAKEN), 5);
    assert_int_equal(rm_counter_get(rig->guard_counters[1], RM_GUARD_VECTORS), 5);
    assert_true(atomic_load(&rig->latency.total) == 5);
    rig_free(rig);
}

static void the_leaders_vector_sends_the_cycle_at_once(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(
        &(struct transmit_rig_options){.chains = 1, .supplies = 2, .applications = 2, .lead = 1, .phase_turns = 6});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_grant(rig, 2, GRANT_NUMBER + 1, 1);
    rig_pass_cycles(rig, 4);
    rm_turn const turn = rig_next_turn(rig);
    uint32_t const before = rig->chain[0].datagrams;
    rig_pass(rig, rig_due(rig, turn) - rig->tsc - RIG_CYCLE / 4);
    rig_commit(rig, 2, GRANT_NUMBER + 1, 0.25);
    rig_pass(rig, 10 * RIG_STEP);
    assert_int_equal(rig->chain[0].datagrams, before); /* not its vector */
    rig_commit(rig, 1, GRANT_NUMBER, 0.25);
    uint64_t const committed = rig->tsc;
    rig_pass(rig, RIG_STEP);
    assert_int_equal(rig->chain[0].datagrams, before + 1);
    assert_int_equal(rig->chain[0].turn, turn);
    assert_int_equal(rig->chain[0].sent_tsc, committed + RIG_STEP);
    rig_commit(rig, 1, GRANT_NUMBER, 0.5); /* one cycle a period, whatever is commanded */
    rig_pass(rig, RIG_CYCLE / 4 - RIG_STEP);
    assert_int_equal(rig->chain[0].datagrams, before + 1);
    rig_pass(rig, RIG_CYCLE);
    assert_int_equal(rig->chain[0].datagrams, before + 2);
    assert_int_equal(rig->chain[0].turn, turn + RIG_PERIOD);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LED), 1); /* the other came too early for its cycle, and went in time */
    rig_free(rig);
}

/** Commits the leader's vector at the turn of the cycle that is next; how long its datagram took. */
static uint64_t lead_next(struct transmit_rig *rig, double value) {
    rm_turn const turn = rig_next_turn(rig);
    rig_pass(rig, rig_due(rig, turn) - RIG_CYCLE / 4 - rig->tsc);
    rig_commit(rig, 1, GRANT_NUMBER, value);
    uint64_t const committed = rig->tsc;
    rig_pass(rig, RIG_CYCLE / 2);
    return rig->chain[0].sent_tsc - committed;
}

static void a_late_vector_of_the_leader_does_not_make_the_next_ones_wait(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){
        .chains = 1, .supplies = 2, .applications = 1, .lead = 1, .phase_turns = RIG_PERIOD / 4});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    for (int i = 0; i < 3; ++i)
        assert_in_range(lead_next(rig, 0.25), 0, 2 * RIG_STEP);
    rig_pass(rig, rig_due(rig, rig_next_turn(rig)) + 2 * RIG_STEP - rig->tsc);
    rig_commit(rig, 1, GRANT_NUMBER, 0.5); /* its cycle has just gone without it */
    rig_pass(rig, RIG_CYCLE / 8);
    for (int i = 0; i < 3; ++i)
        assert_in_range(lead_next(rig, 0.25), 0, 2 * RIG_STEP);
    rig_free(rig);
}

static void a_leader_who_floods_sends_one_cycle_a_period(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .applications = 1, .lead = 1});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    uint32_t const before = rig->chain[0].datagrams;
    float last = rig->chain[0].got[0];
    for (int i = 0; i < 100 * RIG_CYCLE / RIG_STEP; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, i % 2 ? 10 : -10);
        uint32_t const sent = rig->chain[0].datagrams;
        rig_pass(rig, RIG_STEP);
        assert_in_range(rig->chain[0].datagrams - sent, 0, 1);
        assert_true(fabsf(rig->chain[0].got[0] - last) <= (float)RIG_SLEW);
        last = rig->chain[0].got[0];
    }
    assert_in_range(rig->chain[0].datagrams - before, 99, 101);
    rig_free(rig);
}

static void a_leaders_bad_vector_sends_nothing_before_its_time(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .applications = 1, .lead = 1});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    rig_pass(rig, rig_due(rig, rig_next_turn(rig)) - rig->tsc - RIG_CYCLE / 4);
    uint32_t const before = rig->chain[0].datagrams;
    rig_commit(rig, 1, GRANT_NUMBER - 1, 3);
    rig_pass(rig, RIG_CYCLE / 8);
    assert_int_equal(rig->chain[0].datagrams, before);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LED), 0);
    rig_pass(rig, RIG_CYCLE / 4);
    assert_int_equal(rig->chain[0].datagrams, before + 1);
    assert_int_equal(rm_counter_get(rig->guard_counters[1], RM_GUARD_REFUSED_GRANT), 1);
    assert_int_equal(atomic_load(&rig->grant[1]->offence.refusal), RM_REFUSED_GRANT);
    rig_free(rig);
}

static void a_role_that_slept_skips_cycles_and_makes_one_step(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1, .applications = 1});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass_cycles(rig, 4);
    rig_commit(rig, 1, GRANT_NUMBER, 9);
    rig_pass_cycles(rig, 1);
    float const at = rig->chain[0].got[0];
    uint32_t const before = rig->chain[0].datagrams;
    rm_turn const turn = rig_next_turn(rig);
    rig->tsc = rig_due(rig, turn) + 3 * RIG_CYCLE + RIG_CYCLE / 2 - RIG_STEP; /* the role was not called meanwhile */
    rig_commit(rig, 1, GRANT_NUMBER, 9);
    rig_pass(rig, RIG_STEP);
    assert_int_equal(rig->chain[0].datagrams, before + 1);
    assert_int_equal(rig->chain[0].turn, turn + 3 * RIG_PERIOD);
    assert_true(rig->chain[0].got[0] == at + (float)RIG_SLEW);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 3);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LATE), 1);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LATEST_TICKS), RIG_CYCLE / 2);
    rig_free(rig);
}

static void without_a_clock_nothing_is_sent(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1});
    atomic_store(&rig->clock.anchored, 0);
    rig_pass_cycles(rig, 5);
    assert_int_equal(rig->chain[0].datagrams, 0);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_UNANCHORED), 5 * RIG_CYCLE / RIG_STEP);
    rig_set_clock(rig, 50000, 1);
    rig_pass_cycles(rig, 5);
    assert_in_range(rig->chain[0].datagrams, 4, 5);
    rig_free(rig);
}

static void a_stepped_clock_is_followed(void **state) {
    (void)state;
    for (int back = 0; back < 2; ++back) {
        struct transmit_rig *const rig =
            rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1, .phase_turns = 3});
        rig_pass_cycles(rig, 20);
        rig_set_clock(rig, back ? 7 : 1000000, back ? 2 : 1);
        uint32_t const before = rig->chain[0].datagrams;
        rig_pass_cycles(rig, 10);
        assert_in_range(rig->chain[0].datagrams - before, 8, 11);
        assert_int_equal(rig->chain[0].turn, rig_next_turn(rig) - RIG_PERIOD);
        assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 1);
        rig_free(rig);
    }
}

static void where_no_instrument_tells_the_turn_tai_does(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1, .by_tai = true});
    rig_pass_cycles(rig, 10);
    assert_in_range(rig->chain[0].datagrams, 9, 11);
    assert_int_equal(rig->chain[0].turn % RIG_PERIOD, 0);
    assert_true(rig->chain[0].turn > 1600000000ull * 1000000); /* this century, at a million turns a second */
    struct rm_clock_reading reading;
    assert_true(rm_clock_read(&rig->published, &reading));
    assert_true(reading.anchored);
    rig_free(rig);
}

/** From now on the published clock counts turns `times` as fast. */
static void hurry(struct transmit_rig *rig, double times) {
    struct rm_clock_reading reading;
    assert_true(rm_clock_read(&rig->clock, &reading));
    reading.turn = rm_clock_turn(&reading, rig->tsc);
    reading.turn_tsc = rig->tsc;
    reading.ticks_per_turn = RIG_TICKS / times;
    rm_clock_publish(&rig->clock, &reading);
}

static void a_clock_that_runs_away_does_not_hurry_supplies(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1});
    rig_pass_cycles(rig, 10);
    hurry(rig, 1.019);
    uint32_t const before = rig->chain[0].datagrams;
    rig_pass_cycles(rig, 200);
    assert_in_range(rig->chain[0].datagrams - before, 190, 204);
    rig_free(rig);
}

static void a_clock_far_from_the_nominal_rate_is_not_gone_by(void **state) {
    (void)state;
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1});
    rig_pass_cycles(rig, 10);
    uint32_t const before = rig->chain[0].datagrams;
    hurry(rig, 36);
    rig_pass_cycles(rig, 100);
    assert_in_range(rig->chain[0].datagrams - before, 0, 2); /* what had been due when it was looked at last */
    hurry(rig, 1);
    rig_pass_cycles(rig, 10);
    assert_in_range(rig->chain[0].datagrams - before, 8, 13);
    rig_free(rig);
}

static void an_application_is_granted_and_its_end_is_seen(void **state) {
    (void)state;
    struct transmit_rig *const rig =
        rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 1, .applications = 1, .stop = RM_STOP_RAMP});
    rig_commit(rig, 1, GRANT_NUMBER, 3); /* what an instance left behind, even with a grant number guessed right */
    rig_pass_cycles(rig, 3);
    assert_int_equal(atomic_load(&rig->grant[1]->state), RM_APPLICATION_ABSENT);
    rig_grant(rig, 1, GRANT_NUMBER, 9);
    rig_pass_cycles(rig, 2);
    assert_int_equal(atomic_load(&rig->grant[1]->grant_number), GRANT_NUMBER);
    assert_int_equal(atomic_load(&rig->grant[1]->instance), 9);
    assert_int_equal(atomic_load(&rig->grant[1]->pid), 4711);
    assert_int_equal(atomic_load(&rig->grant[1]->state), RM_APPLICATION_JOINED);
    assert_true(rig->chain[0].got[0] == 0);
    for (int i = 0; i < 10; ++i) {
        rig_commit(rig, 1, GRANT_NUMBER, 3);
        rig_pass_cycles(rig, 1);
    }
    assert_int_equal(atomic_load(&rig->grant[1]->state), RM_APPLICATION_RUNNING);
    assert_true(rig->chain[0].got[0] == 3);
    rig_pass_cycles(rig, 3);
    assert_int_equal(atomic_load(&rig->grant[1]->state), RM_APPLICATION_STALLED);
    assert_int_equal(atomic_load(&rig->grant[1]->stalls), 1);
    rig_leave(rig, 1, true);
    rig_pass_cycles(rig, 40);
    assert_int_equal(atomic_load(&rig->grant[1]->state), RM_APPLICATION_DEAD);
    assert_true(rig->chain[0].got[0] == (float)RIG_SAFE);
    assert_true(rig_state(rig, 0) & RM_SUPPLY_RAMPING);
    rig_grant(rig, 1, GRANT_NUMBER + 1, 10);
    rig_pass_cycles(rig, 1);
    rig_commit(rig, 1, GRANT_NUMBER, 5);
    rig_pass_cycles(rig, 1);
    assert_true(rig->chain[0].got[0] == (float)RIG_SAFE);
    rig_commit(rig, 1, GRANT_NUMBER + 1, 1.25);
    rig_pass_cycles(rig, 20);
    assert_true(rig->chain[0].got[0] >= 1);
    assert_int_equal(atomic_load(&rig->grant[1]->restarts), 1);
    assert_int_equal(rm_counter_get(rig->guard_counters[1], RM_GUARD_RESTARTS), 1);
    rig_free(rig);
}

static enum rm_refusal put(struct transmit_rig *rig, uint32_t supply, double value) {
    struct rm_operator_put *const box = rm_transmit_put(rig->transmit);
    box->supply = supply;
    box->value = value;
    rm_mailbox_post(&box->mailbox);
    rig_pass_cycles(rig, 1);
    assert_true(rm_mailbox_is_answered(&box->mailbox));
    return box->refusal;
}

static void the_operator_sets_what_no_application_owns(void **state) {
    (void)state;
    struct transmit_rig *rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2});
    rig_pass_cycles(rig, 3);
    assert_int_equal(put(rig, 1, 2), RM_REFUSED_NOTHING);
    assert_int_equal(put(rig, 1, 11), RM_REFUSED_HIGH);
    assert_true(rm_transmit_put(rig->transmit)->limit == 10);
    assert_int_equal(put(rig, 0, (double)NAN), RM_REFUSED_NUMBER);
    rig_pass_cycles(rig, 10);
    assert_true(rig->chain[0].got[1] == 2 && rig->chain[0].got[0] == 0);
    rig_free(rig);
    rig = rig_make(&(struct transmit_rig_options){.chains = 1, .supplies = 2, .applications = 1});
    rig_pass_cycles(rig, 3);
    assert_int_equal(put(rig, 1, 2), RM_REFUSED_OWNERSHIP);
    rig_pass_cycles(rig, 3);
    assert_true(rig->chain[0].got[1] == 0);
    rig_free(rig);
}

static struct transmit_rig *make_simulated(void) {
    struct transmit_rig *const rig = rig_make(&(struct transmit_rig_options){
        .chains = 2, .supplies = 2, .applications = 2, .lead = 1, .phase_turns = 6, .simulated_time = true});
    rig_grant(rig, 1, GRANT_NUMBER, 1);
    rig_pass(rig, RIG_SIMULATED_ALONE); /* the first cycle has no leader */
    assert_int_equal(rig->chain[0].datagrams, 1);
    return rig;
}

static void in_simulated_time_a_cycle_goes_out_with_the_leaders_vector_alone(void **state) {
    (void)state;
    struct transmit_rig *const rig = make_simulated();
    for (uint32_t i = 1; i <= 20; ++i) {
        rm_turn const turn = RIG_FIRST_TURN + (rm_turn)i * RIG_PERIOD;
        rig_set_clock(rig, turn, 1); /* the ring has gone on by a cycle, and a clock would have by 80 */
        rig_pass_cycles(rig, 80);
        assert_int_equal(rig->chain[1].datagrams, i);
        rig_set_clock(rig, turn, 1);
        rig_commit(rig, 1, GRANT_NUMBER, 0.25);
        rig_pass(rig, RIG_STEP);
        assert_int_equal(rig->chain[1].datagrams, i + 1);
        assert_int_equal(rig->chain[1].turn, turn);
    }
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LED), 20);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 0);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LATE), 0);
    rig_free(rig);
}

static void in_simulated_time_no_turn_is_sent_twice(void **state) {
    (void)state;
    struct transmit_rig *const rig = make_simulated();
    rm_turn const sent = rig->chain[1].turn;
    rig_set_clock(rig, sent, 1);
    rig_commit(rig, 1, GRANT_NUMBER, 0.25); /* of the cycle that has gone without it */
    rig_pass(rig, RIG_CYCLE);
    assert_int_equal(rig->chain[1].datagrams, 1);
    rig_set_clock(rig, sent + RIG_PERIOD, 1);
    rig_commit(rig, 1, GRANT_NUMBER, 0.5);
    rig_pass(rig, RIG_CYCLE);
    assert_int_equal(rig->chain[1].datagrams, 2);
    assert_int_equal(rig->chain[1].turn, sent + RIG_PERIOD);
    rig_set_clock(rig, sent + 4 * RIG_PERIOD, 1); /* two cycles that the ring did not wait for */
    rig_commit(rig, 1, GRANT_NUMBER, 0.5);
    rig_pass(rig, RIG_CYCLE);
    assert_int_equal(rig->chain[1].turn, sent + 4 * RIG_PERIOD);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 2);
    rig_set_clock(rig, sent + 7 * RIG_PERIOD, 1); /* the leader is lost: two more */
    rig->tsc += RIG_SIMULATED_ALONE;
    rig_pass(rig, RIG_SIMULATED_ALONE);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 4);
    rig_set_clock(rig, sent + 1000 * RIG_PERIOD, 2); /* another ring: nobody missed what lies between */
    rig->tsc += RIG_SIMULATED_ALONE;
    rig_pass(rig, RIG_SIMULATED_ALONE);
    assert_int_equal(rig->chain[1].turn, sent + 1000 * RIG_PERIOD);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_SKIPPED), 4);
    rig_set_clock(rig, sent - 50 * RIG_PERIOD, 3); /* and one whose turns are smaller */
    rig->tsc += RIG_SIMULATED_ALONE;
    rig_pass(rig, RIG_SIMULATED_ALONE);
    assert_int_equal(rig->chain[1].turn, sent - 50 * RIG_PERIOD);
    rig_free(rig);
}

static void in_simulated_time_a_stall_is_no_reason_to_send_and_a_lost_leader_is(void **state) {
    (void)state;
    struct transmit_rig *const rig = make_simulated();
    rig->tsc += 1000 * (uint64_t)RIG_SIMULATED_ALONE; /* the core was away for 20 s */
    rig_pass(rig, RIG_STEP);
    assert_int_equal(rig->chain[0].datagrams, 1);
    rig_set_clock(rig, RIG_FIRST_TURN + 5 * RIG_PERIOD, 1);
    rig_pass(rig, RIG_SIMULATED_ALONE);
    assert_int_equal(rig->chain[0].datagrams, 2);
    assert_int_equal(rig->chain[0].turn, RIG_FIRST_TURN + 5 * RIG_PERIOD);
    assert_int_equal(rig_count(rig, RM_TRANSMIT_LED), 0);
    rig_free(rig);
}

/** The ring has not taken what it was sent, since the host gave it no core. */
static void in_simulated_time_a_slow_ring_is_not_sent_a_turn_twice(void **state) {
    (void)state;
    struct transmit_rig *const rig = make_simulated();
    rm_turn const turn = RIG_FIRST_TURN + 3 * RIG_PERIOD;
    rig_set_clock(rig, turn, 1);
    rig_commit(rig, 1, GRANT_NUMBER, 0.25);
    rig_pass(rig, RIG_STEP);
    assert_int_equal(rig->chain[0].datagrams, 2);
    for (uint32_t passed = 0; passed < RIG_PERIOD; ++passed) { /* anywhere before the next cycle */
        rig_set_clock(rig, turn + passed, 1);
        rig_pass(rig, RIG_SIMULATED_ALONE);
        assert_int_equal(rig->chain[0].datagrams, 2);
    }
    rig_set_clock(rig, turn + RIG_PERIOD, 1); /* it went on, and the leader is lost */
    rig_pass(rig, RIG_SIMULATED_ALONE);
    assert_int_equal(rig->chain[0].datagrams, 3);
    assert_int_equal(rig->chain[0].turn, turn + RIG_PERIOD);
    for (int i = 0; i < 60; ++i) /* it never takes that: the link has lost it */
        rig_pass(rig, RIG_SIMULATED_ALONE);
    assert_int_equal(rig->chain[0].datagrams, 4);
    assert_int_equal(rig->chain[0].turn, turn + RIG_PERIOD);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_cycle_goes_out_at_its_phase_and_not_before),
        cmocka_unit_test(vectors_move_supplies_by_their_slew),
        cmocka_unit_test(the_leaders_vector_sends_the_cycle_at_once),
        cmocka_unit_test(a_late_vector_of_the_leader_does_not_make_the_next_ones_wait),
        cmocka_unit_test(a_leader_who_floods_sends_one_cycle_a_period),
        cmocka_unit_test(a_leaders_bad_vector_sends_nothing_before_its_time),
        cmocka_unit_test(a_role_that_slept_skips_cycles_and_makes_one_step),
        cmocka_unit_test(without_a_clock_nothing_is_sent),
        cmocka_unit_test(a_stepped_clock_is_followed),
        cmocka_unit_test(where_no_instrument_tells_the_turn_tai_does),
        cmocka_unit_test(a_clock_that_runs_away_does_not_hurry_supplies),
        cmocka_unit_test(a_clock_far_from_the_nominal_rate_is_not_gone_by),
        cmocka_unit_test(an_application_is_granted_and_its_end_is_seen),
        cmocka_unit_test(the_operator_sets_what_no_application_owns),
        cmocka_unit_test(in_simulated_time_a_cycle_goes_out_with_the_leaders_vector_alone),
        cmocka_unit_test(in_simulated_time_a_slow_ring_is_not_sent_a_turn_twice),
        cmocka_unit_test(in_simulated_time_no_turn_is_sent_twice),
        cmocka_unit_test(in_simulated_time_a_stall_is_no_reason_to_send_and_a_lost_leader_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
