// SPDX-License-Identifier: Apache-2.0
/** Turns that do not come at their nominal pace: wrong rates, changing rates, stalls of the sender and of the receiver.
 * Whatever the pace, as long as instruments agree none is refused and no turn-counter epoch begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"

enum { INSTRUMENTS = 2 };

/** A machine and the link to it. Time is in TSC ticks, 1000 to a nominal turn. */
struct machine {
    struct receive_rig *rig;
    double tsc;
    rm_turn turn; /**< next to be sent */
};

static struct machine start(void) {
    struct machine machine = {.turn = 1000000};
    machine.rig =
        rig_make(&(struct receive_rig_config){.instruments = INSTRUMENTS, .capacity = 1 << 14, .chain_capacity = 1024});
    machine.tsc = (double)rig_tsc_of(0);
    return machine;
}

static void arrive(struct machine *machine) {
    rig_set_tsc((uint64_t)machine->tsc);
    rig_send_all(machine->rig, machine->turn++);
    assert_null(rig_poll(machine->rig));
}

static void run(struct machine *machine, uint64_t turns, double ticks_per_turn) {
    for (uint64_t i = 0; i < turns; ++i) {
        arrive(machine);
        machine->tsc += ticks_per_turn;
    }
}

/** The receiver stands still for `turns` turns; the oldest `kept` of them wait in a queue, the others are gone. */
static void stall_receiver(struct machine *machine, uint64_t turns, uint64_t kept) {
    machine->tsc += (double)turns * RIG_TICKS_PER_TURN;
    rm_turn const back = machine->turn + turns;
    for (uint64_t i = 0; i < kept && i < turns; ++i) {
        arrive(machine);
        machine->tsc += 100; /* faster than they came, but not at once */
    }
    if (back > machine->turn)
        machine->turn = back;
}

/** Everything was taken, but for `refused` records of an instrument at most. */
static void expect_whole(struct machine *machine, uint64_t refused, char const *what, double detail) {
    struct receive_rig *rig = machine->rig;
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        uint64_t const ahead = rig_count(rig, i, RM_STREAM_TURN_AHEAD);
        uint64_t const behind = rig_count(rig, i, RM_STREAM_TURN_BEHIND);
        if (ahead + behind > refused || rig_count(rig, i, RM_STREAM_TURN_EPOCHS) != 0)
            fail_msg("%s (%g): %llu ahead, %llu behind, %llu epochs", what, detail, (unsigned long long)ahead,
                     (unsigned long long)behind, (unsigned long long)rig_count(rig, i, RM_STREAM_TURN_EPOCHS));
        assert_int_equal(rig_head(rig, i), machine->turn - 1);
    }
    rig_free(rig);
}

static void any_rate_is_learnt(void **state) {
    (void)state;
    double const rate[] = {0.05, 0.3, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 5.0};
    for (unsigned k = 0; k < sizeof rate / sizeof rate[0]; ++k) {
        struct machine machine = start();
        run(&machine, 100000, RIG_TICKS_PER_TURN / rate[k]);
        assert_float_equal(machine.rig->receive.gate.clock.ticks_per_turn, RIG_TICKS_PER_TURN / rate[k],
                           0.01 * RIG_TICKS_PER_TURN / rate[k]);
        expect_whole(&machine, 0, "rate", rate[k]);
    }
}

/** A sender that the link holds up, and that catches up later. */
static void a_changing_rate_is_followed(void **state) {
    (void)state;
    double const rate[] = {0.1, 0.9, 0.99, 1.1, 4.0};
    for (unsigned k = 0; k < sizeof rate / sizeof rate[0]; ++k) {
        struct machine machine = start();
        run(&machine, 50000, RIG_TICKS_PER_TURN);
        run(&machine, 300000, RIG_TICKS_PER_TURN / rate[k]);
        run(&machine, 100000, RIG_TICKS_PER_TURN);
        expect_whole(&machine, 0, "rate for a while", rate[k]);
    }
}

static void a_stalled_sender_catches_up(void **state) {
    (void)state;
    uint64_t const stall[] = {100, 1000, 50000};
    for (unsigned k = 0; k < sizeof stall / sizeof stall[0]; ++k) {
        for (rm_turn when = 20; when < 100000; when *= 3) {
            struct machine machine = start();
            run(&machine, when, RIG_TICKS_PER_TURN);
            machine.tsc += (double)stall[k] * RIG_TICKS_PER_TURN;
            run(&machine, stall[k], RIG_TICKS_PER_TURN / 2.0);
            run(&machine, 40000, RIG_TICKS_PER_TURN);
            expect_whole(&machine, 0, "sender's stall", (double)stall[k]);
        }
    }
}

/** While the clock is learning it takes the waiting turns for a slow machine; then what was lost in between looks like
 * a jump, and it takes a vote to believe it. */
static void a_stalled_receiver_finds_back(void **state) {
    (void)state;
    uint64_t const stall[] = {100, 3000, 10000, 300000};
    uint64_t const kept[] = {0, 50, 500, 4000};
    for (unsigned k = 0; k < sizeof stall / sizeof stall[0]; ++k) {
        for (unsigned q = 0; q < sizeof kept / sizeof kept[0]; ++q) {
            for (rm_turn when = 20; when < 50000; when *= 2) {
                struct machine machine = start();
                run(&machine, when, RIG_TICKS_PER_TURN);
                stall_receiver(&machine, stall[k], kept[q]);
                run(&machine, 15000, RIG_TICKS_PER_TURN);
                expect_whole(&machine, stall[k] > kept[q] ? RM_GATE_VOTE_RUN : 0, "receiver's stall", (double)stall[k]);
            }
        }
    }
}

/** Turns that have waited come all at once: no time passes from the first to the last. */
static void a_backlog_at_the_start_is_harmless(void **state) {
    (void)state;
    uint64_t const waiting[] = {64, 200, 1000, 2048};
    for (unsigned k = 0; k < sizeof waiting / sizeof waiting[0]; ++k) {
        struct machine machine = start();
        run(&machine, waiting[k], 0.0);
        assert_true(machine.rig->receive.gate.clock.ticks_per_turn > 0.0);
        run(&machine, 50000, RIG_TICKS_PER_TURN);
        rm_turn const now = rm_turn_gate_now(&machine.rig->receive.gate, rm_tsc());
        assert_in_range(now, machine.turn - 64, machine.turn + 64);
        expect_whole(&machine, 0, "waiting at the start", (double)waiting[k]);
    }
}

/** Instruments that send seldom, after stalls have taken the rate to the end of what it may be: from one reading to the
 * next the clock is wrong by more than it believes, so that every reading steps it. */
static void a_wrong_rate_is_learnt_anew_from_steps(void **state) {
    (void)state;
    enum { PERIOD = 12800, RANGE_PERCENT = 3 };
    double const wrong[] = {1.0 + RANGE_PERCENT / 100.0, 1.0 / (1.0 + RANGE_PERCENT / 100.0)};
    for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        struct receive_rig *rig = rig_make(&(struct receive_rig_config){
            .instruments = 8, .capacity = 1 << 14, .chain_capacity = 1024, .late_turns = 8, .period = PERIOD});
        struct rm_turn_clock *const clock = &rig->receive.gate.clock;
        clock->rate_range = 1.0 + RANGE_PERCENT / 100.0;
        for (uint64_t reading = 0; reading < 1000; ++reading) {
            rm_turn const turn = (100 + reading) * PERIOD;
            rig_set_tsc(rig_tsc_of(turn));
            rig_send_all(rig, turn);
            assert_null(rig_poll(rig));
            if (reading == 300) {
                clock->ticks_per_turn = wrong[k] * RIG_TICKS_PER_TURN;
                clock->turns_per_tick = 1.0 / clock->ticks_per_turn;
            }
        }
        assert_float_equal(clock->ticks_per_turn, RIG_TICKS_PER_TURN, 0.001 * RIG_TICKS_PER_TURN);
        rig_free(rig);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_backlog_at_the_start_is_harmless), cmocka_unit_test(any_rate_is_learnt),
        cmocka_unit_test(a_changing_rate_is_followed),        cmocka_unit_test(a_stalled_sender_catches_up),
        cmocka_unit_test(a_stalled_receiver_finds_back),      cmocka_unit_test(a_wrong_rate_is_learnt_anew_from_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
