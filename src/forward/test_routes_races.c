// SPDX-License-Identifier: Apache-2.0
/* Cores that look routes up while the control side changes them: each sees a table before a change or after it, whole,
 * and no path group or next hop that is used again meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "forward/handoff.h"
#include "forward/routes_table.h"
#include "forward/test_tables.h"

enum { READERS = 2, CHANGES = 4000, NETWORKS = 8 };

static struct rm_routes_limits const LIMITS = {.ipv4_routes = 64};

struct race {
    struct rm_routes *routes;
    atomic_bool stop;
    _Atomic uint32_t looks;
};

struct race_reader {
    struct race *race;
    uint32_t number;
    /** Lookups that found a route that was never there. */
    uint32_t wrong;
};

/** A route to network N always leads to a gateway whose last byte is N, or is absent. */
static bool look_is_right(struct rm_routes_table const *table, uint32_t network) {
    uint32_t address = 20u << 24 | network << 16 | 5;
    uint64_t group;
    rm_match_ipv4(&table->match, &address, &group, 1);
    struct rm_next_hop const *const hop = &table->hop[table->slots[group].hop[0]];
    return table->slots[group].hop[0] == RM_HOP_NO_ROUTE || hop->gateway.byte[3] == network;
}

static void *look_up(void *context) {
    struct race_reader *const self = context;
    while (!atomic_load(&self->race->stop)) {
        struct rm_routes_table const *const table = rm_routes_table(self->race->routes, self->number);
        for (uint32_t network = 1; network <= NETWORKS; ++network)
            self->wrong += !look_is_right(table, network);
        atomic_fetch_add(&self->race->looks, 1);
    }
    return NULL;
}

/** Sets or removes the route of a network, by a gateway that only this change has. */
static void change_route(struct rm_routes *routes, uint32_t number) {
    uint32_t const network = 1 + number % NETWORKS;
    struct rm_prefix prefix = {.length = 16};
    rm_store32(prefix.ip.byte, 20u << 24 | network << 16);
    if (number / NETWORKS % 3 == 2) {
        assert_int_equal(rm_route_remove(routes, &prefix, NULL), RM_OK);
        return;
    }
    struct rm_ip const gateway = {.byte = {10, (uint8_t)(number >> 8), (uint8_t)number, (uint8_t)network}};
    uint32_t hop;
    assert_int_equal(rm_hop_take(routes, 0, &gateway, &hop, NULL), RM_OK);
    struct rm_route const route = route_by(prefix, hop);
    assert_int_equal(rm_route_set(routes, &route, NULL), RM_OK);
    rm_hop_drop(routes, hop); // the route alone holds it
}

static void readers_see_whole_tables(void **state) {
    (void)state;
    struct race race = {0};
    struct race_reader reader[READERS];
    pthread_t thread[READERS];
    struct rm_interface const interface = {.up = true, .mtu = 1500};
    assert_int_equal(rm_routes_make(&race.routes, &LIMITS, READERS, NULL), RM_OK);
    assert_int_equal(rm_routes_set_interface(race.routes, 0, &interface, NULL), RM_OK);
    for (uint32_t i = 0; i < READERS; ++i) {
        reader[i] = (struct race_reader){.race = &race, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, look_up, &reader[i]), 0);
    }
    for (uint32_t i = 0; i < CHANGES; ++i) {
        change_route(race.routes, i);
        if (i % 5 == 0)
            rm_routes_publish(race.routes);
    }
    rm_routes_publish(race.routes);
    while (atomic_load(&race.looks) <= READERS) /* a host may have given them no core yet */
        sched_yield();
    atomic_store(&race.stop, true);
    for (uint32_t i = 0; i < READERS; ++i) {
        pthread_join(thread[i], NULL);
        assert_int_equal(reader[i].wrong, 0);
    }
    assert_true(rm_routes_count(race.routes, false) <= NETWORKS);
    rm_routes_free(race.routes);
}

enum { HANDED = 20000, HANDED_BYTES = 300 };

static void *hand_over(void *context) {
    uint8_t frame[HANDED_BYTES];
    for (uint32_t i = 0; i < HANDED;) {
        struct rm_handoff_packet const packet = {.hop = i, .length = 1 + i % HANDED_BYTES, .frame = frame};
        memset(frame, (int)(i & 0xFF), sizeof frame);
        if (rm_handoff_put(context, &packet))
            ++i;
        else
            sched_yield();
    }
    return NULL;
}

static void packets_are_handed_over_whole_and_in_order(void **state) {
    (void)state;
    struct rm_handoff handoff;
    pthread_t thread;
    assert_true(rm_handoff_make(&handoff, 16, HANDED_BYTES));
    assert_int_equal(pthread_create(&thread, NULL, hand_over, &handoff), 0);
    for (uint32_t i = 0; i < HANDED;) {
        struct rm_handoff_packet packet;
        if (!rm_handoff_see(&handoff, &packet)) {
            sched_yield();
            continue;
        }
        assert_int_equal(packet.hop, i);
        assert_int_equal(packet.length, 1 + i % HANDED_BYTES);
        for (uint32_t at = 0; at < packet.length; ++at)
            assert_int_equal(packet.frame[at], i & 0xFF);
        rm_handoff_done(&handoff);
        ++i;
    }
    pthread_join(thread, NULL);
    struct rm_handoff_packet const longer = {.length = 10000};
    assert_false(rm_handoff_put(&handoff, &longer));
    rm_handoff_free(&handoff);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(readers_see_whole_tables),
        cmocka_unit_test(packets_are_handed_over_whole_and_in_order),
    };
    tables_start(64 + rm_routes_memory_mib(&LIMITS));
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
