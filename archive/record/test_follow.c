// SPDX-License-Identifier: Apache-2.0
/** From a stream's ring into a log: nothing twice, nothing left out, and what is lost is told with its turns and its
 * reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive/format/scan.h"
#include "fabric/test_ring.h"
#include "follow.h"
#include "reduce.h"
#include "test_log_rig.h"

enum { CAPACITY = 1024, MARGIN = 16, FIRST = 5000, STEP = 10, LEVELS = 2, MARKS_MAX = 32, TURNS_MAX = 1 << 16 };

static uint8_t image[TEST_IMAGE];

/** What is found on the disk afterwards. */
struct finding {
    /** How often a turn is there, and how often as a record that is missing. */
    uint8_t *there, *missing;
    struct rm_mark mark[MARKS_MAX];
    uint16_t epoch[MARKS_MAX];
    unsigned marks;
    /** Of reductions: steps, and the records in them. */
    unsigned steps, present, lacking;
};

struct rig {
    struct stream_ring ring;
    struct rm_reducer reducer;
    struct rm_record_moment moment;
    struct rm_follow follow;
    struct rm_reduction_level level[LEVELS];
    struct test_log test, reduced;
    struct finding finding;
};

static void rig_make(struct rig *rig) {
    memset(rig, 0, sizeof *rig);
    test_log_make(&rig->test, 1);
    test_log_make(&rig->reduced, 2);
    assert_true(test_ring_make(&rig->ring, CAPACITY, MARGIN, 1, 64));
    rig->reducer = (struct rm_reducer){.level = rig->level, .level_count = LEVELS, .period_turns = 1, .lane_count = 1};
    for (unsigned l = 0; l < LEVELS; ++l) {
        uint64_t const turns = l == 0 ? STEP : 5 * STEP;
        rig->level[l] =
            (struct rm_reduction_level){.log = &rig->reduced.log, .object = l, .step_turns = turns, .whole = turns};
        assert_true(rm_reduction_level_make(&rig->reducer, &rig->level[l]));
    }
    rig->follow = (struct rm_follow){
        .view = rig->ring.view,
        .log = &rig->test.log,
        .lag_turns = 20,
        .block_records = 50,
        .reduce = rm_reducer_take,
        .context = &rig->reducer,
        .next = RM_TURN_NONE,
        .head = RM_TURN_NONE,
    };
    rig->moment = (struct rm_record_moment){.now_ns = 1000, .tai_ns = 1000};
}

static void finding_free(struct finding *finding) {
    free(finding->there);
    free(finding->missing);
    *finding = (struct finding){0};
}

static void rig_free(struct rig *rig) {
    finding_free(&rig->finding);
    for (unsigned l = 0; l < LEVELS; ++l)
        free(rig->level[l].waiting);
    test_ring_free(&rig->ring);
    test_log_free(&rig->test);
    test_log_free(&rig->reduced);
}

static void put(struct rig *rig, rm_turn from, unsigned count) {
    for (rm_turn turn = from; turn < from + count; ++turn)
        rm_stream_writer_put(&rig->ring.writer, &(struct rm_record){.turn = turn, .lane[0].i = (int32_t)turn});
    rm_stream_writer_publish(&rig->ring.writer, 1);
}

static void step(struct rig *rig, enum rm_follow_extent extent) {
    rig->moment.now_ns += 1000 * 1000;
    rig->moment.tai_ns += 1000 * 1000;
    rm_follow_step(&rig->follow, &rig->moment, extent);
    for (unsigned l = 0; l < LEVELS; ++l)
        rm_reduction_flush(&rig->reducer, &rig->level[l], &rig->moment);
    rm_log_flush(&rig->test.log);
    rm_log_flush(&rig->reduced.log);
    test_log_turn(&rig->test);
    test_log_turn(&rig->reduced);
}

static void finding_take(struct finding *finding, struct rm_block_place const *place, uint8_t const *payload) {
    if (place->block.kind == RM_BLOCK_MARK && finding->marks < MARKS_MAX) {
        finding->epoch[finding->marks] = place->block.turn_epoch;
        memcpy(&finding->mark[finding->marks++], payload, sizeof(struct rm_mark));
    }
    for (uint32_t i = 0; place->block.kind == RM_BLOCK_RECORDS && i < place->block.count; ++i) {
        struct rm_record record;
        memcpy(&record, payload + i * sizeof record, sizeof record);
        rm_turn const turn = place->block.first_turn + i;
        assert_true(turn < TURNS_MAX && (record.turn == turn || record.turn == RM_TURN_NONE));
        assert_true(record.turn == RM_TURN_NONE || record.lane[0].i == (int32_t)turn);
        ++(record.turn == turn ? finding->there : finding->missing)[turn];
    }
    for (uint32_t i = 0; place->block.kind == RM_BLOCK_REDUCED && place->block.object == 0 && i < place->block.count;
         ++i) {
        struct rm_reduced reduced;
        memcpy(&reduced, payload + i * rm_reduced_bytes(1), sizeof reduced);
        ++finding->steps;
        finding->present += reduced.present;
        finding->lacking += reduced.missing;
    }
}

/** Looks what a log of the rig has come to: in `rig->finding` until the next look. */
static struct finding *find(struct rig *rig, struct test_log *test) {
    struct finding *finding = &rig->finding;
    finding_free(finding);
    *finding = (struct finding){.there = calloc(1, TURNS_MAX), .missing = calloc(1, TURNS_MAX)};
    assert_non_null(finding->there);
    assert_non_null(finding->missing);
    test_log_end(test);
    for (unsigned f = 0; f < test->disk.file_count; ++f) {
        struct rm_scan scan;
        uint64_t const bytes = test_disk_content(&test->disk, f, image, sizeof image);
        if (rm_scan_begin(&scan, image, bytes, "image", NULL) != RM_OK)
            continue;
        scan.verifies = true;
        for (struct rm_block_place place; rm_scan_next(&scan, &place);)
            finding_take(finding, &place, image + place.offset + sizeof place.block);
    }
    return finding;
}

static struct rm_mark const *mark_of(struct finding const *finding, unsigned reason) {
    for (unsigned m = 0; m < finding->marks; ++m)
        if (finding->mark[m].reason == reason)
            return &finding->mark[m];
    return NULL;
}

static void assert_each_once(uint8_t const *turns, rm_turn from, rm_turn end) {
    for (rm_turn turn = from; turn < end; ++turn)
        if (turns[turn] != 1)
            fail_msg("turn %llu is there %u times", (unsigned long long)turn, turns[turn]);
}

/** A stream that has no record yet. */
static int rig_set_up(void **state) {
    static struct rig rig;
    rig_make(&rig);
    *state = &rig;
    return 0;
}

/** A stream whose first record has been taken. */
static int rig_set_up_begun(void **state) {
    rig_set_up(state);
    put(*state, FIRST, 1);
    step(*state, RM_FOLLOW_FLUSH);
    return 0;
}

static int rig_tear_down(void **state) {
    rig_free(*state);
    return 0;
}

static void test_every_record_once(void **state) {
    struct rig *rig = *state;
    for (unsigned i = 0; i < 100; ++i) {
        put(rig, FIRST + 1 + 37 * i, 37);
        step(rig, i % 4 == 0 ? RM_FOLLOW_FLUSH : RM_FOLLOW_BLOCKS);
    }
    step(rig, RM_FOLLOW_ALL);
    struct finding const *finding = find(rig, &rig->test);
    assert_each_once(finding->there, FIRST, FIRST + 1 + 3700);
    assert_int_equal(finding->marks, 1);
    assert_int_equal(finding->mark[0].reason, RM_MARK_BEGAN);
    assert_int_equal(finding->mark[0].first_turn, FIRST);
    finding = find(rig, &rig->reduced);
    assert_int_equal(finding->steps, 3700 / STEP);
    assert_int_equal(finding->present, 3700);
    assert_int_equal(finding->lacking, 0);
}

/** What came between two looks: there from `begin` on. */
static void assert_recorded_from(struct rig *rig, rm_turn begin) {
    put(rig, FIRST, 100);
    step(rig, RM_FOLLOW_ALL);
    struct finding const *finding = find(rig, &rig->test);
    assert_each_once(finding->there, begin, FIRST + 100);
    assert_int_equal(rig->follow.records, FIRST + 100 - begin);
    assert_int_equal(mark_of(finding, RM_MARK_BEGAN)->first_turn, begin);
}

static void test_a_stream_that_was_empty_is_recorded_whole(void **state) {
    struct rig *rig = *state;
    rig->follow.was_empty = true;
    assert_recorded_from(rig, FIRST);
}

static void test_a_stream_that_had_records_is_recorded_from_its_head_on(void **state) {
    assert_recorded_from(*state, FIRST + 99);
}

static void test_what_comes_out_of_order_and_what_never_comes(void **state) {
    struct rig *rig = *state;
    put(rig, FIRST + 1, 99);
    put(rig, FIRST + 110, 5); /* ten are missing … */
    step(rig, RM_FOLLOW_FLUSH);
    put(rig, FIRST + 100, 5); /* … and five of them come late */
    put(rig, FIRST + 115, 85);
    step(rig, RM_FOLLOW_ALL);
    struct finding const *finding = find(rig, &rig->test);
    assert_each_once(finding->there, FIRST, FIRST + 105);
    assert_each_once(finding->missing, FIRST + 105, FIRST + 110);
    assert_each_once(finding->there, FIRST + 110, FIRST + 200);
    assert_int_equal(rig->follow.missing, 5);
    assert_int_equal(rig->follow.records, 195);
}

static void test_a_ring_that_has_gone_round(void **state) {
    struct rig *rig = *state;
    put(rig, FIRST + 1, 3 * CAPACITY);
    for (unsigned i = 0; i < 20; ++i) /* the buffers do not hold all of it at once */
        step(rig, RM_FOLLOW_ALL);
    struct finding const *finding = find(rig, &rig->test);
    struct rm_mark const *mark = mark_of(finding, RM_MARK_LAPPED);
    assert_non_null(mark);
    assert_int_equal(mark->first_turn, FIRST); /* nothing came after it, so it waited */
    assert_int_equal(mark->records, mark->last_turn - mark->first_turn + 1);
    assert_int_equal(mark->records, rig->follow.lost[RM_MARK_LAPPED]);
    assert_each_once(finding->there, mark->last_turn + 1, FIRST + 1 + 3 * CAPACITY);
    for (rm_turn turn = mark->first_turn; turn <= mark->last_turn; ++turn)
        assert_int_equal(finding->there[turn] + finding->missing[turn], 0);
}

static void test_a_turn_counter_that_restarts(void **state) {
    struct rig *rig = *state;
    put(rig, FIRST + 1, 200);
    step(rig, RM_FOLLOW_ALL);
    rm_stream_writer_restart(&rig->ring.writer);
    step(rig, RM_FOLLOW_ALL);
    put(rig, 100, 150);
    step(rig, RM_FOLLOW_ALL);
    struct finding const *finding = find(rig, &rig->test);
    assert_each_once(finding->there, FIRST, FIRST + 201);
    assert_each_once(finding->there, 100, 250);
    struct rm_mark const *mark = mark_of(finding, RM_MARK_RESTARTED);
    assert_non_null(mark);
    assert_int_equal(mark->first_turn, 100);
    assert_int_equal(finding->epoch[mark - finding->mark], 1);
}

/** A disk that is full for longer than the ring holds: the raw records go, and are told; the reductions stay. */
static void test_a_full_disk_costs_raw_records_alone(void **state) {
    struct rig *rig = *state;
    rig->test.disk.create_error = ENOSPC;
    rm_log_end_file(&rig->test.log);
    unsigned const turns = 12 * CAPACITY;
    for (unsigned done = 0; done < turns; done += 64) {
        put(rig, FIRST + 1 + done, 64);
        step(rig, RM_FOLLOW_FLUSH);
        if (done == 10 * CAPACITY) {
            rig->test.disk.create_error = 0;
            rig->test.now_ns += 2000000000;
        }
    }
    step(rig, RM_FOLLOW_ALL);
    struct finding const *finding = find(rig, &rig->test);
    uint64_t lost = 0;
    for (unsigned m = 0; m < finding->marks; ++m)
        if (finding->mark[m].reason == RM_MARK_DISK_FULL) {
            assert_int_equal(finding->mark[m].error, ENOSPC);
            assert_int_equal(finding->mark[m].records, finding->mark[m].last_turn - finding->mark[m].first_turn + 1);
            for (rm_turn turn = finding->mark[m].first_turn; turn <= finding->mark[m].last_turn; ++turn)
                ++finding->missing[turn];
            lost += finding->mark[m].records;
        }
    assert_true(lost > 0);
    assert_int_equal(lost, rig->follow.lost[RM_MARK_DISK_FULL]);
    assert_int_equal(rig->follow.lost[RM_MARK_LAPPED], 0);
    for (rm_turn turn = FIRST; turn <= FIRST + turns; ++turn)
        assert_int_equal(finding->there[turn] + finding->missing[turn], 1);
    finding = find(rig, &rig->reduced);
    assert_int_equal(finding->present, turns / STEP * STEP);
    assert_int_equal(finding->lacking, 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_every_record_once, rig_set_up_begun, rig_tear_down),
        cmocka_unit_test_setup_teardown(test_a_stream_that_was_empty_is_recorded_whole, rig_set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(test_a_stream_that_had_records_is_recorded_from_its_head_on, rig_set_up,
                                        rig_tear_down),
        cmocka_unit_test_setup_teardown(test_what_comes_out_of_order_and_what_never_comes, rig_set_up_begun,
                                        rig_tear_down),
        cmocka_unit_test_setup_teardown(test_a_ring_that_has_gone_round, rig_set_up_begun, rig_tear_down),
        cmocka_unit_test_setup_teardown(test_a_turn_counter_that_restarts, rig_set_up_begun, rig_tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_costs_raw_records_alone, rig_set_up_begun, rig_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
