// SPDX-License-Identifier: Apache-2.0
/** ringmaster-instruments with a living machine: its orbit is in the datagrams, its knobs can be set. Argument: the
 * program. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>
#include <ringmaster/workspace.h>

#include "fabric/segment_map.h"
#include "machine.h"
#include "ring_config.h"
#include "test_world.h"
#include "wire/native.h"

enum { TURNS = 200, FIRST = 5000, STEP = 10, RUNS_MAX = 50, LOOKS_MAX = 1200, LANE_Y1 = 1, LANE_SUM1 = 2, LANE_X2 = 4 };

static uint64_t const TIMEOUT_NS = 10000000000;

static char const MACHINE[] = "instruments:\n"
                              "  - {name: bpm, kind: bpm, id: 1, count: 7, port: ring, source: 127.0.0.1}\n";
static char const RING[] = "beam: {betatron_um: 0, synchrotron_um: 0, noise_um: 0}\n"
                           "bpm_errors: [{instruments: \"bpm*\", bpm: 1, inverted: y}]\n"
                           "machine:\n"
                           "  lattice: elettra2_like\n"
                           "  seed: 7\n"
                           "  bpms: \"BPM_S01_*\"\n"
                           "  step_turns: 10\n"
                           "  errors: {beta_beat: 0.05, bpm_gain: 0.05, bpm_offset_um: 50}\n"
                           "  disturbances: {mains: [{hz: 50, orbit_um: 50}], mains_wander: 0}\n";

static struct test_world *make(char const *program) {
    struct test_world *world = test_world_make(program);
    test_world_write(world, MACHINE, RING);
    return world;
}

/** The next turn of any BPM, or false. */
static bool take(struct test_arrival const *came, struct rm_native *native, struct rm_record *record) {
    if (came == NULL)
        return false;
    assert_int_equal(rm_native_parse(came->payload, came->length, native), RM_PORT_DECODED);
    rm_native_record(native, native->turn, 0, record);
    return true;
}

/** What a machine of the same file reads at all steps. */
static void read_beside(struct test_world const *world, double (*reading)[14][2]) {
    struct rm_ring_config ring;
    struct rm_machine *machine = NULL;
    struct rm_error error;
    if (rm_ring_config_load(&world->files, &ring, &error) != RM_OK ||
        rm_machine_make(&ring.machine, ring.beam.turn_rate_hz, &machine, &error) != RM_OK)
        fail_msg("%s", error.text);
    double const current = 0;
    for (uint32_t turn = 0; turn < TURNS; turn += STEP) {
        rm_machine_step(machine, turn / ring.beam.turn_rate_hz, &current);
        for (uint32_t b = 0; b < 14; ++b)
            rm_machine_read(machine, b, &reading[turn / STEP][b][0], &reading[turn / STEP][b][1]);
    }
    rm_machine_free(machine);
    rm_ring_config_free(&ring);
}

static void the_orbit_is_in_the_datagrams(void **state) {
    struct test_world *world = make(*state);
    double(*reading)[14][2] = calloc(TURNS / STEP, sizeof *reading);
    struct rm_native native;
    struct rm_record record;
    uint32_t count = 0;
    double most = 0;
    assert_non_null(reading);
    assert_int_equal(test_world_run(world, "", "check %s"), 0);
    test_world_check_output(world, "14 BPMs, 0 groups of supplies; tunes 0.");
    read_beside(world, reading);
    /* Turns that are due while the host has the core are not sent: so the same turns are sent until enough have come. */
    for (unsigned run = 0; count <= 100 && run < RUNS_MAX; ++run) {
        assert_int_equal(test_world_run(world, "", "run %s --turns 200"), 0);
        while (take(test_world_receive(world, 0), &native, &record)) {
            double const(*here)[2] = reading[(native.turn - FIRST) / STEP];
            uint32_t const b = 2 * (native.instrument - 1u);
            /* The background may have looked in between: a look changes little, as it is about the same lattice. */
            assert_true(fabs(record.lane[LANE_Y1].i + here[b][1]) < 500);
            assert_true(fabs(record.lane[LANE_X2].i - here[b + 1][0]) < 5000);
            most = fmax(most, fabs(here[b][1]));
            ++count;
        }
    }
    assert_true(count > 100);
    assert_true(most > 10000);
    free(reading);
    test_world_destroy(world);
}

static void the_truth_is_written_when_asked_for(void **state) {
    struct test_world *world = make(*state);
    char path[64], arguments[100], text[200] = {0};
    snprintf(path, sizeof path, "%s/truth", world->directory);
    snprintf(arguments, sizeof arguments, "run %%s --turns 1 --truth %s", path);
    assert_int_equal(test_world_run(world, "", arguments), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_non_null(strstr(text, "{\"seed\": 7,"));
    assert_non_null(strstr(text, "\"beta_beat\": 0.0"));
    test_world_destroy(world);
}

static enum rm_verdict put_bytes(struct test_world const *world, char const *parameter, void const *value, size_t bytes,
                                 char reason[RM_REASON_BYTES]) {
    char workspace[64];
    struct rm_owner *owner = NULL;
    struct rm_workspace *attached = NULL;
    struct rm_reply reply = {.verdict = RM_VERDICT_REFUSED};
    struct rm_error error = {0};
    snprintf(workspace, sizeof workspace, "%s/ws", world->directory);
    if (rm_owner_new_requester(workspace, "put", &owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_owner_requests(owner);
    if (rm_owner_open(owner, &error) != RM_OK || rm_workspace_attach(workspace, 0, &attached, &error) != RM_OK ||
        rm_requests_put(owner, attached, parameter, 0, value, bytes, TIMEOUT_NS, &reply, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_workspace_detach(attached);
    rm_owner_close(owner);
    strcpy(reason, reply.reason);
    return reply.verdict;
}

static void put(struct test_world const *world, char const *parameter, double value, enum rm_verdict expected) {
    char reason[RM_REASON_BYTES];
    assert_int_equal(put_bytes(world, parameter, &value, sizeof value, reason), expected);
}

/** Workspaces are the servers': this is one that serves nothing. */
static struct rm_owner *serve_nothing(struct test_world const *world) {
    char workspace[64];
    struct rm_owner *server = NULL;
    struct rm_error error;
    snprintf(workspace, sizeof workspace, "%s/ws", world->directory);
    if (rm_owner_new(workspace, "server", &server, &error) != RM_OK || rm_owner_open(server, &error) != RM_OK)
        fail_msg("%s", error.text);
    return server;
}

static void remove_server(struct test_world const *world) {
    static char const *const names[] = {"server.segment", "server.lock", "requests"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n) {
        char path[80];
        snprintf(path, sizeof path, "%s/ws/%s", world->directory, names[n]);
        remove(path);
    }
}

static double parameter_of(struct test_world const *world, char const *name) {
    struct rm_mapped_segment mapped;
    test_world_map(world, &mapped);
    double const value = rm_parameter_read_f64(test_world_object(&mapped, name));
    rm_segment_unmap(&mapped);
    return value;
}

/** Waits until the sum signal is this, within 10 %. */
static void await_sum(struct test_world *world, double counts) {
    struct rm_native native;
    struct rm_record record = {0};
    do
        assert_true(take(test_world_await(world), &native, &record));
    while (!(fabs(record.lane[LANE_SUM1].i - counts) < 0.15e6));
}

static void knobs_can_be_set_while_it_runs(void **state) {
    struct test_world *world = make(*state);
    struct rm_owner *server = serve_nothing(world);
    pid_t const pid = test_world_start(world, "--seconds", "600");
    await_sum(world, 1e6);
    double const tune = parameter_of(world, "machine/tune_y");
    assert_true(parameter_of(world, "machine/mains") == 1);
    for (int wait = 0; wait < LOOKS_MAX && !(parameter_of(world, "machine/orbit_rms_y") > 0.1); ++wait)
        usleep(50000);
    assert_true(parameter_of(world, "machine/orbit_rms_y") > 0.1);
    assert_true(tune > 0 && tune < 1);
    assert_float_equal(tune, parameter_of(world, "ring/tune_y"), 1e-3); /* a later look has another orbit in it */
    put(world, "machine/beam", 0, RM_VERDICT_DONE);
    await_sum(world, 0);
    put(world, "machine/beam", 1, RM_VERDICT_DONE);
    await_sum(world, 1e6);
    put(world, "machine/mains", 11, RM_VERDICT_REFUSED);
    put(world, "machine/QF1_S01_01", 0.04, RM_VERDICT_DONE);
    for (int wait = 0; wait < LOOKS_MAX && !(fabs(parameter_of(world, "machine/tune_y") - tune) > 1e-3); ++wait)
        usleep(50000);
    assert_true(fabs(parameter_of(world, "machine/tune_y") - tune) > 1e-3);
    assert_true(parameter_of(world, "machine/QF1_S01_01") == 0.04);
    assert_int_equal(test_world_end(world, pid), 0);
    rm_owner_close(server);
    remove_server(world);
    test_world_destroy(world);
}

/** y1 of the first BPM at all turns that came. */
static void take_turns(struct test_world *world, int32_t y[TURNS]) {
    struct rm_native native;
    struct rm_record record;
    while (take(test_world_receive(world, 0), &native, &record))
        if (native.instrument == 1)
            y[native.turn - FIRST] = record.lane[LANE_Y1].i;
}

/** Two runs, of which the second goes on from the first, send what one run of as many turns sends, but for the looks of
 * the background: that of a start comes when its thread gets to it, and finds the tunes of the orbit of that moment. */
static void a_run_goes_on_where_another_one_ended(void **state) {
    struct test_world *world = make(*state);
    int32_t *x = calloc(2 * TURNS, sizeof *x), *whole = x + TURNS;
    char lines[1024], checkpoint[80], arguments[160];
    assert_non_null(x);
    snprintf(lines, sizeof lines, "%s  refresh_ms: 1000000\nmax_lag_ms: 0\n", RING);
    memcpy(strstr(lines, "betatron_um: 0"), "betatron_um: 9", 14);
    test_world_write(world, MACHINE, lines);
    snprintf(checkpoint, sizeof checkpoint, "%s/machine.checkpoint", world->directory);
    snprintf(arguments, sizeof arguments, "run %%s --turns 16 --checkpoint %s", checkpoint);
    for (int run = 0; run < 2; ++run) {
        assert_int_equal(test_world_run(world, "", arguments), 0);
        take_turns(world, x);
    }
    assert_int_equal(test_world_run(world, "", "run %s --turns 32"), 0);
    take_turns(world, whole);
    int32_t off = 0, swing = 0, common = 0;
    for (int turn = 1; turn < TURNS; ++turn) {
        if (x[turn] == 0 || whole[turn] == 0) /* there was no room for it in the receiver */
            continue;
        ++common;
        off = abs(x[turn] - whole[turn]) > off ? abs(x[turn] - whole[turn]) : off;
        swing = abs(x[turn] - x[turn - 1]) > swing ? abs(x[turn] - x[turn - 1]) : swing;
    }
    assert_true(common > 20);
    assert_true(off < swing / 4);
    assert_true(swing > 5000);
    remove(checkpoint);
    free(x);
    test_world_destroy(world);
}

static enum rm_verdict put_event(struct test_world const *world, char const *words, char reason[RM_REASON_BYTES]) {
    char text[256] = {0};
    snprintf(text, sizeof text, "%s", words);
    return put_bytes(world, "ring/event", text, sizeof text, reason);
}

static void check_words(struct test_world const *world, char const *expected) {
    struct rm_mapped_segment mapped;
    struct rm_parameter_reading reading;
    char words[256];
    test_world_map(world, &mapped);
    rm_parameter_read(test_world_object(&mapped, "ring/event"), words, sizeof words, &reading);
    rm_segment_unmap(&mapped);
    if (strncmp(words, expected, strlen(expected)) != 0)
        fail_msg("found \"%s\", expected \"%s\"", words, expected);
}

/** By the words of the overlay; the turn at which it happened is printed and published. */
static void an_event_happens_while_it_runs(void **state) {
    struct test_world *world = make(*state);
    struct rm_owner *server = serve_nothing(world);
    struct rm_native native = {0};
    struct rm_record record = {0};
    char reason[RM_REASON_BYTES], said[80];
    pid_t const pid = test_world_start(world, "--seconds", "60");
    await_sum(world, 1e6);
    assert_true(parameter_of(world, "ring/events") == 0);
    assert_int_equal(put_event(world, "event: trip, supply: c01/1", reason), RM_VERDICT_REFUSED);
    assert_non_null(strstr(reason, "means none of the 0 supplies"));
    assert_int_equal(put_event(world, "event: rf_tripp", reason), RM_VERDICT_REFUSED);
    assert_string_equal(reason, "event:1:9: event: found \"rf_tripp\" (did you mean \"rf_trip\"?)");
    assert_int_equal(put_event(world, "event: dead, instrument: bpm03", reason), RM_VERDICT_DONE);
    check_words(world, "event: dead, instrument: bpm03, at_turn: "); /* they are there with the answer */
    do
        assert_true(take(test_world_await(world), &native, &record));
    while (native.instrument != 3 || record.lane[LANE_SUM1].i != 0);
    for (int wait = 0; wait < 4800 && parameter_of(world, "ring/events") != 1; ++wait)
        usleep(25000);
    assert_true(parameter_of(world, "ring/events") == 1);
    double const turn = parameter_of(world, "ring/event_turn");
    assert_true(turn >= FIRST && turn <= (double)native.turn);
    assert_int_equal(test_world_end(world, pid), 0);
    snprintf(said, sizeof said, "dead, by request: event: dead, instrument: bpm03 at turn %.0f\n", turn);
    test_world_check_output(world, said);
    rm_owner_close(server);
    remove_server(world);
    test_world_destroy(world);
}

static void a_lattice_that_does_not_fit_is_reported(void **state) {
    struct test_world *world = make(*state);
    char lines[1024];
    snprintf(lines, sizeof lines, "%s", RING);
    memcpy(strstr(lines, "BPM_S01_*"), "BPM_S0?_*", 9);
    test_world_write(world, MACHINE, lines);
    assert_int_equal(test_world_run(world, "", "check %s"), 1);
    test_world_check_output(world, "expected as many as the instruments have BPMs: 14");
    assert_int_equal(test_world_run(world, "", "run %s --turns 200"), 1);
    test_world_check_output(world, "expected as many as the instruments have BPMs: 14");
    test_world_destroy(world);
}

int main(int argc, char **argv) {
    void *program = argc > 1 ? argv[1] : NULL;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(the_orbit_is_in_the_datagrams, program),
        cmocka_unit_test_prestate(the_truth_is_written_when_asked_for, program),
        cmocka_unit_test_prestate(knobs_can_be_set_while_it_runs, program),
        cmocka_unit_test_prestate(a_run_goes_on_where_another_one_ended, program),
        cmocka_unit_test_prestate(an_event_happens_while_it_runs, program),
        cmocka_unit_test_prestate(a_lattice_that_does_not_fit_is_reported, program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
