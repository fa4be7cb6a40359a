// SPDX-License-Identifier: Apache-2.0
/** Two cores under faults that nobody would think of: kills, sleeps in the middle of a decision, cuts by direction and
 * chain, losses, chains without power, lost disks, holds, switches that one side alone knows of. Whatever comes, no chain
 * obeys two masters, no two servers share the chains for long, and none takes over from one that is heard; and when the
 * faults have ended the pair has one master, and keeps it. */
#include "test_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <ringmaster/record.h>

enum {
    RUNS = 1500,
    EVENTS = 40,
    CYCLES_BETWEEN = 25,
};

static struct pair pair;

/** What all runs came to: a test of peace in which nothing happened would say nothing. */
struct tally {
    uint64_t takeovers, begins, raised, sleeps, switched, resumed, deposed;
    uint64_t divided_max, two_senders_max;
};

static struct tally tally;
/** Cycles in a row in which both servers sent, each believing that a majority is with it. */
static uint64_t two_senders;
static uint32_t terms[2];
static enum rm_standby_role roles[2];

static bool is_confirmed(uint32_t s) {
    struct rm_standby const *const core = &pair.server[s].core;
    return !pair.server[s].dead && pair.step >= pair.server[s].sleeps_until && core->role == RM_STANDBY_ACTIVE &&
           core->with_us >= rm_standby_majority(pair.chains);
}

static void tally_server(uint32_t s) {
    struct rm_standby const *const core = &pair.server[s].core;
    bool const was_active = roles[s] == RM_STANDBY_ACTIVE, active = core->role == RM_STANDBY_ACTIVE;
    tally.raised += was_active && active && core->term != terms[s];
    tally.switched += !was_active && active && core->reason == RM_STANDBY_SWITCHED;
    tally.resumed += !was_active && active && core->reason == RM_STANDBY_UNANSWERED;
    tally.takeovers += !was_active && active && core->reason == RM_STANDBY_TOOK_OVER;
    tally.begins += !was_active && active && core->reason == RM_STANDBY_BEGAN;
    tally.deposed += was_active && core->reason == RM_STANDBY_DEPOSED;
    roles[s] = core->role;
    terms[s] = core->term;
    assert_true(core->term == 0 || core->term % 2 == core->setup.server % 2);
    assert_true(core->highest_term >= core->term);
}

/** Longest that two servers may send to different chains: the older stops N cycles after its last majority. */
static uint64_t cycles_allowed(void) { return pair.missed + 4ULL; }

static void check_step(void) {
    pair_step(&pair);
    assert_int_equal(pair.two_masters, 0);
    assert_int_equal(pair.false_swaps, 0);
    if (pair.step % PAIR_STEPS != 0)
        return;
    tally_server(0);
    tally_server(1);
    two_senders = is_confirmed(0) && is_confirmed(1) ? two_senders + 1 : 0;
    tally.two_senders_max = two_senders > tally.two_senders_max ? two_senders : tally.two_senders_max;
    assert_true(two_senders <= cycles_allowed());
    assert_true(pair.divided_max <= cycles_allowed());
}

static void check_cycles(uint64_t cycles) {
    for (uint64_t s = 0; s < cycles * PAIR_STEPS; ++s)
        check_step();
}

static bool by_chance(uint32_t of) { return pair_random(&pair, of) == 0; }

static void cut_some(uint32_t server) {
    enum pair_direction const direction = (enum pair_direction)pair_random(&pair, 2);
    bool const all = by_chance(2), cut = !by_chance(3);
    for (uint32_t c = 0; c < pair.chains; ++c)
        if (all || by_chance(2))
            pair_cut(&pair, direction, server, c, cut);
}

/** A chain is away from both servers, and perhaps has another life's term when it is back. */
static void hide_chain(uint32_t chain) {
    bool const cut = pair.lost[PAIR_TO_CHAIN][0][chain] < 256;
    for (uint32_t s = 0; s < 2; ++s)
        for (uint32_t d = 0; d < 2; ++d)
            pair_cut(&pair, (enum pair_direction)d, s, chain, cut);
    if (!cut && by_chance(2)) {
        pair.chain[chain].term += (uint32_t)pair_random(&pair, 4);
        pair.chain[chain].instance = 1;
        pair.chain[chain].obeys = false;
    }
}

static void lose_some(uint32_t server) {
    for (uint32_t c = 0; c < pair.chains; ++c)
        for (uint32_t d = 0; d < 2; ++d)
            if (pair.lost[d][server][c] < 256)
                pair.lost[d][server][c] = (uint32_t)pair_random(&pair, by_chance(3) ? 200 : 30);
}

static void sleep_some(uint32_t server) {
    struct pair_server *const sleeper = &pair.server[server];
    uint64_t const cycles = by_chance(2) ? pair_random(&pair, 2 * pair.missed) : pair_random(&pair, 3 * pair.begin);
    bool const sends = sleeper->core.role == RM_STANDBY_ACTIVE;
    sleeper->sleeps_until = pair.step + cycles * PAIR_STEPS + pair_random(&pair, PAIR_STEPS);
    sleeper->interrupted = sends && by_chance(2) ? pair_cycle(&pair) : 0;
    ++tally.sleeps;
}

static void kill_or_start(uint32_t server) {
    if (!pair.server[server].dead)
        pair_kill(&pair, server);
    else
        pair_start(&pair, server, by_chance(3) ? 0 : pair.server[server].saved_term);
    roles[server] = RM_STANDBY_JOINING;
}

static void make_event(void) {
    uint32_t const server = (uint32_t)pair_random(&pair, 2);
    struct pair_server *const it = &pair.server[server];
    uint64_t const turn = (pair_cycle(&pair) + 3 + pair_random(&pair, 10)) * PAIR_PERIOD;
    switch (pair_random(&pair, 13)) {
    case 0:
    case 1:
        kill_or_start(server);
        break;
    case 2:
    case 3:
        sleep_some(server);
        break;
    case 4:
    case 5:
        cut_some(server);
        break;
    case 6:
        lose_some(server);
        break;
    case 7:
        pair_power_cycle(&pair, (uint32_t)pair_random(&pair, pair.chains));
        break;
    case 8:
        pair.link_cut = !pair.link_cut;
        break;
    case 9:
        it->hold = by_chance(3);
        break;
    case 10:
        it->deaf = by_chance(3);
        break;
    case 11:
        hide_chain((uint32_t)pair_random(&pair, pair.chains));
        break;
    default:
        /* The active server is told of a switch first, and perhaps alone. */
        if (pair_active(&pair) < 2)
            pair.server[pair_active(&pair)].switch_turn = turn;
        if (pair_active(&pair) < 2 && by_chance(2))
            pair.server[1 - pair_active(&pair)].switch_turn = turn;
        break;
    }
    if (by_chance(4))
        pair_acknowledge(&pair);
}

static void end_faults(void) {
    for (uint32_t s = 0; s < 2; ++s) {
        if (pair.server[s].dead)
            pair_start(&pair, s, pair.server[s].saved_term);
        pair.server[s].sleeps_until = pair.server[s].interrupted = 0;
        pair.server[s].hold = pair.server[s].deaf = false;
        for (uint32_t c = 0; c < pair.chains; ++c)
            pair.lost[PAIR_TO_CHAIN][s][c] = pair.lost[PAIR_TO_SERVER][s][c] = 0;
    }
    pair.link_cut = false;
}

/** It has one master, all chains are its own, the other server is ready, and so it stays. */
static void check_stable(void) {
    end_faults();
    check_cycles(2ULL * pair.begin + 12ULL * pair.missed + 20);
    uint32_t const active = pair_active(&pair);
    assert_in_range(active, 0, 1);
    uint32_t const term = pair.server[active].core.term;
    for (uint32_t k = 0; k < 3 * pair.begin; ++k) {
        check_cycles(1);
        assert_int_equal(pair_active(&pair), active);
        assert_int_equal(pair.server[active].core.term, term);
        assert_int_equal(pair.server[active].core.with_us, pair.chains);
        assert_int_equal(pair.server[1 - active].core.role, RM_STANDBY_READY);
    }
}

static void run_once(uint64_t seed) {
    pair_make(&pair, 1, 2, seed);
    uint32_t const chains = 1 + (uint32_t)pair_random(&pair, 7), missed = 2 + (uint32_t)pair_random(&pair, 4);
    pair_make(&pair, chains, missed, seed);
    pair.jitter = (uint32_t)pair_random(&pair, 3);
    pair.late_steps = (uint32_t)pair_random(&pair, 2);
    pair.link_cycles = 1 + (uint32_t)pair_random(&pair, 4);
    two_senders = 0;
    roles[0] = roles[1] = RM_STANDBY_JOINING;
    terms[0] = terms[1] = 0;
    if (by_chance(2))
        check_cycles(2ULL * pair.begin);
    for (uint32_t e = 0; e < EVENTS; ++e) {
        make_event();
        check_cycles(pair_random(&pair, CYCLES_BETWEEN));
    }
    check_stable();
    tally.divided_max = pair.divided_max > tally.divided_max ? pair.divided_max : tally.divided_max;
}

static void test_random(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; ++seed)
        run_once(seed);
    print_message("take-overs %lu, begins %lu, switches %lu, resumed %lu, deposed %lu, raised %lu, sleeps %lu; "
                  "cycles divided %lu, of two senders %lu\n",
                  tally.takeovers, tally.begins, tally.switched, tally.resumed, tally.deposed, tally.raised,
                  tally.sleeps, tally.divided_max, tally.two_senders_max);
    assert_true(tally.takeovers > 100 && tally.begins > 100 && tally.switched > 20 && tally.resumed > 100 &&
                tally.deposed > 20 && tally.raised > 20);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
