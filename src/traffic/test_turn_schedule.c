// SPDX-License-Identifier: Apache-2.0
/** Against the definition: every group at every turn, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "traffic/turn_schedule.h"

enum { LISTED = 3000 };

struct listed {
    rm_turn turn;
    uint32_t group;
};

/** All datagrams from a turn on. */
static void list_from(struct rm_turn_schedule const *schedule, rm_turn turn, struct listed listed[LISTED]) {
    for (uint32_t count = 0; count < LISTED; ++turn)
        for (uint32_t c = 0; c < schedule->class_count; ++c) {
            struct rm_turn_class const *const class = &schedule->class[c];
            uint64_t const readings = class->span_turns / class->period_turns;
            bool const reads = turn % class->period_turns == 0;
            if (!reads || turn / class->period_turns % readings != readings - 1)
                continue;
            for (uint32_t g = 0; g < class->count && count < LISTED; ++g)
                listed[count++] = (struct listed){turn, class->first + g};
        }
}

static struct rm_turn_schedule const schedules[] = {
    {.class_count = 1, .class = {{1, 1, 0, 1}}},
    {.class_count = 1, .class = {{1, 1, 0, 5}}},
    {.class_count = 1, .class = {{12, 3, 0, 2}}},
    {.class_count = 3, .class = {{1, 1, 0, 3}, {4, 1, 3, 2}, {100, 10, 5, 4}}},
    {.class_count = 2, .class = {{7, 7, 0, 1}, {5, 1, 1, 1}}},
    {.class_count = 1, .class = {{64, 64, 0, 1}}},
};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

/* The last as turns by TAI are. */
static rm_turn const starts[] = {0, 1, 99, 1234567, 2000000000000000};
enum { STARTS = sizeof starts / sizeof *starts };

static void assert_at(struct rm_turn_schedule const *schedule, struct listed const *listed) {
    assert_int_equal(schedule->turn, listed->turn);
    assert_int_equal(rm_turn_schedule_group(schedule), listed->group);
}

static void datagrams_come_in_order(void **state) {
    (void)state;
    static struct listed listed[LISTED];
    for (uint32_t s = 0; s < SCHEDULES; ++s)
        for (uint32_t b = 0; b < STARTS; ++b) {
            struct rm_turn_schedule schedule = schedules[s];
            list_from(&schedule, starts[b], listed);
            rm_turn_schedule_go_to(&schedule, starts[b]);
            uint64_t const first = schedule.position;
            for (uint32_t i = 0; i < LISTED; ++i) {
                assert_at(&schedule, &listed[i]);
                assert_int_equal(schedule.position, first + i);
                if (listed[i].turn != 0)
                    assert_int_equal(rm_turn_schedule_due(&schedule, listed[i].turn - 1), 0);
                assert_true(rm_turn_schedule_due(&schedule, listed[i].turn) >= 1);
                rm_turn_schedule_advance(&schedule);
            }
        }
}

static void as_many_are_due_as_the_turns_have(void **state) {
    (void)state;
    static struct listed listed[LISTED];
    for (uint32_t s = 0; s < SCHEDULES; ++s) {
        struct rm_turn_schedule schedule = schedules[s];
        list_from(&schedule, 99, listed);
        rm_turn_schedule_go_to(&schedule, 99);
        for (uint32_t passed = 0; passed < 20; ++passed) {
            for (uint32_t i = passed; i + 1 < LISTED; ++i)
                if (listed[i].turn != listed[i + 1].turn)
                    assert_int_equal(rm_turn_schedule_due(&schedule, listed[i].turn), i + 1 - passed);
            rm_turn_schedule_advance(&schedule);
        }
    }
}

static void any_number_is_skipped(void **state) {
    (void)state;
    static struct listed listed[LISTED];
    for (uint32_t s = 0; s < SCHEDULES; ++s)
        for (uint32_t b = 0; b < STARTS; ++b) {
            list_from(&schedules[s], starts[b], listed);
            for (uint32_t count = 0; count < 300; ++count) {
                struct rm_turn_schedule schedule = schedules[s];
                rm_turn_schedule_go_to(&schedule, starts[b]);
                uint32_t const before = count % 7;
                for (uint32_t i = 0; i < before; ++i)
                    rm_turn_schedule_advance(&schedule);
                rm_turn_schedule_skip(&schedule, count);
                assert_at(&schedule, &listed[before + count]);
                rm_turn_schedule_advance(&schedule);
                assert_at(&schedule, &listed[before + count + 1]);
            }
        }
}

static void an_hour_is_skipped_at_once(void **state) {
    (void)state;
    struct rm_turn_schedule schedule = schedules[3];
    rm_turn_schedule_go_to(&schedule, 1000);
    uint64_t const due = rm_turn_schedule_due(&schedule, 4000000000u);
    rm_turn_schedule_skip(&schedule, due);
    assert_int_equal(schedule.turn, 4000000001u);
    assert_int_equal(rm_turn_schedule_due(&schedule, 4000000000u), 0);
    assert_int_equal(schedule.place, 0);
}

/** As many groups as there may be, at turns that no machine reaches. */
static void many_groups_are_skipped_at_any_turn(void **state) {
    (void)state;
    static rm_turn const turns[] = {0, 1000, 2000000000000000, RM_TURN_END - 1000000};
    for (uint32_t t = 0; t < 4; ++t) {
        struct rm_turn_schedule schedule = {.class_count = 2, .class = {{1, 1, 0, 1000}, {10, 1, 1000, 24}}};
        rm_turn_schedule_go_to(&schedule, turns[t]);
        for (uint64_t turn = turns[t] + 99; turn < turns[t] + 1000000; turn += 100000) {
            uint64_t const due = rm_turn_schedule_due(&schedule, turn);
            assert_in_range(due, 1000, 100001 * 1024);
            rm_turn_schedule_skip(&schedule, due);
            assert_int_equal(schedule.turn, turn + 1);
            assert_int_equal(schedule.place, 0);
            assert_int_equal(rm_turn_schedule_due(&schedule, turn), 0);
        }
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(datagrams_come_in_order),
        cmocka_unit_test(as_many_are_due_as_the_turns_have),
        cmocka_unit_test(any_number_is_skipped),
        cmocka_unit_test(an_hour_is_skipped_at_once),
        cmocka_unit_test(many_groups_are_skipped_at_any_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
