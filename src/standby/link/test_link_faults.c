// SPDX-License-Identifier: Apache-2.0
/** What may not join: refused, counted, said. */
#include "standby/link/test_rig.h"

static struct rig *rig_with(uint64_t seed, void (*change)(struct rm_peer_setup *b)) {
    struct rig *const rig = rig_new(seed);
    for (int i = 0; i < 2; ++i) {
        struct rm_peer_setup setup = rig_setup(rig, i);
        if (i == 1)
            change(&setup);
        rig_server_start(rig, i, &setup);
    }
    rig_cycles(rig, 3000);
    return rig;
}

/** Server b may be none, and server a goes on without it. */
static void is_refused(struct rig *rig) {
    assert_true(rig->server[1].link.orders.refused);
    assert_false(rig->server[1].link.orders.synchronised);
    assert_false(rig->server[0].link.orders.refused);
    assert_int_equal(rig->server[1].vectors_came, 0);
    assert_int_equal(rig->server[1].steps_came, 0);
}

static void other_lines(struct rm_peer_setup *b) { b->lines = "turn_rate_hz: 1200001\nextra: 1\n"; }

static void another_configuration(void **state) {
    (void)state;
    struct rig *const rig = rig_with(1, other_lines);
    is_refused(rig);
    assert_string_equal(rig_why(rig, 1), "server a has another configuration: turn_rate_hz: b has \"1200001\", a has "
                                         "\"1200000\"; extra: b has \"1\", a has no such line");
    assert_string_equal(rig_why(rig, 0), "server b has another configuration: turn_rate_hz: a has \"1200000\", b has "
                                         "\"1200001\"; extra: b has \"1\", a has no such line");
    rig_free(rig);
}

static void same_server(struct rm_peer_setup *b) {
    b->server = 1;
    b->name = "a";
    b->peer_name = "b";
}

static void the_same_server_twice(void **state) {
    (void)state;
    struct rig *const rig = rig_with(2, same_server);
    is_refused(rig);
    assert_non_null(strstr(rig_why(rig, 1), "the same server twice"));
    assert_non_null(strstr(rig_why(rig, 0), "the same server twice"));
    rig_free(rig);
}

static void other_name(struct rm_peer_setup *b) { b->name = "c"; }

static void a_server_of_another_name(void **state) {
    (void)state;
    struct rig *const rig = rig_with(3, other_name);
    assert_non_null(strstr(rig_why(rig, 0), "it is server c, and b is expected"));
    assert_int_equal(rig->server[1].vectors_came, 0);
    rig_free(rig);
}

static void two_later(struct rm_peer_setup *b) {
    b->version = RM_PEER_VERSION + 2;
    b->least = RM_PEER_VERSION + 1;
}

static void a_version_that_is_two_later(void **state) {
    (void)state;
    struct rig *const rig = rig_with(4, two_later);
    is_refused(rig);
    assert_non_null(strstr(rig_why(rig, 0), "incompatible version"));
    rig_free(rig);
}

static void one_later(struct rm_peer_setup *b) {
    b->version = RM_PEER_VERSION + 1;
    b->least = RM_PEER_VERSION;
}

static void the_next_version_joins(void **state) {
    (void)state;
    struct rig *const rig = rig_with(5, one_later);
    rig_join(rig);
    assert_int_equal(rig->server[1].link.version, RM_PEER_VERSION);
    rig_free(rig);
}

static void other_build(struct rm_peer_setup *b) { b->build = "0.2.0"; }

static void another_build_is_ready_for_a_switch_alone(void **state) {
    (void)state;
    struct rig *const rig = rig_with(6, other_build);
    rig_join(rig);
    rig->server[1].state.role = RM_STANDBY_READY;
    rig_cycles(rig, 300);
    for (int i = 0; i < 2; ++i) {
        assert_true(rig->server[i].link.orders.planned_only);
        assert_non_null(strstr(rig_why(rig, i), "different builds swap by a planned switch alone"));
    }
    assert_null(rm_peer_link_switch(&rig->server[0].link, 0, rig->now_ns));
    rig_cycles(rig, 200);
    assert_int_not_equal(rig->server[1].link.orders.switch_turn, RM_TURN_NONE);
    rig_free(rig);
}

static void other_key(struct rm_peer_setup *b) { b->key[31] ^= 1; }

static void another_key(void **state) {
    (void)state;
    struct rig *const rig = rig_with(6, other_key);
    for (int i = 0; i < 2; ++i) {
        struct rm_peer_link const *const link = &rig->server[i].link;
        assert_false(link->session.up);
        assert_true(link->counter[RM_LINK_BAD_KEY] > 0);
        assert_int_equal(link->counter[RM_LINK_BAD_KEY], link->counter[RM_LINK_RECEIVED]);
        assert_non_null(strstr(rig_why(rig, i), "with this key"));
    }
    rig_free(rig);
}

static void a_third_server(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(7);
    rig_join(rig);
    struct rm_peer_link third;
    struct rm_peer_setup setup = rig_setup(rig, 1);
    assert_true(rm_peer_link_make(&third, &setup));
    uint64_t const session = rig->server[0].link.session.peer;
    for (int i = 0; i < 10000; ++i) {
        rig_cycle(rig);
        /* What it says goes to a, as b's; what a says does not come to it. */
        if (i % 100 == 0)
            rm_peer_link_tick(&third, rig->now_ns);
    }
    assert_int_equal(rig->server[0].link.session.peer, session);
    assert_true(rig->server[0].link.counter[RM_LINK_REFUSED] > 10);
    assert_non_null(strstr(rig_why(rig, 0), "a third server asks to join and is refused"));
    assert_true(rig->server[1].link.orders.synchronised);
    rig_cycles(rig, 11000); // it has gone
    assert_null(strstr(rig_why(rig, 0), "a third server"));
    rm_peer_link_free(&third);
    rig_free(rig);
}

static void replayed_datagrams(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(8);
    rig_join(rig);
    struct rm_peer_link *const link = &rig->server[1].link;
    for (int i = 0; i < 100; ++i) {
        rig_cycle(rig);
        struct rig_packet const packet = rig->newest[0];
        rig_cycles(rig, 3);
        uint64_t const repeated = link->counter[RM_LINK_REPEATED];
        uint32_t const vectors = rig->server[1].vectors_came, steps = rig->server[1].steps_came;
        rm_peer_link_receive(link, packet.bytes, packet.size, rig->now_ns);
        assert_int_equal(link->counter[RM_LINK_REPEATED], repeated + 1);
        assert_int_equal(rig->server[1].vectors_came, vectors);
        assert_int_equal(rig->server[1].steps_came, steps);
    }
    assert_true(link->orders.synchronised);
    rig_free(rig);
}

/** Of a session before: its sender was started anew meanwhile. */
static void recorded_datagrams(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(9);
    rig_join(rig);
    rig_cycles(rig, 10);
    struct rig_packet const packet = rig->newest[0];
    rm_peer_link_free(&rig->server[0].link);
    struct rm_peer_setup const setup = rig_setup(rig, 0);
    rig_server_start(rig, 0, &setup);
    rig->server[0].vector_new[RM_PEER_TARGETS] = true;
    rig_cycles(rig, 5000);
    struct rm_peer_link *const link = &rig->server[1].link;
    assert_true(link->orders.synchronised);
    uint64_t const refused = link->counter[RM_LINK_REFUSED];
    rm_peer_link_receive(link, packet.bytes, packet.size, rig->now_ns);
    assert_int_equal(link->counter[RM_LINK_REFUSED], refused + 1);
    rig_free(rig);
}

static void truncated_and_changed_datagrams(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(10);
    rig_join(rig);
    struct rm_peer_link *const link = &rig->server[1].link;
    struct rig_packet const packet = rig->newest[0];
    uint64_t const before =
        link->counter[RM_LINK_BAD_LENGTH] + link->counter[RM_LINK_BAD_KEY] + link->counter[RM_LINK_BAD_VERSION];
    for (size_t size = 0; size < packet.size; ++size)
        rm_peer_link_receive(link, packet.bytes, size, rig->now_ns);
    for (size_t i = 0; i < packet.size; ++i) {
        struct rig_packet changed = packet;
        changed.bytes[i] ^= 0x80;
        rm_peer_link_receive(link, changed.bytes, changed.size, rig->now_ns);
    }
    assert_int_equal(link->counter[RM_LINK_BAD_LENGTH] + link->counter[RM_LINK_BAD_KEY] +
                         link->counter[RM_LINK_BAD_VERSION],
                     before + 2 * packet.size);
    rig_cycles(rig, 100);
    assert_true(link->orders.synchronised);
    rig_free(rig);
}

/** Cycles while the process of this server is gone. */
static void rig_cycles_without(struct rig *rig, int index, int count) {
    for (int i = 0; i < count; ++i) {
        rig_servers(rig);
        rig->packets = 0;
        rm_peer_link_tick(&rig->server[1 - index].link, rig->now_ns);
    }
}

/** Its process is killed in the midst of all, and started again. */
static void a_peer_that_is_started_anew_joins_again(void **state) {
    (void)state;
    for (int index = 0; index < 2; ++index) {
        struct rig *const rig = rig_pair(11);
        rig_join(rig);
        struct rig_server *const server = &rig->server[index];
        rm_turn const came = server->link.steps_in[0]->came;
        rm_peer_link_free(&server->link);
        rig_cycles_without(rig, index, 300);
        struct rm_peer_setup const setup = rig_setup(rig, index);
        rig_server_start(rig, index, &setup);
        rm_peer_link_has(&server->link, 0, came);
        rig->server[0].vector_new[RM_PEER_SENT] = rig->server[0].vector_new[RM_PEER_TARGETS] = true;
        for (int i = 0; i < 3000; ++i) {
            rig_cycle(rig);
            rig->server[1].application.in_step = true; // by what it has
        }
        assert_true(rig->server[1].link.orders.synchronised);
        /* The records went on where they had ended: no copy was needed. */
        for (uint32_t i = 1; i < rig->server[1].steps_came && i < RIG_STEPS; ++i)
            assert_int_equal(rig->server[1].step_came[i], rig->server[1].step_came[i - 1] + RIG_PERIOD);
        assert_int_equal(rig->server[1].states_came, 1);
        assert_true(rig->server[1].steps_came > 1000);
        assert_int_equal(rig->server[1].link.thirds, 0);
        assert_int_equal(rig->server[0].link.thirds, 0);
        rig_free(rig);
    }
}

static void a_peer_that_ends_says_so(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(12);
    rig_join(rig);
    rm_peer_link_bye(&rig->server[1].link);
    rig->cut[1] = true;
    rig_cycles(rig, 2);
    assert_int_equal(rig->server[0].link.orders.peer_role, 0);
    assert_false(rig->server[0].link.session.up);
    rig_free(rig);
}

/** A host that is shut down ends both of its programs, in any order: the other server is to take over. */
static void a_standby_outlives_the_end_of_the_active_ones_link(void **state) {
    (void)state;
    struct rig *const rig = rig_pair(12);
    rig_join(rig);
    rm_peer_link_bye(&rig->server[0].link);
    rig->cut[0] = true;
    rig_cycles(rig, 500);
    assert_true(rig->server[1].link.orders.synchronised);
    rig_cycles(rig, 1000);
    assert_false(rig->server[1].link.orders.synchronised);
    assert_non_null(strstr(rig_why(rig, 1), "server a is not heard"));
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(another_configuration),
        cmocka_unit_test(the_same_server_twice),
        cmocka_unit_test(a_server_of_another_name),
        cmocka_unit_test(a_version_that_is_two_later),
        cmocka_unit_test(the_next_version_joins),
        cmocka_unit_test(another_build_is_ready_for_a_switch_alone),
        cmocka_unit_test(another_key),
        cmocka_unit_test(a_third_server),
        cmocka_unit_test(replayed_datagrams),
        cmocka_unit_test(recorded_datagrams),
        cmocka_unit_test(truncated_and_changed_datagrams),
        cmocka_unit_test(a_peer_that_is_started_anew_joins_again),
        cmocka_unit_test(a_peer_that_ends_says_so),
        cmocka_unit_test(a_standby_outlives_the_end_of_the_active_ones_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
