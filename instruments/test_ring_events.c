// SPDX-License-Identifier: Apache-2.0
/** Events: of an overlay and of words, and when they happen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_schedule.h"
#include "test_files.h"

static char const RING[] =
    "setpoints: {period_turns: 12}\n"
    "instruments:\n"
    "  - {name: bpm, kind: bpm, id: 1, count: 3, port: ring, source: 10.20.0.1}\n"
    "  - {name: slow, kind: bpm, id: 7, port: ring, source: 10.20.0.7, period_turns: 12}\n"
    "  - {name: blm, kind: blm, id: 9, port: ring, source: 10.20.0.9}\n"
    "chains:\n"
    "  - {name: c, count: 2, id: 5, port: ring, address: 10.30.0.1, supplies: [{count: 8, unit: A, limits: [-10, 10],\n"
    "     slew: 100, name: \"sr/ps/{chain}_\"}]}\n";

static void every_key_is_taken(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(RING,
                         "events:\n"
                         "  - {event: trip, at_turn: 1000007, for_turns: 5, supply: c02/3-4}\n"
                         "  - {event: ripple, supply: sr/ps/01_02, amplitude: 0.5, hz: 300}\n"
                         "  - {event: kick, x_um: 20}\n"
                         "  - {event: noisy, instrument: bpm, x_um: 1, y_um: 2}\n"
                         "  - {event: swapped_cables, instrument: bpm01/2, with: bpm03/1}\n"
                         "  - {event: frozen, instrument: blm}\n",
                         &config);
    struct rm_ring_event const *event = config.events;
    assert_int_equal(config.event_count, 6);
    assert_int_equal(event[0].kind, RM_EVENT_TRIP);
    assert_int_equal(event[0].at_turn, 1000007);
    assert_int_equal(event[0].for_turns, 5);
    assert_int_equal(event[0].supply_count, 2);
    assert_int_equal(event[0].supply[0], 10);
    assert_int_equal(event[0].supply[1], 11);
    assert_true(event[1].at_turn == RM_TURN_NONE);
    assert_int_equal(event[1].supply[0], 1);
    assert_float_equal(event[1].amplitude, 0.5, 0);
    assert_float_equal(event[1].hz, 300, 0);
    assert_float_equal(event[2].x_nm, 20e3, 1e-9);
    assert_float_equal(event[2].y_nm, 20e3, 1e-9);
    assert_int_equal(event[3].reading_count, 3);
    assert_float_equal(event[3].y_nm, 2e3, 1e-9);
    assert_int_equal(event[4].reading[0].bpm, 2);
    assert_int_equal(event[4].reading[1].instrument, 2);
    assert_int_equal(event[4].reading[1].bpm, 1);
    assert_int_equal(event[5].reading[0].instrument, 4);
    rm_ring_config_free(&config);
}

static void a_wrong_event_is_refused(void **state) {
    (void)state;
    static char const *const wrong[][2] = {
        {"{event: fall}", "events[0].event: found \"fall\", expected one of: trip, reset, ripple"},
        {"{event: trip}", "trip: expected the key supply"},
        {"{event: trip, supply: c02/9}", "means none of the 16 supplies"},
        {"{event: trip, supply: sr/ps/01_9}", "no such supply; did you mean sr/ps/01_"},
        {"{event: trip, supply: c02, hz: 3}", "hz: trip: this event has no such key, take it out"},
        {"{event: ripple, supply: c02, hz: 3}", "ripple: expected the key amplitude"},
        {"{event: kick, for_turns: 3}", "for_turns: kick: this event has no such key"},
        {"{event: kick, x_um: 1e6}", "x_um"},
        {"{event: noisy, instrument: blm}", "means blm too, expected instruments of kind bpm"},
        {"{event: dead, instrument: bpm9}", "means none of the 5 instruments"},
        {"{event: dead, instrument: bpm01/3}", "expected an instrument such as bpm01, or bpm01/1 or bpm01/2"},
        {"{event: swapped_cables, instrument: bpm01}", "swapped_cables: expected the key with"},
        {"{event: swapped_cables, instrument: bpm01/1, with: bpm01/1}", "the same BPM twice"},
        {"{event: swapped_cables, instrument: bpm01, with: slow}", "read as often as the other"},
        {"{event: swapped_cables, instrument: bpm, with: slow}", "expected two BPMs"},
        {"{event: rf_trip}", "the ring has no key `machine`"},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; ++w) {
        char overlay[256];
        strcpy(overlay, "events: [");
        strcat(overlay, wrong[w][0]);
        strcat(overlay, "]\n");
        test_files_expect(RING, overlay, wrong[w][1]);
    }
}

static void words_are_a_files_mapping(void **state) {
    (void)state;
    static char const *const wrong[][2] = {
        {"event: fall", "event: found \"fall\", expected one of: trip, reset, ripple"},
        {"trip c01", "event:1:"},
        {"event: trip, suply: c01", "unknown key \"suply\""},
        {"event: trip, supply: c03", "trip: supply: found \"c03\", which means none"},
        {"event: kick, x_um: 1e6", "kick: x_um: found 1e+06, expected -100000 to 100000"},
    };
    struct rm_ring_config config;
    struct rm_ring_event event;
    struct rm_error error;
    test_files_load_good(RING, "", &config);
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; ++w) {
        assert_int_equal(rm_ring_event_parse(&config, wrong[w][0], &event, &error), RM_E_CONFIG);
        if (strstr(error.text, wrong[w][1]) == NULL)
            fail_msg("%s: %s", wrong[w][0], error.text);
    }
    assert_int_equal(rm_ring_event_parse(&config, "event: trip, supply: c02/1", &event, &error), RM_OK);
    assert_int_equal(event.supply[0], 8);
    assert_true(event.at_turn == RM_TURN_NONE);
    rm_ring_event_free(&event);
    assert_int_equal(rm_ring_event_parse(&config, " {event: kick, at_turn: 7}", &event, &error), RM_OK);
    assert_int_equal(event.at_turn, 7);
    rm_ring_event_free(&event);
    rm_ring_config_free(&config);
}

/* ── when ── */

struct log {
    struct {
        enum rm_ring_event_kind kind;
        rm_turn turn;
        bool begins;
    } entry[16];
    uint32_t count;
    struct {
        enum rm_event_stage stage;
        rm_turn turn;
        char words[64];
    } heard[16];
    uint32_t heard_count;
};

static void note(void *state, struct rm_ring_event const *event, rm_turn turn, bool begins) {
    struct log *log = state;
    log->entry[log->count].kind = event->kind;
    log->entry[log->count].turn = turn;
    log->entry[log->count++].begins = begins;
}

static void hear(void *state, struct rm_event_report const *report) {
    struct log *log = state;
    log->heard[log->heard_count].stage = report->stage;
    log->heard[log->heard_count].turn = report->turn;
    strncpy(log->heard[log->heard_count++].words, report->words, 63);
}

static void ignore(void *state, struct rm_event_report const *report) {
    (void)state;
    (void)report;
}

static struct rm_event_schedule *make_schedule(struct rm_ring_config const *config, struct log *log) {
    struct rm_event_schedule *schedule;
    struct rm_error error;
    assert_int_equal(rm_event_schedule_make(config, &schedule, &error), RM_OK);
    schedule->apply = note;
    schedule->state = log;
    return schedule;
}

static void reach(struct rm_event_schedule *schedule, rm_turn turn) {
    if (rm_event_schedule_waits(schedule, turn))
        rm_event_schedule_serve(schedule, turn);
}

static void check_entry(struct log const *log, uint32_t entry, enum rm_ring_event_kind kind, rm_turn turn,
                        bool begins) {
    assert_int_equal(log->entry[entry].kind, kind);
    assert_int_equal(log->entry[entry].turn, turn);
    assert_int_equal(log->entry[entry].begins, begins);
}

/** In the order of their turns, also when many turns are reached at once. */
static void events_happen_in_the_order_of_their_turns(void **state) {
    (void)state;
    static char const OVERLAY[] = "first_turn: 100\n"
                                  "events:\n"
                                  "  - {event: dead, at_turn: 130, for_turns: 20, instrument: bpm01}\n"
                                  "  - {event: kick, at_turn: 140}\n"
                                  "  - {event: trip, at_turn: 7, supply: c01/1}\n";
    struct rm_ring_config config;
    struct log log = {.count = 0};
    test_files_load_good(RING, OVERLAY, &config);
    struct rm_event_schedule *schedule = make_schedule(&config, &log);
    reach(schedule, 100);
    assert_int_equal(log.count, 1);
    check_entry(&log, 0, RM_EVENT_TRIP, 100, true); /* it was before the first turn */
    reach(schedule, 129);
    assert_int_equal(log.count, 1);
    reach(schedule, 1000);
    assert_int_equal(log.count, 4);
    check_entry(&log, 1, RM_EVENT_DEAD, 130, true);
    check_entry(&log, 2, RM_EVENT_KICK, 140, true);
    check_entry(&log, 3, RM_EVENT_DEAD, 150, false);
    rm_event_schedule_report(schedule, hear, &log);
    assert_int_equal(log.heard_count, 3); /* what was planned by the file is no news */
    assert_int_equal(log.heard[1].turn, 140);
    rm_event_schedule_free(schedule);
    rm_ring_config_free(&config);
}

/** A ring that begins later: what lasts is so, and what was a moment is past. */
static void what_is_before_the_first_turn_has_happened(void **state) {
    (void)state;
    static char const OVERLAY[] = "first_turn: 100\n"
                                  "events:\n"
                                  "  - {event: kick, at_turn: 10}\n"
                                  "  - {event: dead, at_turn: 20, for_turns: 30, instrument: bpm01}\n"
                                  "  - {event: frozen, at_turn: 30, for_turns: 90, instrument: bpm02}\n";
    struct rm_ring_config config;
    struct log log = {.count = 0};
    test_files_load_good(RING, OVERLAY, &config);
    struct rm_event_schedule *schedule = make_schedule(&config, &log);
    reach(schedule, 100);
    assert_int_equal(log.count, 1); /* the kick is past, and the dead one is good again */
    check_entry(&log, 0, RM_EVENT_FROZEN, 100, true);
    reach(schedule, 500);
    assert_int_equal(log.count, 2);
    check_entry(&log, 1, RM_EVENT_FROZEN, 120, false);
    rm_event_schedule_free(schedule);
    rm_ring_config_free(&config);
}

static void a_posted_event_is_planned_and_reported(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_error error;
    struct log log = {.count = 0};
    test_files_load_good(RING, "first_turn: 100\n", &config);
    struct rm_event_schedule *schedule = make_schedule(&config, &log);
    schedule->lead_turns = 50;
    reach(schedule, 200);
    assert_int_equal(rm_event_schedule_post_words(schedule, &config, "event: kick", &error), RM_OK);
    assert_int_equal(rm_event_schedule_post_words(schedule, &config, "event: dead, instrument: bpm01", &error), RM_OK);
    assert_int_equal(rm_event_schedule_post_words(schedule, &config, "event: kick, at_turn: 150", &error), RM_OK);
    reach(schedule, 201);
    assert_int_equal(log.count, 2); /* what belongs to no beam, and what is past, happens now */
    check_entry(&log, 0, RM_EVENT_DEAD, 201, true);
    check_entry(&log, 1, RM_EVENT_KICK, 201, true);
    rm_event_schedule_report(schedule, hear, &log);
    assert_int_equal(log.heard_count, 5);
    assert_int_equal(log.heard[0].stage, RM_EVENT_PLANNED);
    assert_int_equal(log.heard[0].turn, 251); /* so long before, rings that follow hear of it */
    assert_string_equal(log.heard[0].words, "event: kick");
    reach(schedule, 250);
    assert_int_equal(log.count, 2);
    reach(schedule, 251);
    assert_int_equal(log.count, 3);
    rm_event_schedule_free(schedule);
    rm_ring_config_free(&config);
}

/** Slots of events that are over are used again; more than there are slots are refused. */
static void no_more_events_wait_than_there_is_room_for(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_error error;
    struct log log = {.count = 0};
    test_files_load_good(RING, "first_turn: 100\n", &config);
    struct rm_event_schedule *schedule = make_schedule(&config, &log);
    for (uint32_t e = 0; e < RM_EVENTS_POSTED_MAX; ++e)
        assert_int_equal(rm_event_schedule_post_words(schedule, &config, "event: kick, at_turn: 500", &error), RM_OK);
    assert_int_equal(rm_event_schedule_post_words(schedule, &config, "event: kick", &error), RM_E_BUSY);
    schedule->apply = NULL;
    reach(schedule, 500);
    rm_event_schedule_report(schedule, ignore, NULL);
    assert_int_equal(rm_event_schedule_post_words(schedule, &config, "event: kick", &error), RM_OK);
    rm_event_schedule_free(schedule);
    rm_ring_config_free(&config);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(a_wrong_event_is_refused),
        cmocka_unit_test(words_are_a_files_mapping),
        cmocka_unit_test(events_happen_in_the_order_of_their_turns),
        cmocka_unit_test(what_is_before_the_first_turn_has_happened),
        cmocka_unit_test(a_posted_event_is_planned_and_reported),
        cmocka_unit_test(no_more_events_wait_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
