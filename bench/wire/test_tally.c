// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instruments/noise.h"

enum { COUNT = 5000, BEGIN = 1000, END = 4000, REMEMBERED = 64, SEEDS = 50 };

static struct rm_tally_range const window = {BEGIN, END};

struct world {
    struct rm_tally tally;
    struct rm_histogram histogram;
};

static struct world *fresh(void **state) {
    struct world *const world = *state;
    memset(&world->histogram, 0, sizeof world->histogram);
    rm_tally_start(&world->tally, &world->histogram);
    return world;
}

static void all_in_order_is_all_received(void **state) {
    struct world *const world = fresh(state);
    for (uint64_t k = 0; k < COUNT; ++k)
        assert_int_equal(rm_tally_take(&world->tally, &window, k, 1000 * k), k >= BEGIN && k < END);
    assert_int_equal(world->tally.received, END - BEGIN);
    assert_int_equal(world->tally.duplicate, 0);
    assert_int_equal(world->tally.reordered, 0);
    assert_int_equal(rm_tally_lost(&world->tally, &window), 0);
    assert_int_equal(world->tally.intervals, END - BEGIN - 1);
    assert_int_equal(world->tally.interval_sum, 1000ull * (END - BEGIN - 1));
    assert_int_equal(world->tally.interval_least, 1000);
    assert_int_equal(world->histogram.largest, 1000);
}

static void a_known_loss_is_that_loss(void **state) {
    for (unsigned every = 2; every < 200; every += 7) {
        struct world *const world = fresh(state);
        unsigned dropped = 0;
        for (uint64_t k = 0; k < COUNT; ++k) {
            if ((k + 1) % every == 0)
                dropped += k >= BEGIN && k < END;
            else
                rm_tally_take(&world->tally, &window, k, k);
        }
        assert_int_equal(rm_tally_lost(&world->tally, &window), dropped);
        assert_int_equal(world->tally.received + dropped, END - BEGIN);
    }
}

static void across_a_gap_there_is_no_interval(void **state) {
    struct world *const world = fresh(state);
    uint64_t const came[] = {BEGIN, BEGIN + 1, BEGIN + 3, BEGIN + 4};
    for (size_t i = 0; i < sizeof came / sizeof *came; ++i)
        rm_tally_take(&world->tally, &window, came[i], came[i] * 1000);
    assert_int_equal(world->tally.intervals, 2);
    assert_int_equal(world->histogram.largest, 1000);
}

/** Swaps neighbours within a reach that is remembered, leaves some out and repeats some; all of it known. */
struct disorder {
    uint64_t sequence[2 * COUNT];
    size_t count;
    uint64_t dropped, repeated; /**< in the window */
};

static void make_disorder(struct disorder *disorder, uint64_t seed) {
    disorder->count = disorder->dropped = disorder->repeated = 0;
    for (uint64_t k = 0; k < COUNT; ++k) {
        double const chance = rm_noise_uniform(rm_noise_u64(seed) + k);
        bool const counts = k >= BEGIN && k < END;
        if (chance < 0.1 && k + 1 < COUNT) {
            disorder->dropped += counts;
            continue;
        }
        disorder->sequence[disorder->count++] = k;
        if (chance > 0.9) {
            disorder->sequence[disorder->count++] = k;
            disorder->repeated += counts;
        }
    }
    for (size_t i = 0; i + 1 < disorder->count; ++i) { /* within blocks of 20, each with each */
        size_t const block = i - i % 20;
        size_t const size = disorder->count - block < 20 ? disorder->count - block : 20;
        size_t const other = block + rm_noise_u64(seed * COUNT + i) % size;
        uint64_t const kept = disorder->sequence[i];
        disorder->sequence[i] = disorder->sequence[other];
        disorder->sequence[other] = kept;
    }
}

/** How many came for the first time after a higher one. */
static uint64_t out_of_order(struct disorder const *disorder) {
    static bool seen[COUNT];
    memset(seen, 0, sizeof seen);
    uint64_t highest = 0, count = 0;
    for (size_t i = 0; i < disorder->count; ++i) {
        uint64_t const k = disorder->sequence[i];
        count += !seen[k] && k < highest && k >= BEGIN && k < END;
        seen[k] = true;
        highest = k > highest ? k : highest;
    }
    return count;
}

static void whatever_the_order_the_sums_hold(void **state) {
    static struct disorder disorder;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        struct world *const world = fresh(state);
        make_disorder(&disorder, seed);
        uint64_t fresh_ones = 0;
        for (size_t i = 0; i < disorder.count; ++i)
            fresh_ones += rm_tally_take(&world->tally, &window, disorder.sequence[i], i);
        assert_int_equal(fresh_ones, world->tally.received);
        assert_int_equal(world->tally.received, END - BEGIN - disorder.dropped);
        assert_int_equal(rm_tally_lost(&world->tally, &window), disorder.dropped);
        assert_int_equal(world->tally.duplicate, disorder.repeated);
        assert_int_equal(world->tally.reordered, out_of_order(&disorder));
        assert_true(disorder.dropped > 100 && disorder.repeated > 100 && world->tally.reordered > 100);
    }
}

static void what_is_too_far_behind_counts_as_a_duplicate(void **state) {
    struct world *const world = fresh(state);
    rm_tally_take(&world->tally, &window, BEGIN, 0);
    rm_tally_take(&world->tally, &window, BEGIN + 1 + REMEMBERED, 1);
    assert_true(rm_tally_take(&world->tally, &window, BEGIN + 2, 2));
    assert_false(rm_tally_take(&world->tally, &window, BEGIN + 1, 3));
    assert_int_equal(world->tally.duplicate, 1);
    assert_int_equal(world->tally.reordered, 1);
    assert_int_equal(world->tally.received, 3);
}

static void the_senders_end_bounds_the_loss(void **state) {
    struct world *const world = fresh(state);
    for (uint64_t k = 0; k < 2000; ++k)
        rm_tally_take(&world->tally, &window, k, k);
    assert_false(rm_tally_over(&world->tally, &window));
    assert_int_equal(rm_tally_lost(&world->tally, &window), END - 2000);
    world->tally.end = 2010; /* the last ten were lost */
    assert_true(rm_tally_over(&world->tally, &window));
    assert_int_equal(rm_tally_lost(&world->tally, &window), 10);
    world->tally.end = BEGIN - 1; /* before the window began */
    assert_int_equal(rm_tally_lost(&world->tally, &window), 0);
}

static void an_instrument_is_over_when_it_has_passed_the_window(void **state) {
    struct world *const world = fresh(state);
    rm_tally_take(&world->tally, &window, END - 2, 0);
    assert_false(rm_tally_over(&world->tally, &window));
    rm_tally_take(&world->tally, &window, END - 1, 1);
    assert_true(rm_tally_over(&world->tally, &window));
}

static void without_a_window_nothing_counts(void **state) {
    struct world *const world = fresh(state);
    struct rm_tally_range const unknown = {UINT64_MAX, UINT64_MAX};
    for (uint64_t k = 0; k < 100; ++k)
        assert_false(rm_tally_take(&world->tally, &unknown, k, k));
    assert_int_equal(world->tally.received, 0);
    assert_int_equal(world->tally.intervals, 0);
    assert_int_equal(rm_tally_lost(&world->tally, &unknown), 0);
}

int main(void) {
    struct world *world = aligned_alloc(64, sizeof *world);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(all_in_order_is_all_received, world),
        cmocka_unit_test_prestate(a_known_loss_is_that_loss, world),
        cmocka_unit_test_prestate(across_a_gap_there_is_no_interval, world),
        cmocka_unit_test_prestate(whatever_the_order_the_sums_hold, world),
        cmocka_unit_test_prestate(what_is_too_far_behind_counts_as_a_duplicate, world),
        cmocka_unit_test_prestate(the_senders_end_bounds_the_loss, world),
        cmocka_unit_test_prestate(an_instrument_is_over_when_it_has_passed_the_window, world),
        cmocka_unit_test_prestate(without_a_window_nothing_counts, world),
    };
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(world);
    return failed;
}
