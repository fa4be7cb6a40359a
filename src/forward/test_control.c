// SPDX-License-Identifier: Apache-2.0
/* The control side without a kernel: neighbours and their packets, answers, routes by source, commands. Time is a
 * number, and the forwarding core is this test, which reads its two rings. */
#include "base/zeroed.h"
#include "forward/control.h"
#include "forward/control_parts.h"
#include "forward/test_tables.h"
#include "wire/arp.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/neighbour_discovery.h"

enum { SLOTS = 2048, LONGEST = 1518, ROUTES = 2048 };

static uint8_t const our_mac[2][6] = {{2, 0, 0, 0, 1, 1}, {2, 0, 0, 0, 2, 1}};
static uint8_t const their_mac[6] = {2, 0, 0, 0, 2, 2};

struct rig {
    struct rm_control_core core;
    struct rm_routes *routes;
    struct rm_router_interfaces interfaces;
    rm_counter counters[RM_ROUTER_COUNTERS];
    struct rm_control *control;
    uint64_t now_ms;
};

static struct rm_ip ip_of(char const *text) {
    struct rm_ip ip;
    assert_true(rm_ip_parse(text, &ip));
    return ip;
}

static void add_interface(struct rig *rig, char const *name, uint16_t port, char const *ipv4, char const *ipv6) {
    struct rm_router_interface *const interface = &rig->interfaces.interface[rig->interfaces.count++];
    snprintf(interface->name, sizeof interface->name, "%s", name);
    interface->wire.port = port;
    interface->wire.mtu = 1500;
    assert_true(rm_interface_add_address(interface, &(struct rm_router_address){ip_of(ipv4), 24}));
    assert_true(rm_interface_add_address(interface, &(struct rm_router_address){ip_of(ipv6), 64}));
}

static int rig_make(void **state) {
    struct rig *const rig = *state = rm_zeroed(1, sizeof *rig);
    struct rm_error error;
    if (rig == NULL)
        return -1;
    struct rm_routes_limits const limits = {ROUTES, ROUTES};
    assert_int_equal(rm_routes_make(&rig->routes, &limits, 1, &error), RM_OK);
    add_interface(rig, "p0", 0, "10.0.1.1", "2001:db8:1::1");
    add_interface(rig, "p1", 1, "10.0.2.1", "2001:db8:2::1");
    assert_true(rm_handoff_make(&rig->core.to_control, SLOTS, LONGEST));
    assert_true(rm_handoff_make(&rig->core.from_control, SLOTS, LONGEST));
    struct rm_control_setup setup = {.routes = rig->routes,
                                     .interfaces = &rig->interfaces,
                                     .core_count = 1,
                                     .core = &rig->core,
                                     .longest_frame = LONGEST,
                                     .counters = rig->counters};
    for (uint32_t i = 0; i < 2; ++i) {
        setup.port[i] = (struct rm_control_port){.name = i == 0 ? "p0" : "p1", .present = true};
        memcpy(setup.port[i].mac, our_mac[i], sizeof setup.port[i].mac);
    }
    assert_int_equal(rm_control_make(&setup, &rig->control, &error), RM_OK);
    rig->now_ms = 1000;
    return 0;
}

static int rig_free(void **state) {
    struct rig *const rig = *state;
    rm_control_stop(rig->control);
    rm_handoff_free(&rig->core.to_control);
    rm_handoff_free(&rig->core.from_control);
    rm_routes_free(rig->routes);
    free(rig);
    return 0;
}

/** One turn at a later time; the core passes a quiescent point. */
static void turn(struct rig *rig, uint64_t later_ms) {
    rig->now_ms += later_ms;
    rm_routes_table(rig->routes, 0);
    rm_control_turn(rig->control, rig->now_ms);
    rm_routes_table(rig->routes, 0);
}

/** The next frame that the core is to send: its length, or 0. */
static uint32_t next_sent(struct rig *rig, uint8_t frame[LONGEST], uint16_t *port) {
    struct rm_handoff_packet packet;
    if (!rm_handoff_see(&rig->core.from_control, &packet))
        return 0;
    uint32_t const length = packet.length;
    memcpy(frame, packet.frame, length);
    *port = packet.port;
    rm_handoff_done(&rig->core.from_control);
    return length;
}

static uint32_t drain(struct rig *rig) {
    uint8_t frame[LONGEST];
    uint16_t port = UINT16_MAX;
    uint32_t count = 0;
    while (next_sent(rig, frame, &port) != 0)
        ++count;
    return count;
}

static void hand(struct rig *rig, enum rm_handoff_reason reason, uint16_t port, uint32_t hop, uint8_t const *frame,
                 uint32_t length) {
    struct rm_handoff_packet const packet = {
        .reason = (uint8_t)reason, .port = port, .interface = port, .length = length, .hop = hop, .frame = frame};
    assert_true(rm_handoff_put(&rig->core.to_control, &packet));
}

/** The hop that a core finds for an address. */
static uint32_t hop_of(struct rig *rig, char const *address) {
    struct rm_ip const ip = ip_of(address);
    struct rm_route route;
    return rm_route_match(rig->routes, &ip, &route) ? route.path[0].hop : RM_HOP_NO_ROUTE;
}

static enum rm_hop_state state_of(struct rig *rig, char const *address) {
    return rm_hop_word_state(atomic_load(&rm_routes_hop(rig->routes, hop_of(rig, address))->destination));
}

/** A UDP packet from 10.0.1.2 that came in by p0. */
static uint32_t packet_to(uint8_t frame[LONGEST], uint32_t ipv4) {
    struct rm_flow flow = {
        .source_mac = {2, 0, 0, 0, 1, 2}, .source_ipv4 = 0x0A000102, .destination_ipv4 = ipv4, .destination_port = 9};
    memcpy(flow.destination_mac, our_mac[0], 6);
    uint32_t const header = rm_frame_write_header(frame, &flow, 26);
    memset(frame + header, 0x55, 26);
    return header + 26;
}

/** A reply to our question about 10.0.2.x. */
static void reply(struct rig *rig, uint8_t last, uint8_t const mac[6]) {
    uint8_t frame[RM_ARP_REQUEST_BYTES];
    rm_arp_request(frame, our_mac[1], 0x0A000201, 0x0A000200 | last, 0);
    assert_int_equal(rm_arp_answer(frame, sizeof frame, mac, 0x0A000200 | last), sizeof frame);
    hand(rig, RM_HANDOFF_CONTROL, 1, 0, frame, sizeof frame);
}

/** Hands a packet over as the core does that finds its hop unresolved. */
static void hand_unresolved(struct rig *rig, uint8_t last) {
    uint8_t frame[LONGEST];
    char text[RM_IP_TEXT_BYTES];
    uint32_t const length = packet_to(frame, 0x0A000200 | last);
    snprintf(text, sizeof text, "10.0.2.%u", last);
    hand(rig, RM_HANDOFF_UNRESOLVED, 0, hop_of(rig, text), frame, length);
}

static enum rm_neighbour_state neighbour_state;
static bool see_state(void *context, struct rm_neighbour const *neighbour) {
    struct rm_ip const *const wanted = context;
    if (rm_ip_same(&neighbour->ip, wanted))
        neighbour_state = neighbour->state;
    return true;
}

/** -1: it is not known. */
static int neighbour_of(struct rig *rig, char const *address) {
    struct rm_ip wanted = ip_of(address);
    neighbour_state = (enum rm_neighbour_state) - 1;
    rm_neighbours_list(rig->control->neighbours, rig->now_ms, see_state, &wanted);
    return (int)neighbour_state;
}

static void a_packet_waits_for_its_neighbour(void **state) {
    struct rig *const rig = *state;
    uint8_t sent[LONGEST] = {0};
    uint16_t port = UINT16_MAX;
    struct rm_arp_packet arp;
    assert_int_equal(state_of(rig, "10.0.2.2"), RM_HOP_STATE_UNRESOLVED);
    hand_unresolved(rig, 2);
    turn(rig, 1);
    assert_int_equal(next_sent(rig, sent, &port), RM_ARP_REQUEST_BYTES);
    assert_int_equal(port, 1);
    assert_true(rm_arp_read(sent, RM_ARP_REQUEST_BYTES, &arp));
    assert_int_equal(arp.target_ipv4, 0x0A000202);
    assert_int_equal(arp.sender_ipv4, 0x0A000201);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_INCOMPLETE);

    reply(rig, 2, their_mac);
    turn(rig, 1);
    assert_int_equal(next_sent(rig, sent, &port), 68);
    assert_int_equal(port, 1);
    assert_memory_equal(sent, their_mac, 6);
    assert_memory_equal(sent + 6, our_mac[1], 6);
    assert_int_equal(sent[14 + IPV4_TTL], 63);
    assert_int_equal(state_of(rig, "10.0.2.2"), RM_HOP_STATE_RESOLVED);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_REACHABLE);
    assert_int_equal(rig->counters[RM_ROUTER_FOUND], 1);
    assert_int_equal(rig->counters[RM_ROUTER_WAITED], 1);
}

static void one_that_does_not_answer_is_given_up(void **state) {
    struct rig *const rig = *state;
    uint8_t sent[LONGEST] = {0};
    uint16_t port = UINT16_MAX;
    hand_unresolved(rig, 3);
    turn(rig, 1);
    for (uint32_t asked = 1; asked < RM_NEIGHBOUR_ASKS; ++asked) {
        assert_int_equal(drain(rig), 1);
        turn(rig, RM_NEIGHBOUR_ASK_MS);
    }
    assert_int_equal(drain(rig), 1);
    turn(rig, RM_NEIGHBOUR_ASK_MS);
    assert_int_equal(rig->counters[RM_ROUTER_ASKED], RM_NEIGHBOUR_ASKS);
    assert_int_equal(rig->counters[RM_ROUTER_NOT_FOUND], 1);
    assert_int_equal(state_of(rig, "10.0.2.3"), RM_HOP_STATE_UNREACHABLE);
    hand_unresolved(rig, 3); /* it had been handed over before that was known: it is dropped as the others are */
    turn(rig, 1);
    while (next_sent(rig, sent, &port) != 0)
        assert_int_equal(port, 0); /* ICMP errors at most, to the sender */
    turn(rig, RM_NEIGHBOUR_FAILED_MS);
    assert_int_equal(neighbour_of(rig, "10.0.2.3"), -1);
    assert_int_equal(state_of(rig, "10.0.2.3"), RM_HOP_STATE_UNRESOLVED);
}

static void a_known_one_is_asked_again_and_forgotten(void **state) {
    struct rig *const rig = *state;
    hand_unresolved(rig, 2);
    turn(rig, 1);
    reply(rig, 2, their_mac);
    turn(rig, 1);
    turn(rig, RM_NEIGHBOUR_REACHABLE_MS);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_STALE);
    drain(rig);
    turn(rig, RM_NEIGHBOUR_STALE_MS);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_PROBE);
    assert_int_equal(state_of(rig, "10.0.2.2"), RM_HOP_STATE_RESOLVED);
    assert_int_equal(drain(rig), 1);
    reply(rig, 2, their_mac);
    turn(rig, 1);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_REACHABLE);
    turn(rig, RM_NEIGHBOUR_REACHABLE_MS);
    turn(rig, RM_NEIGHBOUR_STALE_MS);
    for (uint32_t asked = 0; asked < RM_NEIGHBOUR_ASKS; ++asked)
        turn(rig, RM_NEIGHBOUR_ASK_MS);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), -1);
    assert_int_equal(state_of(rig, "10.0.2.2"), RM_HOP_STATE_UNRESOLVED);
}

static void no_more_wait_than_there_is_room_for(void **state) {
    struct rig *const rig = *state;
    for (uint32_t i = 0; i < RM_NEIGHBOUR_WAITING_MAX + 5; ++i)
        hand_unresolved(rig, 2);
    turn(rig, 1);
    assert_int_equal(rig->counters[RM_ROUTER_WAITING_FULL], 5);
    drain(rig);
    reply(rig, 2, their_mac);
    turn(rig, 1);
    assert_int_equal(drain(rig), RM_NEIGHBOUR_WAITING_MAX);
    assert_int_equal(rig->counters[RM_ROUTER_WAITED], RM_NEIGHBOUR_WAITING_MAX);
}

/** A flood of IPv6 destinations costs as many questions as may be sought, and as many packets as may wait. */
static void a_flood_of_destinations_is_bounded(void **state) {
    struct rig *const rig = *state;
    uint8_t frame[LONGEST] = {0};
    struct rm_ip const source = ip_of("2001:db8:1::2");
    uint32_t const flood = 4 * RM_NEIGHBOURS_SOUGHT_MAX;
    uint32_t const ethernet = rm_ethernet_write(frame, our_mac[0], their_mac, 0, ETHERTYPE_IPV6);
    for (uint32_t i = 0; i < flood; ++i) {
        struct rm_ip to = ip_of("2001:db8:2::");
        to.byte[14] = (uint8_t)(0x10 + i / 256);
        to.byte[15] = (uint8_t)i;
        rm_ipv6_write(frame + ethernet, source.byte, to.byte, 17, 64, 8);
        hand(rig, RM_HANDOFF_UNRESOLVED, 0, hop_of(rig, "2001:db8:2::2"), frame, ethernet + RM_IPV6_BYTES + 8);
        if (i % 100 == 99)
            turn(rig, 0);
    }
    turn(rig, 1);
    assert_int_equal(rig->counters[RM_ROUTER_ASKED], RM_NEIGHBOURS_SOUGHT_MAX);
    assert_int_equal(rig->counters[RM_ROUTER_WAITING_FULL], flood - RM_NEIGHBOURS_SOUGHT_MAX);
    for (uint32_t i = 0; i <= RM_NEIGHBOUR_ASKS; ++i) {
        turn(rig, RM_NEIGHBOUR_ASK_MS);
        drain(rig);
    }
    turn(rig, RM_NEIGHBOUR_FAILED_MS);
    hand_unresolved(rig, 2); /* there is room again */
    turn(rig, 1);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_INCOMPLETE);
}

static void it_answers_for_its_addresses(void **state) {
    struct rig *const rig = *state;
    uint8_t frame[LONGEST], sent[LONGEST];
    uint16_t port = UINT16_MAX;
    struct rm_arp_packet arp;
    rm_arp_request(frame, their_mac, 0x0A000202, 0x0A000201, 0);
    hand(rig, RM_HANDOFF_CONTROL, 1, 0, frame, RM_ARP_REQUEST_BYTES);
    turn(rig, 1);
    assert_int_equal(next_sent(rig, sent, &port), RM_ARP_REQUEST_BYTES);
    assert_true(rm_arp_read(sent, RM_ARP_REQUEST_BYTES, &arp));
    assert_true(arp.reply);
    assert_memory_equal(arp.sender_mac, our_mac[1], 6);
    assert_int_equal(neighbour_of(rig, "10.0.2.2"), RM_NEIGHBOUR_STALE); /* it has told us its own */

    struct rm_nd_message advertisement;
    struct rm_nd_sender sender = {.mac = {2, 0, 0, 0, 2, 2}};
    memcpy(sender.ipv6, ip_of("2001:db8:2::2").byte, 16);
    uint32_t length = rm_nd_write_solicitation(frame, &sender, ip_of("2001:db8:2::1").byte, NULL);
    hand(rig, RM_HANDOFF_LOCAL, 1, RM_HOP_LOCAL, frame, length);
    turn(rig, 1);
    length = next_sent(rig, sent, &port);
    assert_true(rm_nd_read(sent, length, &advertisement));
    assert_false(advertisement.solicitation);
    assert_memory_equal(advertisement.mac, our_mac[1], 6);

    struct rm_flow ping = {.source_ipv4 = 0x0A000202, .destination_ipv4 = 0x0A000101};
    memcpy(ping.destination_mac, our_mac[1], 6);
    memcpy(ping.source_mac, their_mac, 6);
    length = rm_icmp_write_request(frame, &ping, 1, 2, 8);
    hand(rig, RM_HANDOFF_LOCAL, 1, RM_HOP_LOCAL, frame, length); /* to the address of another interface of ours */
    turn(rig, 1);
    struct rm_icmp_echo echo;
    assert_true(rm_icmp_read_reply(sent, next_sent(rig, sent, &port), &echo));
    assert_int_equal(rig->counters[RM_ROUTER_ANSWERED], 3);

    rm_arp_request(frame, their_mac, 0x0A000202, 0x0A000263, 0); /* about another machine: not ours to answer */
    hand(rig, RM_HANDOFF_CONTROL, 1, 0, frame, RM_ARP_REQUEST_BYTES);
    turn(rig, 1);
    assert_int_equal(drain(rig), 0);
}

static void what_nobody_asked_for_is_not_believed(void **state) {
    struct rig *const rig = *state;
    uint8_t frame[RM_ARP_REQUEST_BYTES];
    reply(rig, 9, their_mac);
    rm_arp_request(frame, their_mac, 0x0A630202, 0x0A000201, 0); /* from a network that is not there */
    hand(rig, RM_HANDOFF_CONTROL, 1, 0, frame, sizeof frame);
    rm_arp_request(frame, their_mac, 0x0A000101, 0x0A000201, 0); /* it says that it is us */
    hand(rig, RM_HANDOFF_CONTROL, 1, 0, frame, sizeof frame);
    turn(rig, 1);
    assert_int_equal(neighbour_of(rig, "10.0.2.9"), -1);
    assert_int_equal(neighbour_of(rig, "10.99.2.2"), -1);
    assert_int_equal(neighbour_of(rig, "10.0.1.1"), -1);
}

/** Says a line; the answer, and the error in *error. */
static enum rm_code say(struct rig *rig, char const *line, char answer[4096], struct rm_error *error) {
    struct rm_command_table table;
    rm_control_commands(rig->control, &table);
    FILE *const out = fmemopen(answer, 4096, "w");
    assert_non_null(out);
    rm_routes_table(rig->routes, 0);
    enum rm_code const code = rm_command_run(&table, 1, line, out, error);
    rm_routes_table(rig->routes, 0);
    assert_int_equal(fclose(out), 0);
    return code;
}

static void routes_by_command(void **state) {
    struct rig *const rig = *state;
    char answer[4096];
    struct rm_error error;
    assert_int_equal(say(rig, "route add 10.9.0.0/16 via 10.0.2.2 weight 3 via 10.0.1.7", answer, &error), RM_OK);
    assert_int_equal(say(rig, "route add 10.8.0.0/16 blackhole", answer, &error), RM_OK);
    assert_int_equal(hop_of(rig, "10.8.1.1"), RM_HOP_BLACKHOLE);
    assert_int_equal(say(rig, "route show", answer, &error), RM_OK);
    assert_non_null(strstr(answer, "10.9.0.0/16 via 10.0.2.2 by p1 weight 3 via 10.0.1.7 by p0 configured\n"));
    assert_non_null(strstr(answer, "10.8.0.0/16 blackhole configured\n"));
    assert_int_equal(say(rig, "route del 10.8.0.0/16", answer, &error), RM_OK);
    assert_int_equal(hop_of(rig, "10.8.1.1"), RM_HOP_NO_ROUTE);
    assert_int_equal(say(rig, "route del 10.8.0.0/16", answer, &error), RM_E_NOT_FOUND);
    assert_int_equal(say(rig, "route add 10.8.0.0/16 via 10.3.0.1", answer, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "no interface has a network with 10.3.0.1"));
    assert_int_equal(say(rig, "neighbour add 10.0.2.2 02:00:00:00:00:22", answer, &error), RM_OK);
    assert_int_equal(state_of(rig, "10.0.2.2"), RM_HOP_STATE_RESOLVED);
    assert_int_equal(say(rig, "neighbour show", answer, &error), RM_OK);
    assert_non_null(strstr(answer, "10.0.2.2 by p1 02:00:00:00:00:22 permanent\n"));
    assert_int_equal(say(rig, "interface show", answer, &error), RM_OK);
    assert_non_null(strstr(answer, "p1 up 02:00:00:00:02:01 mtu 1500 10.0.2.1/24 2001:db8:2::1/64\n"));
}

static void set_route(struct rig *rig, enum rm_route_source source, uint32_t metric, char const *via) {
    struct rm_known_route const route = {.prefix = {ip_of("10.5.0.0"), 16},
                                         .source = source,
                                         .kind = RM_ROUTE_UNICAST,
                                         .metric = metric,
                                         .path_count = 1,
                                         .path = {{ip_of(via), RM_INTERFACE_NONE, 1}}};
    rm_routes_table(rig->routes, 0);
    assert_int_equal(rm_known_set(rig->control->known, &route, NULL), RM_OK);
    turn(rig, 1);
}

/** The last number of the gateway that packets to 10.5.0.0/16 take; 0: none. */
static int gateway_of(struct rig *rig) {
    uint32_t const hop = hop_of(rig, "10.5.1.1");
    return hop == RM_HOP_NO_ROUTE ? 0 : rm_routes_hop(rig->routes, hop)->gateway.byte[3];
}

static void the_best_source_is_used(void **state) {
    struct rig *const rig = *state;
    struct rm_prefix const prefix = {ip_of("10.5.0.0"), 16};
    set_route(rig, RM_SOURCE_KERNEL, 20, "10.0.2.20");
    set_route(rig, RM_SOURCE_KERNEL, 10, "10.0.2.10");
    assert_int_equal(gateway_of(rig), 10);
    set_route(rig, RM_SOURCE_CONFIGURED, 0, "10.0.2.5");
    assert_int_equal(gateway_of(rig), 5);
    assert_int_equal(rm_known_remove(rig->control->known, &prefix, RM_SOURCE_CONFIGURED, 0, NULL), RM_OK);
    turn(rig, 1);
    assert_int_equal(gateway_of(rig), 10);
    rm_known_begin_dump(rig->control->known);
    set_route(rig, RM_SOURCE_KERNEL, 20, "10.0.2.20");
    rm_known_end_dump(rig->control->known);
    turn(rig, 1);
    assert_int_equal(gateway_of(rig), 20); /* the dump has not had the other */
    struct rm_router_address const address = rig->interfaces.interface[1].address[0];
    rm_control_remove_address(rig->control, 1, &address);
    turn(rig, 1);
    assert_int_equal(gateway_of(rig), 0); /* no interface has its gateway's network any more */
    rm_control_add_address(rig->control, 1, &address);
    turn(rig, 1);
    assert_int_equal(gateway_of(rig), 20);
}

int main(void) {
    tables_start(rm_routes_memory_mib(&(struct rm_routes_limits){ROUTES, ROUTES}) + 64);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(a_packet_waits_for_its_neighbour, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(one_that_does_not_answer_is_given_up, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(a_known_one_is_asked_again_and_forgotten, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(no_more_wait_than_there_is_room_for, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(a_flood_of_destinations_is_bounded, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(it_answers_for_its_addresses, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(what_nobody_asked_for_is_not_believed, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(routes_by_command, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(the_best_source_is_used, rig_make, rig_free),
    };
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
