// SPDX-License-Identifier: Apache-2.0
/** A plant in simulated time, beside what ringmaster-instruments makes of the same file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "instruments/responses.h"
#include "plant.h"
#include "wire/setpoint.h"

enum { FIRST = 5000, TURNS = 1200, PERIOD = 120, TBT = 7, INSTRUMENTS = 8, SET_AT = 100 };

/** Powers of two: a time that is reckoned in ticks is that which is reckoned in turns, to the bit. */
static double const TURN_RATE_HZ = 1 << 20, TSC_HZ = 1 << 30;

static char const MACHINE[] =
    "workspace: test\n"
    "turn_rate_hz: 1048576\n"
    "ports: [{name: ring, kind: memif, socket: /run/ringmaster/nowhere.sock, answer: 10.20.255.1}]\n"
    "instruments:\n"
    "  - {name: bpm, kind: bpm, id: 1, count: 7, port: ring, source: 10.20.0.1, period_turns: 120}\n"
    "  - {name: tbt, kind: bpm, id: 101, port: ring, source: 10.20.4.1}\n"
    "setpoints: {period_turns: 120}\n"
    "chains: [{name: fx, id: 1, port: ring, address: 10.30.0.1, supplies: [{name: fx, count: 6, unit: A, limits: [-10, "
    "10], slew: 100}]}]\n"
    "roles: [{role: receive, core: 0, ports: [ring]}]\n";

static char const OVERLAY[] =
    "first_turn: 5000\n"
    "beam: {betatron_um: 5, kick_um: 20, kick_every_turns: 300}\n"
    "supplies: [{supplies: fx, bandwidth_hz: 5000, delay_us: 20}]\n"
    "bpm_errors: [{instruments: \"bpm*\", inverted: x, corner_hz: 100, adc_bits: 16}, {instruments: tbt, swapped: "
    "true}]\n"
    "machine:\n"
    "  lattice: elettra2_like\n"
    "  seed: 7\n"
    "  bpms: \"BPM_S01_* BPM_S01_0[12]\"\n"
    "  step_turns: 12\n"
    "  filter: {delay_us: 20, bandwidth_hz: 4000}\n"
    "  errors: {beta_beat: 0.05, bpm_gain: 0.05, bpm_offset_um: 50}\n"
    "  correctors: [{elements: \"CF_S01_*\", plane: x, supplies: fx, urad_per_unit: 10, eddy_hz: 5000}]\n"
    "  disturbances: {mains: [{hz: 50, orbit_um: 50}], ground: {rms_nm: 50}}\n";

/** The beam, machine and supplies as ringmaster-instruments has them, with the clock in the test's hand. */
struct live {
    struct rm_ring_config ring;
    struct rm_machine *machine;
    struct rm_beam *beam;
    struct rm_chains chains;
    struct rm_responses responses;
    struct rm_turn_pace pace;
    struct rm_machine_lanes lanes;
    struct rm_readouts *readouts;
    rm_counter counters[RM_SUPPLY_COUNTERS];
    struct rm_error error;
};

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static struct live *live_open(struct rm_ring_files const *files) {
    struct live *live = calloc(1, sizeof *live);
    rm_counter *counters[] = {live->counters};
    check(rm_ring_config_load(files, &live->ring, &live->error), &live->error);
    struct rm_ring_config *ring = &live->ring;
    check(rm_machine_make(&ring->machine, TURN_RATE_HZ, &live->machine, &live->error), &live->error);
    rm_machine_lanes_tune(live->machine, &ring->beam);
    check(rm_beam_make(&ring->beam, ring->instruments, INSTRUMENTS, &live->beam, &live->error), &live->error);
    check(rm_readouts_make(ring->readouts, ring->readout_count, &ring->beam, live->beam, &live->readouts, &live->error),
          &live->error);
    check(rm_chains_make(&ring->supplies, ring->beam.seed, counters, 0, TSC_HZ, &live->chains, &live->error),
          &live->error);
    rm_turn_pace_start(&live->pace, TURN_RATE_HZ, TSC_HZ, 0);
    live->responses = (struct rm_responses){.chains = &live->chains, .pace = &live->pace};
    struct rm_machine_currents const currents = {rm_responses_currents, rm_responses_currents_of, &live->responses};
    check(rm_machine_lanes_make(ring, live->machine, &currents, live->beam, &live->lanes, &live->error), &live->error);
    return live;
}

static void live_close(struct live *live) {
    rm_machine_lanes_free(&live->lanes);
    rm_machine_free(live->machine);
    rm_beam_free(live->beam);
    rm_readouts_free(live->readouts);
    rm_chains_free(&live->chains);
    rm_ring_config_free(&live->ring);
    free(live);
}

static union rm_lane const *live_turn(struct live *live, uint64_t index, uint32_t first, uint32_t count) {
    rm_machine_lanes_advance(&live->lanes, index);
    union rm_lane const *lanes = rm_beam_turn(live->beam, FIRST + index, first, count);
    rm_responses_add(&live->responses, live->beam, index, first, count);
    rm_machine_lanes_add(&live->lanes, live->beam, lanes, first, count);
    rm_readouts_apply(live->readouts, live->beam, lanes, FIRST + index, first, count);
    return lanes;
}

/** The machine and its overlay, as files that are gone after the test. */
struct files {
    char config[40], overlay[40];
    struct rm_ring_files both;
};

static void write_file(char *path, char const *text) {
    strcpy(path, "/tmp/ringmaster-plant-XXXXXX");
    int const file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void write_files(struct files *files) {
    write_file(files->config, MACHINE);
    write_file(files->overlay, OVERLAY);
    files->both = (struct rm_ring_files){.config = files->config, .overlay = files->overlay};
}

static void remove_files(struct files const *files) {
    unlink(files->config);
    unlink(files->overlay);
}

/** The same setpoint for both, just after a turn. */
static void set_both(struct live *live, struct rm_plant *plant, uint64_t index) {
    double const time = ((double)index + 0.5) / TURN_RATE_HZ;
    for (uint32_t s = 0; s < 6; ++s) {
        rm_supply_set(&live->chains.supply[s], time, 0.5 + s);
        rm_supply_set(&plant->chains.supply[s], time, 0.5 + s);
    }
}

static void a_plant_reads_what_the_instruments_send(void **state) {
    (void)state;
    struct files files;
    struct rm_plant plant;
    struct rm_error error;
    write_files(&files);
    struct live *live = live_open(&files.both);
    check(rm_plant_open(&files.both, true, 0, &plant, &error), &error);
    union rm_lane read[RM_LANES];
    int32_t before = 0;
    uint32_t moved = 0;
    for (uint64_t index = 0; index < TURNS; ++index) {
        check(rm_plant_advance(&plant, (double)index / TURN_RATE_HZ, &error), &error);
        bool const all = (FIRST + index) % PERIOD == 0;
        for (uint32_t i = all ? 0 : TBT; i < INSTRUMENTS; ++i) {
            union rm_lane const *sent = live_turn(live, index, i, 1);
            rm_plant_read(&plant, FIRST + index, i, read);
            assert_memory_equal(read, sent, sizeof read);
            if (i == 0 && index < SET_AT)
                before = read[0].i;
            moved += i == 0 && labs((long)read[0].i - before) > 10000;
        }
        if (index == SET_AT)
            set_both(live, &plant, index);
    }
    assert_true(moved > 5); /* the setpoints are in both */
    rm_plant_close(&plant);
    live_close(live);
    remove_files(&files);
}

/** A live ring does not ask for turns that are not sent; the orbit is then the same, for each step is made. */
static void steps_are_made_whoever_reads(void **state) {
    (void)state;
    struct files files;
    write_files(&files);
    struct live *often = live_open(&files.both), *seldom = live_open(&files.both);
    for (uint64_t index = 0; index < TURNS; ++index) {
        union rm_lane read[RM_LANES];
        memcpy(read, live_turn(often, index, 0, 1), sizeof read);
        if ((FIRST + index) % PERIOD == 0)
            assert_memory_equal(read, live_turn(seldom, index, 0, 1), sizeof read);
    }
    live_close(often);
    live_close(seldom);
    remove_files(&files);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_plant_reads_what_the_instruments_send),
        cmocka_unit_test(steps_are_made_whoever_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
