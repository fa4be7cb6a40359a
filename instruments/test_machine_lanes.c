// SPDX-License-Identifier: Apache-2.0
/** The machine as turns pass: in lock-step it looks by itself, at times of its own. */
#include "machine_lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "test_files.h"

enum { STEP_TURNS = 120, RATE = 1200000 };

static char const RING[] = "turn_rate_hz: 1200000\n"
                           "instruments: [{name: bpm, kind: bpm, id: 1, count: 84, port: ring, source: 10.20.0.1}]\n";
static char const OVERLAY[] = "machine:\n"
                              "  lattice: elettra2_like\n"
                              "  seed: 7\n"
                              "  bpms: \"BPM_*\"\n"
                              "  step_turns: 120\n";

struct ring {
    struct rm_ring_config config;
    struct rm_machine *machine;
    struct rm_beam *beam;
    struct rm_machine_lanes lanes;
};

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static void ring_make(struct ring *ring) {
    struct rm_error error;
    struct rm_machine_currents const none = {0};
    *ring = (struct ring){0};
    test_files_load_good(RING, OVERLAY, &ring->config);
    struct rm_ring_config *config = &ring->config;
    check(rm_machine_make(&config->machine, config->beam.turn_rate_hz, &ring->machine, &error), &error);
    check(rm_beam_make(&config->beam, config->instruments, config->instrument_count, &ring->beam, &error), &error);
    check(rm_machine_lanes_make(config, ring->machine, &none, ring->beam, &ring->lanes, &error), &error);
}

static void ring_free(struct ring *ring) {
    rm_machine_lanes_free(&ring->lanes);
    rm_beam_free(ring->beam);
    rm_machine_free(ring->machine);
    rm_ring_config_free(&ring->config);
}

static uint32_t knob_of(struct ring const *ring, char const *name) {
    uint32_t knob = 0;
    while (strcmp(rm_machine_knob_name(ring->machine, knob), name) != 0)
        ++knob;
    return knob;
}

static void it_looks_by_turns(void **state) {
    (void)state;
    struct ring ring;
    ring_make(&ring);
    uint64_t const before = rm_machine_says(ring.machine).refreshes;
    double const tune = rm_machine_says(ring.machine).tune[0];
    rm_machine_lanes_look_by_turns(&ring.lanes, 0.01); /* 12000 turns */
    rm_machine_lanes_advance(&ring.lanes, STEP_TURNS);
    rm_machine_set(ring.machine, knob_of(&ring, "QF1_S01_01"), 0.01);
    for (uint64_t turn = 2 * STEP_TURNS; turn < 12000; turn += STEP_TURNS)
        rm_machine_lanes_advance(&ring.lanes, turn);
    assert_int_equal(rm_machine_says(ring.machine).refreshes, before);
    rm_machine_lanes_advance(&ring.lanes, 12000 + STEP_TURNS); /* the next step */
    assert_int_equal(rm_machine_says(ring.machine).refreshes, before + 1);
    assert_true(rm_machine_says(ring.machine).tune[0] > tune + 1e-3);
    for (uint64_t turn = 12000 + 2 * STEP_TURNS; turn < 36000; turn += STEP_TURNS)
        rm_machine_lanes_advance(&ring.lanes, turn);
    assert_int_equal(rm_machine_says(ring.machine).refreshes, before + 2);
    ring_free(&ring);
}

static void a_thread_looks_where_it_is_not_told_to(void **state) {
    (void)state;
    struct ring ring;
    ring_make(&ring);
    uint64_t const before = rm_machine_says(ring.machine).refreshes;
    for (uint64_t turn = 0; turn < RATE; turn += (uint64_t)8 * STEP_TURNS)
        rm_machine_lanes_advance(&ring.lanes, turn);
    assert_int_equal(rm_machine_says(ring.machine).refreshes, before);
    ring_free(&ring);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(it_looks_by_turns),
        cmocka_unit_test(a_thread_looks_where_it_is_not_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
