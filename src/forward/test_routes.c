// SPDX-License-Identifier: Apache-2.0
/* Tables of routes against a list that is searched from end to end, and what they say when they are asked too much. */
#include "forward/test_tables.h"

#include "forward/routes_table.h"

enum { MODEL_ROUTES = 600, STEPS = 4000, PROBES = 64 };

static struct rm_routes_limits const LIMITS = {.ipv4_routes = 1024, .ipv6_routes = 1024};

static struct rm_routes *make_routes(struct rm_routes_limits limits, uint32_t readers) {
    struct rm_routes *routes = NULL;
    struct rm_error error;
    struct rm_interface const interface = {.up = true, .port = 1, .vlan = 7, .mac = {2, 0, 0, 0, 0, 1}, .mtu = 1500};
    assert_int_equal(rm_routes_make(&routes, &limits, readers, &error), RM_OK);
    assert_int_equal(rm_routes_set_interface(routes, 3, &interface, &error), RM_OK);
    return routes;
}

static uint32_t hop_to(struct rm_routes *routes, char const *gateway) {
    struct rm_ip const ip = ipv4_address(gateway);
    uint32_t hop;
    assert_int_equal(rm_hop_take(routes, 3, &ip, &hop, NULL), RM_OK);
    return hop;
}

/** The slots that cores see for an address. */
static struct rm_path_slots seen_slots(struct rm_routes *routes, uint32_t reader, struct rm_ip const *ip) {
    struct rm_routes_table const *const table = rm_routes_table(routes, reader);
    uint64_t group;
    uint32_t host = rm_load32(ip->byte);
    uint8_t address[1][RM_IPV6_ADDRESS_BYTES];
    memcpy(address[0], ip->byte, sizeof address[0]);
    if (ip->ipv6)
        rm_match_ipv6(&table->match, address, &group, 1);
    else
        rm_match_ipv4(&table->match, &host, &group, 1);
    return table->slots[group];
}

static uint32_t seen_hop(struct rm_routes *routes, uint32_t reader, char const *address) {
    struct rm_ip const ip = ipv4_address(address);
    return seen_slots(routes, reader, &ip).hop[0];
}

static void cores_see_changes_once_they_are_published(void **state) {
    (void)state;
    struct rm_routes *const routes = make_routes(LIMITS, 1);
    uint32_t const hop = hop_to(routes, "10.0.0.1");
    struct rm_route const route = route_by(ipv4_prefix("192.168.0.0", 16), hop);
    assert_int_equal(rm_route_set(routes, &route, NULL), RM_OK);
    assert_int_equal(seen_hop(routes, 0, "192.168.3.4"), RM_HOP_NO_ROUTE);
    rm_routes_publish(routes);
    assert_int_equal(seen_hop(routes, 0, "192.168.3.4"), hop);
    assert_int_equal(rm_route_remove(routes, &route.prefix, NULL), RM_OK);
    assert_int_equal(seen_hop(routes, 0, "192.168.3.4"), hop);
    rm_routes_publish(routes);
    assert_int_equal(seen_hop(routes, 0, "192.168.3.4"), RM_HOP_NO_ROUTE);
    assert_int_equal(rm_routes_count(routes, false), 0);
    rm_routes_free(routes);
}

static void a_core_that_stands_still_keeps_its_table(void **state) {
    (void)state;
    struct rm_routes *const routes = make_routes(LIMITS, 2);
    struct rm_route const route = route_by(ipv4_prefix("10.0.0.0", 8), RM_HOP_BLACKHOLE);
    struct rm_error error;
    rm_routes_table(routes, 1);
    assert_int_equal(rm_route_set(routes, &route, NULL), RM_OK);
    rm_routes_publish(routes);
    assert_int_equal(rm_route_remove(routes, &route.prefix, &error), RM_E_BUSY);
    assert_non_null(strstr(error.text, "stands still"));
    assert_int_equal(seen_hop(routes, 1, "10.1.1.1"), RM_HOP_BLACKHOLE);
    assert_int_equal(rm_route_remove(routes, &route.prefix, NULL), RM_OK);
    rm_routes_publish(routes);
    assert_int_equal(seen_hop(routes, 1, "10.1.1.1"), RM_HOP_NO_ROUTE);
    rm_routes_free(routes);
}

static void weights_share_out_the_slots(void **state) {
    (void)state;
    struct rm_path const three[] = {{10, 1}, {11, 2}, {12, 5}};
    struct rm_path_slots const slots = rm_path_slots_of(three, 3);
    uint16_t const wanted[RM_PATHS_MAX] = {10, 11, 11, 12, 12, 12, 12, 12};
    assert_memory_equal(slots.hop, wanted, sizeof wanted);
    struct rm_path const unlike[] = {{1, 1}, {2, UINT32_MAX}};
    assert_int_equal(rm_path_slots_of(unlike, 2).hop[0], 1);
    assert_int_equal(rm_path_slots_of(unlike, 2).hop[1], 2);
    struct rm_path path[RM_PATHS_MAX];
    struct rm_path const equal[] = {{5, 9}, {6, 9}};
    struct rm_path_slots const halves = rm_path_slots_of(equal, 2);
    assert_int_equal(rm_path_slots_paths(&halves, path), 2);
    assert_int_equal(path[0].weight, 1);
    assert_int_equal(path[1].hop, 6);
}

static void a_full_table_says_so_and_stays_as_it_was(void **state) {
    (void)state;
    struct rm_routes *const routes = make_routes((struct rm_routes_limits){.ipv4_routes = 2}, 0);
    struct rm_error error;
    struct rm_route const first = route_by(ipv4_prefix("10.0.0.0", 8), RM_HOP_BLACKHOLE);
    struct rm_route const second = route_by(ipv4_prefix("10.1.1.1", 32), RM_HOP_LOCAL);
    struct rm_route const third = route_by(ipv4_prefix("10.2.0.0", 16), RM_HOP_LOCAL);
    struct rm_route ipv6 = first;
    ipv6.prefix = (struct rm_prefix){.ip = {.ipv6 = true}};
    assert_int_equal(rm_route_set(routes, &first, NULL), RM_OK);
    assert_int_equal(rm_route_set(routes, &second, NULL), RM_OK);
    assert_int_equal(rm_route_set(routes, &third, &error), RM_E_NO_SPACE);
    assert_non_null(strstr(error.text, "is full: it has 2 of 2"));
    assert_int_equal(rm_route_set(routes, &second, NULL), RM_OK);
    assert_int_equal(rm_route_set(routes, &ipv6, &error), RM_E_NO_SPACE);
    rm_routes_publish(routes);
    assert_int_equal(seen_hop(routes, RM_ROUTES_READER_NONE, "10.2.0.1"), RM_HOP_BLACKHOLE);
    assert_int_equal(rm_routes_count(routes, false), 2);
    rm_routes_free(routes);
}

static void impossible_routes_are_refused(void **state) {
    (void)state;
    struct rm_routes *const routes = make_routes(LIMITS, 0);
    struct rm_route const no_path = {.prefix = ipv4_prefix("10.0.0.0", 8)};
    struct rm_route const beyond = route_by(ipv4_prefix("10.0.0.1", 8), RM_HOP_LOCAL);
    struct rm_route const longer = route_by(ipv4_prefix("10.0.0.1", 33), RM_HOP_LOCAL);
    struct rm_route const no_hop = route_by(ipv4_prefix("10.0.0.0", 8), 4000);
    struct rm_route no_weight = route_by(ipv4_prefix("10.0.0.0", 8), RM_HOP_LOCAL);
    no_weight.path[0].weight = 0;
    struct rm_route const *const wrong[] = {&no_path, &beyond, &longer, &no_hop, &no_weight};
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        assert_int_equal(rm_route_set(routes, wrong[i], NULL), RM_E_ARGUMENT);
    struct rm_prefix const absent = ipv4_prefix("10.0.0.0", 8);
    assert_int_equal(rm_route_remove(routes, &absent, NULL), RM_E_NOT_FOUND);
    struct rm_interface const same_vlan = {.up = true, .port = 1, .vlan = 7, .mtu = 1500};
    assert_int_equal(rm_routes_set_interface(routes, 4, &same_vlan, NULL), RM_E_ARGUMENT);
    rm_routes_free(routes);
}

static void hops_are_found_again_and_set_free(void **state) {
    (void)state;
    struct rm_routes *const routes = make_routes(LIMITS, 0);
    uint32_t const first = hop_to(routes, "10.0.0.1"), second = hop_to(routes, "10.0.0.2");
    assert_int_not_equal(first, second);
    assert_int_equal(hop_to(routes, "10.0.0.1"), first);
    assert_int_equal(rm_routes_hop(routes, first)->vlan, 7);
    struct rm_route const route = route_by(ipv4_prefix("172.16.0.0", 12), first);
    assert_int_equal(rm_route_set(routes, &route, NULL), RM_OK);
    rm_hop_drop(routes, first);
    rm_hop_drop(routes, first);
    assert_int_not_equal(hop_to(routes, "10.0.0.3"), first);
    rm_routes_publish(routes);
    assert_int_equal(rm_route_remove(routes, &route.prefix, NULL), RM_OK);
    rm_routes_publish(routes);
    assert_int_equal(hop_to(routes, "10.0.0.4"), first);
    rm_routes_free(routes);
}

static void a_changed_mtu_reaches_the_hops(void **state) {
    (void)state;
    struct rm_routes *const routes = make_routes(LIMITS, 0);
    uint32_t const hop = hop_to(routes, "10.0.0.1");
    struct rm_interface interface = *rm_routes_interface(routes, 3);
    interface.mtu = 9000;
    assert_int_equal(rm_routes_set_interface(routes, 3, &interface, NULL), RM_OK);
    assert_int_equal(atomic_load(&rm_routes_hop(routes, hop)->mtu), 9000);
    rm_routes_publish(routes);
    assert_int_equal(rm_routes_table(routes, RM_ROUTES_READER_NONE)->interface[3].mtu, 9000);
    rm_routes_free(routes);
}

/** A route of the model: the list that is searched from end to end. */
struct model_route {
    struct rm_prefix prefix;
    uint32_t hop;
};

struct model {
    struct model_route route[MODEL_ROUTES];
    uint32_t count;
};

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/** Addresses that are often alike in their first bytes, so that prefixes lie within each other. */
static struct rm_ip draw_address(bool ipv6) {
    struct rm_ip ip = {.ipv6 = ipv6};
    for (uint32_t i = 0; i < (ipv6 ? 16u : 4u); ++i)
        ip.byte[i] = (uint8_t)(draw(4) != 0 ? draw(3) : draw(256));
    return ip;
}

static struct rm_prefix draw_prefix(bool ipv6) {
    struct rm_prefix prefix = {.ip = draw_address(ipv6), .length = (uint8_t)draw(ipv6 ? 129 : 33)};
    for (uint32_t bit = prefix.length; bit < 128; ++bit)
        prefix.ip.byte[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    return prefix;
}

static bool prefix_fits(struct rm_prefix const *prefix, struct rm_ip const *ip) {
    for (uint32_t bit = 0; bit < prefix->length; ++bit)
        if ((prefix->ip.byte[bit / 8] ^ ip->byte[bit / 8]) >> (7 - bit % 8) & 1)
            return false;
    return true;
}

static uint32_t model_hop(struct model const *model, struct rm_ip const *ip) {
    int longest = -1;
    uint32_t hop = RM_HOP_NO_ROUTE;
    for (uint32_t i = 0; i < model->count; ++i)
        if (model->route[i].prefix.length > longest && prefix_fits(&model->route[i].prefix, ip)) {
            longest = model->route[i].prefix.length;
            hop = model->route[i].hop;
        }
    return hop;
}

static struct model_route *model_find(struct model *model, struct rm_prefix const *prefix) {
    for (uint32_t i = 0; i < model->count; ++i)
        if (model->route[i].prefix.length == prefix->length &&
            memcmp(model->route[i].prefix.ip.byte, prefix->ip.byte, 16) == 0)
            return &model->route[i];
    return NULL;
}

/** Sets or removes a route in both. */
static void model_step(struct model *model, struct rm_routes *routes, bool ipv6, uint32_t const *hop, uint32_t hops) {
    struct rm_prefix prefix = draw_prefix(ipv6);
    if (model->count != 0 && draw(2) == 0)
        prefix = model->route[draw(model->count)].prefix;
    struct model_route *there = model_find(model, &prefix);
    if (draw(5) < 2 || (there == NULL && model->count == MODEL_ROUTES)) {
        assert_int_equal(rm_route_remove(routes, &prefix, NULL), there != NULL ? RM_OK : RM_E_NOT_FOUND);
        if (there != NULL)
            *there = model->route[--model->count];
        return;
    }
    if (there == NULL)
        there = &model->route[model->count++];
    *there = (struct model_route){prefix, hop[draw(hops)]};
    struct rm_route const route = route_by(prefix, there->hop);
    assert_int_equal(rm_route_set(routes, &route, NULL), RM_OK);
}

static void model_compare(struct model *model, struct rm_routes *routes, bool ipv6) {
    for (uint32_t i = 0; i < PROBES; ++i) {
        struct rm_ip ip = draw_address(ipv6);
        if (model->count != 0 && draw(2) == 0)
            ip = model->route[draw(model->count)].prefix.ip;
        struct rm_route route;
        uint32_t const hop = model_hop(model, &ip);
        assert_int_equal(seen_slots(routes, 0, &ip).hop[0], hop);
        assert_int_equal(rm_route_match(routes, &ip, &route) ? route.path[0].hop : RM_HOP_NO_ROUTE, hop);
    }
}

static bool route_is_in_model(void *context, struct rm_route const *route) {
    struct model_route const *const there = model_find(context, &route->prefix);
    assert_non_null(there);
    assert_int_equal(there->hop, route->path[0].hop);
    ++random_state;
    return true;
}

static void tables_agree_with_a_list(bool ipv6, uint64_t seed) {
    struct rm_routes *const routes = make_routes(LIMITS, 1);
    static struct model model;
    uint32_t hop[9] = {RM_HOP_LOCAL, RM_HOP_BLACKHOLE};
    char gateway[16];
    for (uint32_t i = 2; i < 9; ++i) {
        snprintf(gateway, sizeof gateway, "10.0.0.%u", i);
        hop[i] = hop_to(routes, gateway);
    }
    model.count = 0;
    random_state = seed;
    for (uint32_t step = 0; step < STEPS; ++step) {
        model_step(&model, routes, ipv6, hop, 9);
        if (draw(20) != 0)
            continue;
        rm_routes_publish(routes);
        model_compare(&model, routes, ipv6);
    }
    rm_routes_publish(routes);
    assert_int_equal(rm_routes_count(routes, ipv6), model.count);
    uint64_t const before = random_state;
    rm_routes_list(routes, ipv6, route_is_in_model, &model);
    assert_int_equal(random_state - before, model.count);
    rm_routes_free(routes);
}

static void ipv4_tables_agree_with_a_list(void **state) {
    (void)state;
    tables_agree_with_a_list(false, 1);
    tables_agree_with_a_list(false, 20261126);
}

static void ipv6_tables_agree_with_a_list(void **state) {
    (void)state;
    tables_agree_with_a_list(true, 2);
    tables_agree_with_a_list(true, 20261127);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(cores_see_changes_once_they_are_published),
        cmocka_unit_test(a_core_that_stands_still_keeps_its_table),
        cmocka_unit_test(weights_share_out_the_slots),
        cmocka_unit_test(a_full_table_says_so_and_stays_as_it_was),
        cmocka_unit_test(impossible_routes_are_refused),
        cmocka_unit_test(hops_are_found_again_and_set_free),
        cmocka_unit_test(a_changed_mtu_reaches_the_hops),
        cmocka_unit_test(ipv4_tables_agree_with_a_list),
        cmocka_unit_test(ipv6_tables_agree_with_a_list),
    };
    tables_start(64 + rm_routes_memory_mib(&LIMITS));
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
