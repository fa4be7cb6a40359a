// SPDX-License-Identifier: Apache-2.0
/** The rates of one instrument as streams: what a reader finds at each, through gaps, outages, restarts, silence, a
 * server that began later, and for an instrument that does not send every turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"

enum { GAP = 32, DAY = 60000 /* turns that a test takes */ };

static rm_turn const START = 120000;

/** Turns from the label to the last record in it, and from label to label. */
static uint64_t const closing[RIG_RATES] = {11, 107, 107 + 12 * 89, 11 + 12 * 9 + 120 * 9};
static uint64_t const period[RIG_RATES] = {12, 12, 120, 1200};

static struct receive_rig *make(uint64_t records_period, uint8_t reduction) {
    struct receive_rig_config config = {.capacity = 1 << 17, .gap_turns = GAP, .period = records_period};
    config.reduction[1] = reduction;
    return rig_make(&config);
}

/** A record every `rig->config.period` turns; lane 0 is filtered, lane 1 reduced, where the rig does that. */
static struct rm_record record_at(struct receive_rig const *rig, uint64_t number) {
    rm_turn const turn = number * rig->config.period;
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(turn << 16, 0)};
    record.lane[0].i = rig_value(0, number, 0);
    return record;
}

static void send(struct receive_rig *rig, uint64_t first, uint64_t count) {
    for (uint64_t number = first; number < first + count; ++number) {
        struct rm_record const record = record_at(rig, number);
        rm_instrument_store(rig->instrument[0], &record);
        rm_instrument_publish(rig->instrument[0], record.turn);
    }
}

static bool read_rate(struct receive_rig const *rig, unsigned rate, rm_turn turn, struct rm_record *record) {
    struct rm_stream_view const view = rig_view(&rig->instrument[0]->rates.writer[rate]);
    return rm_stream_read(&view, turn, record) == RM_READ_OK;
}

static rm_turn head_of(struct receive_rig const *rig, unsigned rate) {
    struct rm_stream_view const view = rig_view(&rig->instrument[0]->rates.writer[rate]);
    return rm_stream_head(&view);
}

/** Every label from the first that can be whole up to the last that has closed is there, with nothing missing. */
static void every_rate_has_every_record(void **state) {
    (void)state;
    struct receive_rig *rig = make(1, RM_REDUCE_FIR);
    send(rig, START, DAY);
    for (unsigned rate = 0; rate < RIG_RATES; ++rate) {
        rm_turn const last = START + DAY - 1;
        assert_int_equal(head_of(rig, rate), (last - closing[rate]) / period[rate] * period[rate]);
        rm_turn const whole = (START + closing[rate] + period[rate] - 1) / period[rate] * period[rate];
        struct rm_record record;
        for (rm_turn turn = whole; turn <= head_of(rig, rate); turn += period[rate]) {
            assert_true(read_rate(rig, rate, turn, &record));
            assert_int_equal(rm_tag_missing(record.tag), 0);
        }
        assert_true(read_rate(rig, rate, whole - period[rate], &record));
        assert_in_range(rm_tag_missing(record.tag), 1, period[rate]);
    }
    rig_free(rig);
}

/** A server that starts later has the same bits at every rate, once it knows all that goes into a record. */
static void a_server_that_starts_later_decimates_identically(void **state) {
    (void)state;
    uint64_t const later = 7777;
    struct receive_rig *first = make(1, RM_REDUCE_LAST), *second = make(1, RM_REDUCE_LAST);
    send(first, START, DAY);
    send(second, START + later, DAY - later);
    for (unsigned rate = 0; rate < RIG_RATES; ++rate) {
        uint32_t compared = 0;
        rm_turn turn = (START + later + closing[rate]) / period[rate] * period[rate] + period[rate];
        for (; turn <= head_of(first, rate); turn += period[rate], ++compared) {
            struct rm_record a, b;
            assert_true(read_rate(first, rate, turn, &a) && read_rate(second, rate, turn, &b));
            assert_memory_equal(&a, &b, sizeof a);
        }
        assert_true(compared > 30);
    }
    rig_free(first);
    rig_free(second);
}

static void a_missing_turn_counts_once_at_each_rate(void **state) {
    (void)state;
    struct receive_rig *rig = make(1, RM_REDUCE_FIR);
    rm_turn const gone = START + 30001;
    send(rig, START, gone - START);
    send(rig, gone + 1, DAY);
    for (unsigned rate = 0; rate < RIG_RATES; ++rate) {
        uint32_t seen = 0;
        for (rm_turn turn = gone / period[rate] * period[rate] - 10 * period[rate]; turn < gone + 10 * period[rate];
             turn += period[rate]) {
            struct rm_record record;
            assert_true(read_rate(rig, rate, turn, &record));
            bool const under = gone + closing[rate] >= turn && gone <= turn + closing[rate];
            assert_int_equal(rm_tag_missing(record.tag), under);
            seen += under;
        }
        assert_in_range(seen, 1, 20);
    }
    rig_free(rig);
}

/** Longer than the first filters bridge: they begin anew, but what they had given to the slower ones is not lost. */
static void an_outage_does_not_reset_the_slow_rates(void **state) {
    (void)state;
    struct receive_rig *rig = make(1, RM_REDUCE_FIR);
    uint64_t const outage = GAP + RM_BRIDGE + 1000;
    rm_turn const gone = START + 30000, back = gone + outage;
    send(rig, START, gone - START);
    send(rig, back, DAY - 30000);
    struct rm_record record;
    assert_false(read_rate(rig, RIG_LOW_LATENCY, gone + 600, &record));
    assert_false(read_rate(rig, RIG_FAST, gone + 600, &record));
    for (unsigned rate = RIG_LOOP; rate < RIG_RATES; ++rate)
        for (rm_turn turn = gone - 12000; turn <= gone + 12000; turn += period[rate]) {
            assert_true(read_rate(rig, rate, turn, &record));
            uint64_t missing = 0;
            for (rm_turn t = turn - closing[rate]; t <= turn + closing[rate]; ++t)
                missing += t >= gone && t < back;
            /* Too high by the records of one input at most. */
            assert_in_range(rm_tag_missing(record.tag), missing, missing + (missing == 0 ? 0 : 480));
        }
    rig_free(rig);
}

/** A bit of one turn is in the one record of each rate that its turn belongs to. */
static void a_fault_of_one_turn_shows_at_every_rate(void **state) {
    (void)state;
    rm_turn const tripped = START + 30001;
    struct receive_rig *rig = make(1, RM_REDUCE_OR);
    send(rig, START, tripped - START);
    struct rm_record record = record_at(rig, tripped);
    record.lane[1].i = 0x10;
    rm_instrument_store(rig->instrument[0], &record);
    send(rig, tripped + 1, DAY - 30002);
    for (unsigned rate = 0; rate < RIG_RATES; ++rate) {
        rm_turn const own = tripped / period[rate] * period[rate];
        for (rm_turn turn = own - 10 * period[rate]; turn <= own + 10 * period[rate]; turn += period[rate]) {
            assert_true(read_rate(rig, rate, turn, &record));
            assert_int_equal(record.lane[1].i, turn == own ? 0x10 : 0);
        }
    }
    rig_free(rig);
}

static void expect_equal_streams(struct receive_rig const *rig, struct receive_rig const *fresh, unsigned rate) {
    assert_int_equal(head_of(rig, rate), head_of(fresh, rate));
    rm_turn const first = atomic_load(&rig->instrument[0]->rates.writer[rate].stream->first);
    assert_int_equal(first, atomic_load(&fresh->instrument[0]->rates.writer[rate].stream->first));
    for (rm_turn turn = first; turn <= head_of(rig, rate); turn += period[rate]) {
        struct rm_record a, b;
        assert_true(read_rate(rig, rate, turn, &a) && read_rate(fresh, rate, turn, &b));
        assert_memory_equal(&a, &b, sizeof a);
    }
}

/** Wherever the turns go on: far below, or so little above that it could have been an outage. */
static void a_new_turn_epoch_forgets_everything(void **state) {
    (void)state;
    rm_turn const begin[] = {1000, START + DAY + 300};
    for (int i = 0; i < 2; ++i) {
        struct receive_rig *rig = make(1, RM_REDUCE_OR), *fresh = make(1, RM_REDUCE_OR);
        send(rig, START, DAY);
        rm_instrument_restart(rig->instrument[0]);
        send(rig, begin[i], DAY);
        send(fresh, begin[i], DAY);
        for (unsigned rate = 0; rate < RIG_RATES; ++rate)
            expect_equal_streams(rig, fresh, rate);
        rig_free(rig);
        rig_free(fresh);
    }
}

/** An instrument falls silent when one rate has records and the next has none yet; so one stream follows the clock and
 * the other waits. Then it sends what is late: behind the one's head, and the other's first. */
static void what_moves_behind_a_head_is_shown(void **state) {
    (void)state;
    struct receive_rig *rig = make(1, RM_REDUCE_OR);
    rm_turn const followed = START + DAY;
    send(rig, START, 30);
    rm_instrument_follow(rig->instrument[0], followed, followed);
    assert_true(head_of(rig, RIG_FAST) != RM_TURN_NONE && head_of(rig, RIG_LOOP) == RM_TURN_NONE);
    send(rig, followed - 3000, 2700);
    assert_true(head_of(rig, RIG_LOOP) != RM_TURN_NONE);
    for (unsigned rate = 0; rate < RIG_RATES; ++rate)
        assert_int_equal(rig->instrument[0]->rates.writer[rate].head, head_of(rig, rate));
    rig_free(rig);
}

/** Records every 116 turns: the same as every turn, at 116 times the turns; silence is told in turns too. */
static void an_instrument_may_send_now_and_then(void **state) {
    (void)state;
    struct receive_rig *every = make(1, RM_REDUCE_MAX), *sparse = make(116, RM_REDUCE_MAX);
    uint64_t const gap = 20000;
    for (int i = 0; i < 2; ++i) {
        struct receive_rig *rig = i == 0 ? every : sparse;
        send(rig, START, gap);
        send(rig, START + gap + 3, DAY - gap);
        assert_int_equal(rig_count(rig, 0, RM_STREAM_FAST_MISSING), 3);
        assert_int_equal(rig_count(rig, 0, RM_STREAM_SKIPPED), 3);
    }
    for (unsigned rate = 0; rate < RIG_RATES; ++rate) {
        assert_int_equal(head_of(sparse, rate), 116 * head_of(every, rate));
        uint32_t compared = 0;
        for (rm_turn turn = START; turn <= head_of(every, rate); turn += period[rate], ++compared) {
            struct rm_record a = {.turn = 0}, b = a;
            assert_true(read_rate(every, rate, turn, &a) && read_rate(sparse, rate, 116 * turn, &b));
            assert_int_equal(rm_tag_missing(a.tag), rm_tag_missing(b.tag));
            assert_memory_equal(a.lane, b.lane, sizeof a.lane);
        }
        assert_true(compared >= DAY / 1200 - 2);
    }
    rm_turn const silent = 116 * (START + DAY + 10000) + 57; /* no turn of its own */
    rm_instrument_follow(sparse->instrument[0], silent, 1);
    assert_int_equal(rig_head(sparse, 0), silent - 57);
    for (unsigned rate = 0; rate < RIG_RATES; ++rate)
        assert_int_equal(head_of(sparse, rate) % (116 * period[rate]), 0);
    rig_free(every);
    rig_free(sparse);
}

/** What closes after a silence, for turns that the heads have passed meanwhile, still finds its place. */
static void records_that_close_after_a_silence_are_kept(void **state) {
    (void)state;
    struct receive_rig *rig = make(1, RM_REDUCE_FIR);
    rm_turn const gone = START + 30000;
    send(rig, START, gone - START);
    rm_instrument_follow(rig->instrument[0], gone + 5000, 1);
    rm_turn const followed = head_of(rig, RIG_SLOW);
    struct rm_record record;
    assert_int_equal(followed, (gone + 5000 - closing[RIG_SLOW]) / 1200 * 1200);
    assert_false(read_rate(rig, RIG_SLOW, followed, &record));
    send(rig, gone + 10000, 10000);
    for (rm_turn turn = gone - 12000; turn <= head_of(rig, RIG_SLOW); turn += 1200)
        assert_true(read_rate(rig, RIG_SLOW, turn, &record));
    assert_true(read_rate(rig, RIG_SLOW, gone, &record));
    assert_in_range(rm_tag_missing(record.tag), closing[RIG_SLOW], closing[RIG_SLOW] + 480);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_rate_has_every_record),
        cmocka_unit_test(a_server_that_starts_later_decimates_identically),
        cmocka_unit_test(a_missing_turn_counts_once_at_each_rate),
        cmocka_unit_test(an_outage_does_not_reset_the_slow_rates),
        cmocka_unit_test(a_fault_of_one_turn_shows_at_every_rate),
        cmocka_unit_test(a_new_turn_epoch_forgets_everything),
        cmocka_unit_test(what_moves_behind_a_head_is_shown),
        cmocka_unit_test(an_instrument_may_send_now_and_then),
        cmocka_unit_test(records_that_close_after_a_silence_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
