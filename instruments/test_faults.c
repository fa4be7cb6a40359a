// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "counter_faults.h"
#include "datagram.h"

enum { FIRST = 1000, MANY = 100000 };

/** All faults of an instrument whose payload is the turn it says. */
struct stack {
    struct rm_counter_faults *of_counter;
    struct rm_faults *of_datagrams;
    uint64_t span;
};

static struct stack make_with_span(struct rm_fault const *faults, uint32_t count, uint64_t span, rm_counter *counters) {
    memset((void *)counters, 0, RM_SENDER_COUNTERS * sizeof *counters);
    struct stack made = {.span = span};
    struct rm_fault keyed[4];
    for (uint32_t f = 0; f < count; ++f) {
        keyed[f] = faults[f];
        keyed[f].key += 1000 * f;
    }
    assert_int_equal(rm_counter_faults_make(keyed, count, span, counters, &made.of_counter, NULL), RM_OK);
    assert_int_equal(rm_faults_make(keyed, count, span, sizeof(rm_turn), counters, &made.of_datagrams, NULL), RM_OK);
    return made;
}

static struct stack make(struct rm_fault const *faults, uint32_t count, rm_counter *counters) {
    return make_with_span(faults, count, 1, counters);
}

static void destroy(struct stack *stack) {
    rm_counter_faults_free(stack->of_counter);
    rm_faults_free(stack->of_datagrams);
}

static struct rm_fault by_probability(enum rm_fault_kind kind, double probability, int64_t turns) {
    return (struct rm_fault){.kind = kind, .at_turn = RM_TURN_NONE, .probability = probability, .turns = turns};
}

static struct rm_fault at_turn(enum rm_fault_kind kind, rm_turn turn, int64_t turns) {
    return (struct rm_fault){.kind = kind, .at_turn = turn, .turns = turns};
}

static rm_turn turn_of(struct rm_outgoing const *outgoing) {
    rm_turn turn;
    memcpy(&turn, outgoing->payload, sizeof turn);
    return turn;
}

/** Pushes one datagram and takes what is to be sent; returns the number of datagrams, their turns in `turns`. */
static uint32_t step(struct stack *stack, uint64_t index, rm_turn *turns) {
    uint32_t count = 0;
    struct rm_outgoing const *outgoing;
    rm_turn const turn = FIRST + index * stack->span;
    rm_turn const said = turn + (stack->of_counter == NULL ? 0 : rm_counter_faults_error(stack->of_counter, turn));
    if (stack->of_datagrams == NULL) {
        turns[0] = said;
        return 1;
    }
    rm_faults_push(stack->of_datagrams, index, turn, (uint8_t const *)&said);
    while ((outgoing = rm_faults_next(stack->of_datagrams, index)) != NULL)
        for (uint32_t copy = 0; copy < outgoing->copies; ++copy)
            turns[count++] = turn_of(outgoing);
    return count;
}

static void check_share(uint64_t struck, double probability) {
    double const expected = MANY * probability, sigma = sqrt(expected * (1 - probability));
    assert_float_equal((double)struck, expected, 5 * sigma);
}

static void drops_its_share_and_counts_it(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault = by_probability(RM_FAULT_DROP, 0.01, 0);
    struct stack faults = make(&fault, 1, counters);
    uint64_t sent = 0;
    rm_turn turns[4];
    for (uint64_t i = 0; i < MANY; ++i)
        sent += step(&faults, i, turns);
    check_share(MANY - sent, 0.01);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_DROPPED), MANY - sent);
    destroy(&faults);
}

static void duplicates_its_share_and_counts_it(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault = by_probability(RM_FAULT_DUPLICATE, 0.05, 0);
    struct stack faults = make(&fault, 1, counters);
    uint64_t sent = 0;
    rm_turn turns[4];
    for (uint64_t i = 0; i < MANY; ++i)
        sent += step(&faults, i, turns);
    check_share(sent - MANY, 0.05);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_DUPLICATED), sent - MANY);
    destroy(&faults);
}

static void every_late_datagram_comes_after_its_turns(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault[] = {by_probability(RM_FAULT_LATE, 0.1, 13), by_probability(RM_FAULT_REORDER, 0.1, 1)};
    struct stack faults = make(fault, 2, counters);
    assert_int_equal(rm_faults_longest_delay(faults.of_datagrams), 14);
    uint64_t delayed[15] = {0}, sent = 0;
    rm_turn turns[32];
    for (uint64_t i = 0; i < MANY; ++i) {
        uint32_t const count = step(&faults, i, turns);
        for (uint32_t t = 0; t < count; ++t) {
            uint64_t const by = FIRST + i - turns[t];
            assert_in_range(by, 0, 14);
            ++delayed[by];
        }
        sent += count;
    }
    assert_in_range(MANY - sent, 0, 14); /* still held */
    assert_int_equal(sent, delayed[0] + delayed[1] + delayed[13] + delayed[14]);
    check_share(rm_counter_get(counters, RM_SENDER_DELAYED), 0.1);
    check_share(rm_counter_get(counters, RM_SENDER_REORDERED), 0.1);
    assert_in_range(delayed[14], 1, MANY / 50);
    destroy(&faults);
}

static void reordering_by_one_swaps_with_the_next(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault = at_turn(RM_FAULT_REORDER, FIRST + 5, 1);
    struct stack faults = make(&fault, 1, counters);
    rm_turn sent[16];
    uint32_t count = 0;
    for (uint64_t i = 0; i < 8; ++i)
        count += step(&faults, i, sent + count);
    rm_turn const expected[] = {1000, 1001, 1002, 1003, 1004, 1006, 1005, 1007};
    assert_int_equal(count, 8);
    assert_memory_equal(sent, expected, sizeof expected);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_REORDERED), 1);
    destroy(&faults);
}

static void a_constant_delay_holds_everything_back(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault = by_probability(RM_FAULT_DELAY, 0, 4);
    struct stack faults = make(&fault, 1, counters);
    rm_turn turns[4];
    for (uint64_t i = 0; i < 100; ++i) {
        uint32_t const count = step(&faults, i, turns);
        assert_int_equal(count, i < 4 ? 0 : 1);
        if (count == 1)
            assert_int_equal(turns[0], FIRST + i - 4);
    }
    for (uint64_t i = 100; i < 104; ++i) {
        assert_int_equal(turn_of(rm_faults_next(faults.of_datagrams, i)), FIRST + i - 4);
        assert_null(rm_faults_next(faults.of_datagrams, i));
    }
    destroy(&faults);
}

static void the_turn_jumps_for_its_duration(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault fault[] = {at_turn(RM_FAULT_TURN_JUMP, FIRST + 2, 500), at_turn(RM_FAULT_TURN_JUMP, FIRST + 4, -7)};
    fault[0].duration = 1;
    struct stack faults = make(fault, 2, counters);
    rm_turn const expected[] = {1000, 1001, 1502, 1003, 997, 998, 999};
    for (uint64_t i = 0; i < 7; ++i) {
        rm_turn turn = 0;
        assert_int_equal(step(&faults, i, &turn), 1);
        assert_int_equal(turn, expected[i]);
    }
    assert_int_equal(rm_counter_get(counters, RM_SENDER_TURN_JUMPS), 2);
    destroy(&faults);
}

static void the_turn_restarts_at_zero_though_its_datagram_is_dropped(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault[] = {at_turn(RM_FAULT_DROP, FIRST + 3, 0), at_turn(RM_FAULT_TURN_RESET, FIRST + 3, 0)};
    struct stack faults = make(fault, 2, counters);
    rm_turn sent[8];
    uint32_t count = 0;
    for (uint64_t i = 0; i < 6; ++i)
        count += step(&faults, i, sent + count);
    rm_turn const expected[] = {1000, 1001, 1002, 1, 2};
    assert_int_equal(count, 5);
    assert_memory_equal(sent, expected, sizeof expected);
    assert_int_equal(rm_counter_get(counters, RM_SENDER_TURN_RESETS), 1);
    destroy(&faults);
}

static void what_is_forgotten_never_comes(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault const fault = by_probability(RM_FAULT_DELAY, 0, 4);
    struct stack faults = make(&fault, 1, counters);
    rm_turn turns[8];
    for (uint64_t i = 0; i < 4; ++i)
        assert_int_equal(step(&faults, i, turns), 0);
    rm_faults_forget(faults.of_datagrams);
    for (uint64_t i = 100; i < 104; ++i)
        assert_int_equal(step(&faults, i, turns), 0);
    assert_int_equal(step(&faults, 104, turns), 1);
    assert_int_equal(turns[0], FIRST + 100);
    destroy(&faults);
}

static void the_same_key_strikes_the_same_turns(void **state) {
    (void)state;
    rm_counter counters[2][RM_SENDER_COUNTERS];
    struct rm_fault const fault = by_probability(RM_FAULT_DROP, 0.5, 0);
    struct stack one = make(&fault, 1, counters[0]), two = make(&fault, 1, counters[1]);
    rm_turn turns[4];
    for (uint64_t i = 0; i < 1000; ++i)
        assert_int_equal(step(&one, i, turns), step(&two, i, turns));
    destroy(&one);
    destroy(&two);
}

static void another_key_strikes_other_turns(void **state) {
    (void)state;
    rm_counter counters[2][RM_SENDER_COUNTERS];
    struct rm_fault fault = by_probability(RM_FAULT_DROP, 0.5, 0);
    struct stack one = make(&fault, 1, counters[0]);
    fault.key = 1;
    struct stack two = make(&fault, 1, counters[1]);
    uint64_t both = 0;
    rm_turn turns[4];
    for (uint64_t i = 0; i < MANY; ++i)
        both += step(&one, i, turns) == 0 && step(&two, i, turns) == 0;
    check_share(both, 0.25);
    destroy(&one);
    destroy(&two);
}

/** Of datagrams that come every 116 turns. */
static void delays_are_whole_datagrams_and_turns_lie_within_them(void **state) {
    (void)state;
    rm_counter counters[RM_SENDER_COUNTERS];
    struct rm_fault fault[] = {at_turn(RM_FAULT_LATE, FIRST + 3 * 116 + 50, 117),
                               at_turn(RM_FAULT_TURN_JUMP, FIRST + 6 * 116 + 115, 1000)};
    fault[1].duration = 1;
    struct stack faults = make_with_span(fault, 2, 116, counters);
    assert_int_equal(rm_faults_longest_delay(faults.of_datagrams), 2);
    rm_turn sent[16];
    uint32_t count = 0;
    for (uint64_t i = 0; i < 7; ++i)
        count += step(&faults, i, sent + count);
    rm_turn const expected[] = {FIRST,           FIRST + 116,     FIRST + 2 * 116,       FIRST + 4 * 116,
                                FIRST + 5 * 116, FIRST + 3 * 116, FIRST + 6 * 116 + 1000};
    assert_int_equal(count, 7);
    assert_memory_equal(sent, expected, sizeof expected);
    destroy(&faults);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(drops_its_share_and_counts_it),
        cmocka_unit_test(duplicates_its_share_and_counts_it),
        cmocka_unit_test(every_late_datagram_comes_after_its_turns),
        cmocka_unit_test(reordering_by_one_swaps_with_the_next),
        cmocka_unit_test(a_constant_delay_holds_everything_back),
        cmocka_unit_test(the_turn_jumps_for_its_duration),
        cmocka_unit_test(the_turn_restarts_at_zero_though_its_datagram_is_dropped),
        cmocka_unit_test(what_is_forgotten_never_comes),
        cmocka_unit_test(the_same_key_strikes_the_same_turns),
        cmocka_unit_test(another_key_strikes_other_turns),
        cmocka_unit_test(delays_are_whole_datagrams_and_turns_lie_within_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
