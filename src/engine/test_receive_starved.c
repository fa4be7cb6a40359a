// SPDX-License-Identifier: Apache-2.0
/** The receive role on a host that takes cores away: from the receiver, from a virtual ring beside it, from both. The
 * ring keeps its mean turn rate and sends what it owes in bursts; a full link holds it up and loses nothing. So no
 * record is bad, and none may be refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "engine/test_receive_rig.h"

enum {
    INSTRUMENTS = 4,
    STEP_TICKS = 20000,   /**< 20 µs: how finely cores are given and taken */
    SECOND_STEPS = 50000, /**< so many are a second */
    LINK_FRAMES = 2048,   /**< fit into the link */
    BURSTS_PER_STEP = 4,  /**< that the receiver takes while it has its core */
    TURNS_PER_STEP = 60,  /**< that the ring can send while it has its core: three times the nominal rate */
    LOOK_STEPS = 500,     /**< 10 ms: how often the test looks at the clock */
};

/** Of a core: for a while it is there, then not for a while, both of random length. */
struct share {
    uint64_t on_steps, off_steps; /**< mean; 0 off: it always has one */
    uint64_t left;
    bool on;
};

struct host {
    struct receive_rig *rig;
    struct share sender, receiver;
    double rate; /**< of the machine, less than 1: of the nominal one */
    uint64_t seed, step;
    rm_turn first, turn; /**< next to be sent */
    uint32_t sure_looks; /**< those at which the clock was sure of its rate */
};

static double random_part(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

static bool has_core(struct host *host, struct share *share) {
    if (share->off_steps == 0)
        return true;
    if (share->left == 0) {
        share->on = !share->on;
        double const mean = (double)(share->on ? share->on_steps : share->off_steps);
        share->left = 1 + (uint64_t)(-mean * log(1.0 - random_part(&host->seed)));
    }
    --share->left;
    return share->on;
}

static uint32_t waiting(struct host const *host) { return host->rig->port[0]->count[0]; }

static void send_what_is_due(struct host *host) {
    double const due = (double)host->step * STEP_TICKS / RIG_TICKS_PER_TURN * host->rate;
    for (int i = 0; i < TURNS_PER_STEP && (double)(host->turn - host->first) < due; ++i) {
        if (waiting(host) + INSTRUMENTS > LINK_FRAMES)
            return;
        rig_send_all(host->rig, host->turn++);
    }
}

static void receive_some(struct host *host, uint64_t tsc) {
    for (uint64_t i = 0; i < BURSTS_PER_STEP; ++i) {
        rig_set_tsc(tsc + i * STEP_TICKS / BURSTS_PER_STEP);
        rm_receive_duty(&host->rig->receive, rm_tsc());
    }
}

static struct host start(double rate) {
    return (struct host){
        .rig = rig_make(
            &(struct receive_rig_config){.instruments = INSTRUMENTS, .capacity = 1 << 14, .chain_capacity = 1024}),
        .rate = rate,
        .seed = 88172645463325252ull,
        .first = 1000000,
        .turn = 1000000,
    };
}

/** A full link slows the ring down, and cores taken away let it send in bursts, but a rate that the clock is sure of is
 * never far above the ring's own. */
static void expect_honest(struct host *host, uint64_t tsc) {
    struct rm_turn_gate const *const gate = &host->rig->receive.gate;
    if (!rm_turn_survey_supports(gate, tsc))
        return;
    ++host->sure_looks;
    double const rate = RIG_TICKS_PER_TURN / gate->clock.ticks_per_turn;
    if (rate > 1.6 * host->rate)
        fail_msg("sure of %.3f of the nominal rate, where the ring has %.3f", rate, host->rate);
}

static void run_for(struct host *host, double seconds) {
    uint64_t const end = host->step + (uint64_t)(seconds * SECOND_STEPS);
    for (; host->step < end; ++host->step) {
        uint64_t const tsc = rig_tsc_of(0) + host->step * STEP_TICKS;
        if (has_core(host, &host->sender))
            send_what_is_due(host);
        if (has_core(host, &host->receiver))
            receive_some(host, tsc);
        if (host->step % LOOK_STEPS == 0)
            expect_honest(host, tsc);
    }
}

static void expect_none_refused(struct host const *host) {
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        uint64_t const ahead = rig_count(host->rig, i, RM_STREAM_TURN_AHEAD);
        uint64_t const behind = rig_count(host->rig, i, RM_STREAM_TURN_BEHIND);
        if (ahead + behind != 0)
            fail_msg("%llu refused as ahead, %llu as behind", (unsigned long long)ahead, (unsigned long long)behind);
        assert_int_equal(rig_count(host->rig, i, RM_STREAM_TURN_EPOCHS), 0);
        assert_int_equal(rig_count(host->rig, i, RM_STREAM_SKIPPED), 0);
    }
}

/** In steps of 20 µs. */
static struct share const shares[] = {
    {.on_steps = 100, .off_steps = 300},
    {.on_steps = 50, .off_steps = 1000},
    {.on_steps = 200, .off_steps = 2500},
    {.on_steps = 1000, .off_steps = 10000},
};
static unsigned const share_count = sizeof shares / sizeof shares[0];
static double const rates[] = {1.0, 0.25};

/** Both starve, one after the other does, and then there are cores again: within a second the clock has the rate. */
static void starve(struct share sender, struct share receiver, double rate) {
    struct host host = start(rate);
    host.sender = sender;
    host.receiver = receiver;
    run_for(&host, 2.9);
    host.sender = host.receiver = (struct share){0};
    host.first = host.turn - (rm_turn)((double)host.step * STEP_TICKS / RIG_TICKS_PER_TURN * rate); /* owes nothing */
    run_for(&host, 1.0);
    uint64_t const tsc = rig_tsc_of(0) + host.step * STEP_TICKS;
    struct rm_turn_gate const *const gate = &host.rig->receive.gate;
    assert_true(rm_turn_survey_supports(gate, tsc));
    assert_float_equal(gate->clock.ticks_per_turn * rate, RIG_TICKS_PER_TURN, 0.03 * RIG_TICKS_PER_TURN);
    assert_in_range(rm_turn_gate_now(gate, tsc) + RM_TURN_CLOCK_CAPTURE - host.turn, 0, 2 * RM_TURN_CLOCK_CAPTURE);
    expect_none_refused(&host);
    rig_free(host.rig);
}

static void a_starved_host_costs_no_record(void **state) {
    (void)state;
    struct share const whole = {0};
    for (unsigned s = 0; s < share_count; ++s) {
        starve(whole, shares[s], rates[s % 2]);
        starve(shares[s], whole, rates[s % 2]);
        starve(shares[s], shares[s], rates[0]);
        starve(shares[s], shares[(s + 1) % share_count], rates[1]);
    }
}

/** With its cores, the clock is sure of its rate all the time but the first. */
static void a_host_with_its_cores_is_sure(void **state) {
    (void)state;
    static double const rate[] = {1.0, 0.02, 0.25, 1.01, 3.0};
    for (unsigned k = 0; k < sizeof rate / sizeof rate[0]; ++k) {
        struct host host = start(rate[k]);
        run_for(&host, 2.0);
        assert_in_range(host.sure_looks, 165, 200);
        expect_none_refused(&host);
        rig_free(host.rig);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_host_with_its_cores_is_sure),
        cmocka_unit_test(a_starved_host_costs_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
