// SPDX-License-Identifier: Apache-2.0
/** Each event of a ring happens at exactly its turn: before it, all readings are the same bits as without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

#include "test_plant_rig.h"

enum { FIRST = 5000, TURNS = 700, AT = 307, LENGTH = 200, INSTRUMENTS = 9, TBT = 7, OTHER = 8, X1 = 0, Y1 = 1, X2 = 4 };

static char const DESCRIBED[] =
    "instruments:\n"
    "  - {name: bpm, kind: bpm, id: 1, count: 7, port: ring, source: 10.20.0.1, period_turns: 12}\n"
    "  - {name: tbt, kind: bpm, id: 101, count: 2, port: ring, source: 10.20.4.1}\n"
    "setpoints: {period_turns: 120}\n"
    "chains: [{name: fx, id: 1, port: ring, address: 10.30.0.1, supplies: [{name: fx, count: 6, unit: A, limits: [-10, "
    "10], slew: 100}]}]\n";

static char const OVERLAY[] = "first_turn: 5000\n"
                              "beam: {betatron_um: 5, synchrotron_um: 3}\n"
                              "supplies: [{supplies: fx, bandwidth_hz: 5000, initial: 2}]\n"
                              "machine:\n"
                              "  lattice: elettra2_like\n"
                              "  bpms: \"BPM_S01_* BPM_S01_0[1234]\"\n"
                              "  step_turns: 12\n"
                              "  correctors: [{elements: \"CF_S01_*\", plane: x, supplies: fx, urad_per_unit: 10}]\n"
                              "  disturbances: {mains: [{hz: 50, orbit_um: 50}]}\n";

/** [turn][instrument] what is sent. */
struct readings {
    union rm_lane lane[TURNS][INSTRUMENTS][RM_LANES];
};

static void open_plant(struct rm_plant *plant, char const *events) {
    char more[512];
    snprintf(more, sizeof more, "events: [%s]\n", events);
    test_plant_open(plant, DESCRIBED, OVERLAY, more);
}

/** Reads all turns; `words` happen before turn `at`. */
static struct readings *read_all(char const *events, char const *words, uint64_t at) {
    struct readings *readings = calloc(1, sizeof *readings);
    struct rm_plant plant;
    assert_non_null(readings);
    open_plant(&plant, events);
    for (uint64_t index = 0; index < TURNS; ++index) {
        if (words != NULL && index == at)
            test_plant_event(&plant, words);
        test_plant_reach(&plant, index);
        for (uint32_t i = (FIRST + index) % 12 == 0 ? 0 : TBT; i < INSTRUMENTS; ++i)
            rm_plant_read(&plant, FIRST + index, i, readings->lane[index][i]);
    }
    rm_plant_close(&plant);
    return readings;
}

/** The first turn at which something is not as without the event. */
static uint64_t first_change(struct readings const *with, struct readings const *without) {
    for (uint64_t index = 0; index < TURNS; ++index)
        if (memcmp(with->lane[index], without->lane[index], sizeof with->lane[index]) != 0)
            return index;
    return TURNS;
}

static void each_event_happens_at_its_turn(void **state) {
    (void)state;
    static struct {
        char const *event;
        /** Turns until it is seen: supplies act at the machine's next step, and slowly. */
        uint64_t most;
    } const kinds[] = {
        {"{event: trip, at_turn: 5307, supply: fx/2}", 24},
        {"{event: ripple, at_turn: 5307, supply: \"fx/2-3\", amplitude: 1, hz: 2000}", 24},
        {"{event: kick, at_turn: 5307, x_um: 50}", 0},
        {"{event: rf_trip, at_turn: 5307}", 2},
        {"{event: frozen, at_turn: 5307, instrument: tbt01}", 1},
        {"{event: noisy, at_turn: 5307, instrument: \"tbt*\", x_um: 5, y_um: 5}", 0},
        {"{event: offset, at_turn: 5307, instrument: tbt01/2, x_um: 30}", 0},
        {"{event: dead, at_turn: 5307, instrument: tbt02}", 0},
        {"{event: inverted, at_turn: 5307, instrument: tbt02/1}", 0},
        {"{event: swapped_cables, at_turn: 5307, instrument: tbt01/1, with: tbt02/2}", 0},
    };
    struct readings *without = read_all("", NULL, 0);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        struct readings *with = read_all(kinds[k].event, NULL, 0);
        uint64_t const change = first_change(with, without);
        if (change < AT || change > AT + kinds[k].most)
            fail_msg("%s: seen at turn %llu of %d", kinds[k].event, (unsigned long long)change, AT);
        free(with);
    }
    free(without);
}

static void what_ends_leaves_nothing_behind(void **state) {
    (void)state;
    static char const *const events[] = {
        "{event: frozen, at_turn: 5307, for_turns: 200, instrument: tbt01}",
        "{event: offset, at_turn: 5307, for_turns: 200, instrument: tbt, x_um: 10, y_um: -10}",
        "{event: swapped_cables, at_turn: 5307, instrument: tbt01, with: tbt02}, {event: good, at_turn: 5507, "
        "instrument: "
        "tbt}",
        "{event: ripple, at_turn: 5307, for_turns: 180, supply: fx, amplitude: 1, hz: 2000}",
    };
    struct readings *without = read_all("", NULL, 0);
    for (size_t e = 0; e < sizeof events / sizeof events[0]; ++e) {
        struct readings *with = read_all(events[e], NULL, 0);
        assert_true(first_change(with, without) >= AT && first_change(with, without) < AT + LENGTH);
        for (uint64_t index = AT + LENGTH; index < TURNS; ++index)
            assert_memory_equal(with->lane[index], without->lane[index], sizeof with->lane[index]);
        free(with);
    }
    free(without);
}

static void bad_bpms_read_what_their_fault_says(void **state) {
    (void)state;
    struct readings *good = read_all("", NULL, 0);
    struct readings *bad = read_all("{event: frozen, at_turn: 5300, instrument: tbt01/2},"
                                    "{event: inverted, at_turn: 5300, instrument: bpm03},"
                                    "{event: swapped_cables, at_turn: 5300, instrument: tbt01/1, with: tbt02/2},"
                                    "{event: swapped_cables, at_turn: 5300, instrument: bpm01, with: bpm07}",
                                    NULL, 0);
    for (uint64_t index = 300; index < TURNS; ++index) {
        union rm_lane(*is)[RM_LANES] = bad->lane[index], (*was)[RM_LANES] = good->lane[index];
        assert_memory_equal(&is[TBT][X2], &good->lane[300][TBT][X2], 4 * sizeof(union rm_lane));
        assert_memory_equal(&is[TBT][X1], &was[OTHER][X2], 4 * sizeof(union rm_lane));
        assert_memory_equal(&is[OTHER][X2], &was[TBT][X1], 4 * sizeof(union rm_lane));
        assert_memory_equal(&is[OTHER][X1], &was[OTHER][X1], 4 * sizeof(union rm_lane));
        assert_memory_equal(is[0], was[6], 8 * sizeof(union rm_lane));
        assert_memory_equal(is[6], was[0], 8 * sizeof(union rm_lane));
        assert_int_equal(is[2][X1].i, -was[2][X1].i);
        assert_int_equal(is[2][Y1].i, -was[2][Y1].i);
        assert_int_equal(is[2][2].i, was[2][2].i);
    }
    free(good);
    free(bad);
}

/** A trip is the supply's own: the chain counts it, and its current goes to 0; a reset lets it take setpoints. */
static void a_trip_is_the_supplys_own(void **state) {
    (void)state;
    struct rm_plant plant;
    open_plant(&plant, "{event: trip, at_turn: 5100, supply: fx/2, for_turns: 400}");
    test_plant_reach(&plant, 400);
    assert_true(plant.chains.supply[1].off);
    assert_float_equal(plant.chains.supply[1].since, 100 / plant.config.beam.turn_rate_hz, 1e-12);
    assert_int_equal(rm_counter_get(plant.block[0], RM_SUPPLY_TRIPS), 1);
    assert_true(rm_plant_current(&plant, 1) < 0.01);
    assert_float_equal(rm_plant_current(&plant, 0), 2, 0);
    test_plant_reach(&plant, 600);
    assert_false(plant.chains.supply[1].off);
    rm_plant_close(&plant);
}

/** The chain of the supplies loses its power, once, and listens when it is back; supplies stand where they were. */
static void a_power_cycle_is_the_chains(void **state) {
    (void)state;
    struct rm_plant plant;
    open_plant(&plant, "{event: power_cycle, at_turn: 5100, supply: fx/2-4, for_turns: 400}");
    struct rm_chain const *const chain = &plant.chains.chain[0];
    test_plant_reach(&plant, 400);
    assert_int_equal(chain->faults.off, 1);
    assert_float_equal(rm_plant_current(&plant, 1), 2, 0);
    assert_false(chain->listens_until > plant.time);
    test_plant_reach(&plant, 600);
    assert_int_equal(chain->faults.off, 0);
    double const on_s = 500 / plant.config.beam.turn_rate_hz;
    assert_float_equal(chain->listens_until, on_s + chain->config->timeout_s, 1e-12);
    assert_int_equal(rm_counter_get(plant.block[0], RM_SUPPLY_POWER_CYCLES), 1);
    rm_plant_close(&plant);
}

/** The words of a running ring are those of the file, and do the same. */
static void words_do_what_the_file_does(void **state) {
    (void)state;
    struct readings *file = read_all("{event: kick, at_turn: 5307, x_um: 50, y_um: 20}", NULL, 0);
    struct readings *words = read_all("", "event: kick, at_turn: 5307, x_um: 50, y_um: 20", 250);
    struct readings *braced = read_all("", "{event: kick, at_turn: 5307, x_um: 50, y_um: 20}", 0);
    assert_int_equal(first_change(file, words), TURNS);
    assert_int_equal(first_change(file, braced), TURNS);
    free(words);
    words = read_all("", "event: kick, x_um: 50, y_um: 20", AT); /* it happens at the next turn */
    assert_int_equal(first_change(file, words), TURNS);
    free(file);
    free(words);
    free(braced);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_event_happens_at_its_turn),      cmocka_unit_test(what_ends_leaves_nothing_behind),
        cmocka_unit_test(bad_bpms_read_what_their_fault_says), cmocka_unit_test(a_trip_is_the_supplys_own),
        cmocka_unit_test(a_power_cycle_is_the_chains),         cmocka_unit_test(words_do_what_the_file_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
