// SPDX-License-Identifier: Apache-2.0
/** The protocol of a virtual chain of supplies: each rule by which it refuses, obeys and answers. */
#include "test_chain_rig.h"

static void every_supply_is_set_and_read_back(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send(bench, 0, 5, 0xABCDEF0123u, 1));
    assert_int_equal(bench->answer.parts, PARTS);
    for (uint32_t p = 0; p < PARTS; ++p) {
        struct part const part = part_of(bench, p);
        assert_int_equal(part.native.kind, RM_KIND_POWER_SUPPLY);
        assert_int_equal(part.native.instrument, ID * 4 + p);
        assert_int_equal(part.native.turn, 1000 + 0xABCDEF0123u);
        assert_int_equal(part.native.status, 0);
        assert_int_equal(part.native.lane_count, p == 0 ? 12 : 2 + SUPPLIES - 10);
        assert_int_equal(rm_supply_answer_term(part.record.lane[0].i), 5);
        assert_int_equal(rm_supply_answer_low(part.record.lane[0].i), 0x0123);
        assert_int_equal(part.record.lane[1].i, 0);
    }
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        assert_float_equal(current_of(bench, s), bench->command[s], 0);
    assert_int_equal(counted(bench, RM_SUPPLY_RECEIVED), 1);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1);
    free(bench);
}

static void chains_of_every_length_answer(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= RM_CHAIN_SUPPLIES_MAX; ++count) {
        struct chain_bench *bench = begin();
        bench->config.supply_count = count;
        for (uint32_t s = 0; s < count; ++s)
            bench->command[s] = 0.2f * (float)s;
        made(bench);
        assert_true(send(bench, 0, 1, 1, 1));
        assert_int_equal(bench->answer.parts, (count + 9) / 10);
        for (uint32_t s = 0; s < count; ++s)
            assert_float_equal(current_of(bench, s), bench->command[s], 0);
        free(bench);
    }
}

static void a_query_changes_nothing_and_is_answered(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 1, 1));
    assert_float_equal(current_of(bench, 12), 0, 0);
    assert_int_equal(term_of(bench), 0);
    assert_true(send(bench, 0, 5, 2, 1));
    memset(bench->command, 0, sizeof bench->command);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 3, 1.01));
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(counted(bench, RM_SUPPLY_QUERIES), 2);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1);
    /* nor is it a sign of life: no supply has a command */
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 4, 1.2));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    /* nor does it take a number of the sequence, whatever its own */
    assert_true(send(bench, 0, 5, 3, 1.3));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 0);
    free(bench);
}

/** Every member that a datagram may change, faults and counters aside. */
static void assert_unchanged(struct rm_chain const *now, struct rm_chain const *before) {
    assert_int_equal(now->term, before->term);
    assert_int_equal(now->instance, before->instance);
    assert_int_equal(now->obeys, before->obeys);
    assert_int_equal(now->sequence, before->sequence);
    assert_int_equal(now->stopped, before->stopped);
    assert_int_equal(now->dropped, before->dropped);
    assert_true(now->obeyed_at == before->obeyed_at && now->stops_at == before->stops_at);
    assert_true(now->listens_until == before->listens_until);
}

/** Of a higher term, of a lower one, of none, of another server: a query changes nothing. */
static void no_query_changes_anything(void **state) {
    (void)state;
    static uint16_t const terms[] = {0, 4, 5, 6, UINT16_MAX};
    struct chain_bench *bench = make();
    assert_true(send(bench, 0, 5, 10, 1));
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length = rm_setpoint_write(payload, 0, ID + 1, 1, 5, 1, 1, bench->command, SUPPLIES);
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    struct rm_chain const before = bench->chain;
    for (unsigned i = 0; i < sizeof terms / sizeof terms[0]; ++i) {
        assert_true(send_from(bench, 77, RM_SETPOINT_QUERY, terms[i], 900 + i, 1.001));
        assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_MISDIRECTED);
        assert_int_equal(term_of(bench), 5);
        assert_unchanged(&bench->chain, &before);
    }
    assert_true(send(bench, 0, 5, 11, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_MISDIRECTED);
    assert_true(send(bench, 0, 5, 12, 1.02)); /* said until a setpoint is obeyed */
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

/** How long setpoints are away, to the microsecond, and no further than 65 ms. */
static void a_query_tells_how_long_setpoints_are_away(void **state) {
    (void)state;
    static struct {
        double after_s;
        uint16_t told;
    } const at[] = {{0, 0}, {31e-6, 31}, {50.9e-6, 50}, {1e-3, 1000}, {65.534e-3, 65534}, {65.6e-3, 65535}, {9, 65535}};
    for (unsigned i = 0; i < sizeof at / sizeof at[0]; ++i) {
        struct chain_bench *bench = make();
        assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 1));
        assert_int_equal(low_of(bench), RM_SUPPLY_LONG_AGO); /* never */
        assert_true(send(bench, 0, 5, 1, 0));
        assert_true(send(bench, 0, 4, 1, at[i].after_s / 2)); /* refused: it counts for nothing */
        assert_true(send(bench, RM_SETPOINT_QUERY, 6, 1, at[i].after_s + 1e-9));
        assert_int_equal(low_of(bench), at[i].told);
        free(bench);
    }
}

static void a_lower_term_is_refused_and_told_so(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send(bench, 0, 5, 100, 1));
    bench->command[3] = 9;
    struct rm_chain const before = bench->chain;
    assert_true(send(bench, 0, 4, 0x12345, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_int_equal(term_of(bench), 5);
    assert_int_equal(low_of(bench), 0x2345);
    assert_int_equal(part_of(bench, 0).native.turn, 1000 + 0x12345);
    assert_float_equal(current_of(bench, 3), 1.5, 0);
    assert_unchanged(&bench->chain, &before);
    assert_true(send(bench, 0, 5, 101, 1.02)); /* the one that is obeyed hears nothing of it */
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_OLD_TERM), 1);
    free(bench);
}

static void another_server_under_the_same_term_is_refused(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send_from(bench, 11, 0, 5, 100, 1));
    assert_true(send_from(bench, 12, 0, 5, 101, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send_from(bench, 10, 0, 5, 101, 1.01)); /* instances have no order */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send_from(bench, 11, 0, 5, 101, 1.02));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_OLD_TERM), 2);
    free(bench);
}

/** A higher term begins its own sequence, anywhere, without a gap. */
static void a_higher_term_takes_over(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send(bench, 0, 5, 100, 1));
    assert_true(send(bench, 0, 6, 7, 1.01));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(term_of(bench), 6);
    assert_true(send(bench, 0, 5, 101, 1.02));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send(bench, 0, 6, 8, 1.03));
    assert_true(send(bench, 0, UINT16_MAX, 0, 1.04)); /* the last term there is */
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 4);
    free(bench);
}

/** Two servers send to a chain that was just switched on, the one that is deposed first and last. */
static void it_listens_before_it_obeys(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send(bench, 0, 9, 1, 0.5));
    rm_chain_switch_on(&bench->chain, 1);
    bench->command[1] = 7;
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING | RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(term_of(bench), 0); /* forgotten with its power */
    assert_int_equal(low_of(bench), RM_SUPPLY_LONG_AGO);
    assert_true(send(bench, 0, 5, 40, 1.02));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_int_equal(low_of(bench), 40);
    assert_int_equal(term_of(bench), 5);
    assert_true(send(bench, 0, 6, 3, 1.03));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, 0, 5, 41, 1.04));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING | RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send(bench, 0, 6, 3, 1.05)); /* a copy, which it need not know */
    assert_float_equal(current_of(bench, 1), 0.5, 0);
    assert_true(send(bench, 0, 5, 42, 1.11)); /* it has listened */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send(bench, 0, 6, 9, 1.12));
    assert_int_equal(status_of(bench), 0);
    assert_float_equal(current_of(bench, 1), 7, 0);
    assert_int_equal(counted(bench, RM_SUPPLY_LISTENED), 3);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 0);
    free(bench);
}

/** It takes nothing without power, forgets whom it obeyed, listens, and its supplies stand where they were. */
/** One of which nobody noticed that it began before it was over is one, too; and two at a time are one. */
static void without_a_time_out_it_does_not_listen(void **state) {
    (void)state;
    struct chain_bench *bench = begin();
    bench->config.timeout_s = INFINITY;
    made(bench);
    rm_chain_switch_on(&bench->chain, 1);
    assert_true(send(bench, 0, 5, 1, 1));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1);
    free(bench);
}

static void misdirected_and_malformed_are_refused(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t length = rm_setpoint_write(payload, 0, ID + 1, 1, 5, 1, 1, bench->command, SUPPLIES);
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    length = rm_setpoint_write(payload, 0, ID, 1, 5, 1, 1, bench->command, SUPPLIES - 1);
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    length = rm_setpoint_write(payload, 0, ID, 1, 5, 1, 1, bench->command, SUPPLIES);
    assert_false(rm_chain_take(&bench->chain, payload, length - 1, 1, &bench->answer));
    payload[0] ^= 1;
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    assert_int_equal(counted(bench, RM_SUPPLY_RECEIVED), 4);
    assert_int_equal(counted(bench, RM_SUPPLY_MISDIRECTED), 2);
    assert_int_equal(counted(bench, RM_SUPPLY_MALFORMED), 2);
    assert_true(send(bench, RM_SETPOINT_QUERY, 1, 1, 1)); /* what was misdirected made no term known */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_MISDIRECTED | RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(term_of(bench), 0);
    assert_float_equal(current_of(bench, 12), 0, 0);
    free(bench);
}

static void repeated_are_refused_and_missing_are_counted(void **state) {
    (void)state;
    struct chain_bench *bench = make();
    assert_true(send(bench, 0, 5, 10, 1));
    assert_int_equal(status_of(bench), 0);
    bench->command[1] = 7;
    assert_false(send(bench, 0, 5, 10, 1.01));
    assert_false(send(bench, 0, 5, 9, 1.01));
    assert_int_equal(counted(bench, RM_SUPPLY_REPEATED), 2);
    assert_true(send(bench, 0, 5, 14, 1.02));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_GAP);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 3);
    assert_false(send(bench, 0, 5, 12, 1.03)); /* overtaken: too late */
    assert_true(send(bench, 0, 5, 15, 1.04));
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

/** One row of the examples of docs/setpoint-format.md. */
struct row {
    double us;
    uint8_t flags;
    uint16_t term;
    uint32_t instance;
    uint64_t sequence;
    /** Of the answer. */
    unsigned status, says_term, says_low;
};

static void check_rows(struct chain_bench *bench, struct row const *row, unsigned rows) {
    for (; rows-- > 0; ++row) {
        assert_true(send_from(bench, row->instance, row->flags, row->term, row->sequence, 1 + 1e-6 * row->us));
        assert_int_equal(status_of(bench), row->status);
        assert_int_equal(term_of(bench), row->says_term);
        assert_int_equal(low_of(bench), row->says_low);
    }
}

/** The page's examples of one server that is started again, and of two servers, with the chain's power gone between. */
static void the_examples_of_the_page_are_right(void **state) {
    (void)state;
    enum { A = 0xA, B = 0xB, C = 0xC, ASKS = RM_SETPOINT_QUERY };
    struct row const one[] = {
        {0, ASKS, 0, A, 0, 128, 0, 65535},
        {10, 0, 1, A, 1, 0, 1, 1},
        {20, 0, 1, A, 2, 0, 1, 2},
        {40, 0, 1, A, 4, 32, 1, 4},
        {5140.5, ASKS, 0, B, 0, 132, 1, 5100},
        {5150, 0, 3, B, 1, 0, 3, 1},
    };
    struct row const two[] = {
        {0, 0, 5, A, 900, 0, 5, 900},  {32.5, ASKS, 4, B, 0, 128, 5, 32}, {40, 0, 6, B, 1, 0, 6, 1},
        {45, 0, 5, A, 901, 8, 6, 901}, {50, 0, 6, B, 2, 0, 6, 2},         {55, 0, 6, C, 70, 8, 6, 70},
    };
    struct row const after_power[] = {
        {1020, 0, 5, A, 902, 64, 5, 902},     {1025, 0, 6, B, 300, 64, 6, 300}, {1030, 0, 5, A, 903, 72, 6, 903},
        {1090, ASKS, 6, B, 0, 192, 6, 65535}, {1105, 0, 6, B, 308, 0, 6, 308},
    };
    struct chain_bench *bench = begin();
    bench->config.timeout_s = 100e-6;
    made(bench);
    check_rows(bench, one, sizeof one / sizeof one[0]);
    made(bench);
    check_rows(bench, two, sizeof two / sizeof two[0]);
    rm_chain_switch_on(&bench->chain, 1 + 1000e-6);
    check_rows(bench, after_power, sizeof after_power / sizeof after_power[0]);
    free(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_supply_is_set_and_read_back),
        cmocka_unit_test(chains_of_every_length_answer),
        cmocka_unit_test(a_query_changes_nothing_and_is_answered),
        cmocka_unit_test(no_query_changes_anything),
        cmocka_unit_test(a_query_tells_how_long_setpoints_are_away),
        cmocka_unit_test(a_lower_term_is_refused_and_told_so),
        cmocka_unit_test(another_server_under_the_same_term_is_refused),
        cmocka_unit_test(a_higher_term_takes_over),
        cmocka_unit_test(it_listens_before_it_obeys),
        cmocka_unit_test(without_a_time_out_it_does_not_listen),
        cmocka_unit_test(misdirected_and_malformed_are_refused),
        cmocka_unit_test(repeated_are_refused_and_missing_are_counted),
        cmocka_unit_test(the_examples_of_the_page_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
