// SPDX-License-Identifier: Apache-2.0
/* The section `router`: what it comes to, how it is described, and everything that can be wrong with it. */
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <string.h>

/* Lines: 1, 2–4, 5–6, from 7 on. */
#define MACHINE "workspace: demo\n"
#define PORTS                                                                                                          \
    "ports:\n  - {name: p0, kind: memif, socket: /run/0.sock}\n"                                                       \
    "  - {name: p1, kind: memif, socket: /run/1.sock, kernel_interface: rm1}\n"
#define ROLES "roles:\n  - {role: forward, ports: [p0, p1], core: @}\n"
#define HEAD MACHINE PORTS ROLES
#define INTERFACES                                                                                                     \
    "router:\n  interfaces:\n"                                                                                         \
    "    - {port: p0, addresses: [10.0.0.1/24, \"2001:db8::1/64\"]}\n"                                                 \
    "    - {port: p1, vlan: 7, addresses: [10.0.7.1/24], mtu: 1000, fragment: false}\n"

enum { TEXT_BYTES = 4096 };

static void what_it_comes_to(void **state) {
    struct rm_config *const config = load_config(
        *state, HEAD INTERFACES "  ipv4_routes: 100\n"
                                "  routes:\n"
                                "    - {prefix: default, paths: [{via: 10.0.0.2}, {via: 10.0.7.2, weight: 3}]}\n"
                                "    - {prefix: \"2001:db8:1::/48\", paths: [{via: \"fe80::2\", interface: p0}]}\n"
                                "    - {prefix: 10.9.0.0/16, action: blackhole}\n"
                                "    - {prefix: 10.8.0.0/16, paths: [{interface: p1.7}]}\n"
                                "  neighbours:\n"
                                "    - {interface: p1.7, address: 10.0.7.9, mac: \"02:00:00:00:00:09\"}\n");
    struct rm_config_router const *const router = config->router;
    assert_int_equal(router->mode, RM_FORWARD_ROUTE);
    assert_false(config->port[1].port.exception_path); /* its tap is the router's own */
    assert_int_equal(config->port[1].port.ethertype_count, 1);
    assert_int_equal(router->limits.ipv4_routes, 100);
    assert_int_equal(router->interfaces->count, 2);
    struct rm_router_interface const *const vlan = &router->interfaces->interface[1];
    assert_string_equal(router->interfaces->interface[0].name, "p0");
    assert_int_equal(router->interfaces->interface[0].address_count, 2);
    assert_int_equal(router->interfaces->interface[0].wire.mtu, 1500);
    assert_true(router->interfaces->interface[0].wire.fragments);
    assert_string_equal(vlan->name, "p1.7");
    assert_int_equal(vlan->wire.port, 1);
    assert_int_equal(vlan->wire.vlan, 7);
    assert_false(vlan->wire.fragments);
    assert_int_equal(router->route_count, 4);
    assert_int_equal(router->route[0].path_count, 2);
    assert_int_equal(router->route[0].path[1].weight, 3);
    assert_int_equal(router->route[1].path[0].interface, 0);
    assert_int_equal(router->route[2].kind, RM_ROUTE_BLACKHOLE);
    assert_true(rm_ip_is_none(&router->route[3].path[0].gateway));
    assert_int_equal(router->route[3].path[0].interface, 1);
    assert_int_equal(router->neighbour_count, 1);
    assert_int_equal(router->neighbour[0].mac[5], 9);

    char text[TEXT_BYTES];
    FILE *const out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    rm_config_describe(config, out);
    assert_int_equal(fclose(out), 0);
    char const *const begin = strstr(text, "router: ");
    char *const end = strstr(text, "roles: ");
    assert_non_null(begin);
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(begin,
                        "router: mode route, room for 100 IPv4 and 4096 IPv6 routes\n"
                        "interfaces: 2\n"
                        "  p0: 10.0.0.1/24, 2001:db8::1/64, MTU 1500, longer IPv4 packets are cut\n"
                        "  p1.7: 10.0.7.1/24, MTU 1000, longer IPv4 packets are dropped, routes and neighbours of "
                        "kernel interface rm1\n"
                        "routes: 4\n"
                        "  0.0.0.0/0 via 10.0.0.2, via 10.0.7.2 weight 3\n"
                        "  2001:db8:1::/48 via fe80::2 by p0\n"
                        "  10.9.0.0/16 dropped\n"
                        "  10.8.0.0/16 by p1.7\n"
                        "neighbours: 1\n");
    rm_config_free(config);
}

static void other_modes_have_nothing_else(void **state) {
    struct rm_config *const config = load_config(*state, HEAD "router: {mode: macswap}\n");
    assert_int_equal(config->router->mode, RM_FORWARD_MACSWAP);
    rm_config_free(config);
}

static void the_section(void **state) {
    static struct wrong_yaml const wrong[] = {
        {HEAD, "1:1: the key \"router\" is missing, expected what the role forward does: router: {mode: route, "
               "interfaces: […]}, or router: {mode: io}"},
        {MACHINE PORTS "roles:\n  - {role: generate, ports: [p0, p1], core: @}\n"
                       "router: {mode: io}\n",
         "7:9: router: no role forwards, expected one in \"roles\": {role: forward, core: …, ports: […]}"},
        {HEAD "router: {mode: rout}\n",
         "7:16: router.mode: found \"rout\", expected one of: route, io, macswap, l2 (did you mean \"route\"?)"},
        {HEAD "router: {}\n", "7:9: router: the key \"interfaces\" is missing, expected the ports and our addresses "
                              "there: interfaces: [{port: …, addresses: [10.0.0.1/24]}, …]"},
        {HEAD "router: {mode: l2, interfaces: [{port: p0}]}\n",
         "7:32: router.interfaces: belongs to the mode route, and this router's is l2; take it out"},
        {HEAD "router: {ipv4_routes: 1, interfaces: [{port: p0}]}\n",
         "7:23: router.ipv4_routes: found 1, expected 64 to 4000000 routes"},
        {HEAD "router: {ipv6_routes: 1000001, interfaces: [{port: p0}]}\n",
         "7:23: router.ipv6_routes: found 1000001, expected 0 to 1000000 routes"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define INTERFACE(keys) HEAD "router: {interfaces: [{port: p1, addresses: [10.9.0.1/24]}, {" keys "}]}\n"

static void interfaces(void **state) {
    static struct wrong_yaml const wrong[] = {
        {INTERFACE("port: p2"), "7:68: router.interfaces[1].port: there is no port \"p2\" (did you mean \"p0\"?)"},
        {MACHINE PORTS "roles:\n  - {role: forward, ports: [p0], core: @}\n  - {role: generate, ports: [p1], core: @}\n"
                       "router: {interfaces: [{port: p1}]}\n",
         "8:30: router.interfaces[0].port: no role forwards port \"p1\", expected {role: forward, core: …, ports: "
         "[p1]}"},
        {INTERFACE("port: p1"),
         "7:68: router.interfaces[1].port: p1 is already router.interfaces[0], expected it once"},
        {INTERFACE("port: p0, vlan: 4095"), "7:78: router.interfaces[1].vlan: found 4095, expected 0 to 4094"},
        {INTERFACE("port: p0, mtu: 1501"),
         "7:77: router.interfaces[1].mtu: found 1501 bytes, expected 68 to 1500: the longest frame of port \"p0\" has "
         "1518 bytes, 18 of them for Ethernet and a tag"},
        {INTERFACE("port: p0, mtu: 1279, addresses: [\"::2/64\"]"),
         "7:77: router.interfaces[1].mtu: found 1279 bytes, expected 1280 or more: ::2/64 is IPv6"},
        {INTERFACE("port: p0, addresses: [10.0.0.1]"),
         "7:84: router.interfaces[1].addresses[0]: found \"10.0.0.1\", expected an address of ours with the length of "
         "its network's prefix, such as 10.0.0.1/24 or 2001:db8::1/64"},
        {INTERFACE("port: p0, addresses: [224.0.0.1/24]"),
         "7:84: router.interfaces[1].addresses[0]: found \"224.0.0.1/24\", expected an address of ours with the length "
         "of its network's prefix, such as 10.0.0.1/24 or 2001:db8::1/64"},
        {INTERFACE("port: p0, addresses: [10.1.0.1/24, 10.9.0.2/24]"),
         "7:97: router.interfaces[1].addresses[1]: interface p1 has an address of the same network, expected a network "
         "of its own for each"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define ROUTE(keys) HEAD INTERFACES "  routes:\n    - {" keys "}\n"

static void routes(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ROUTE("prefix: 10.1.0.1/16, action: blackhole"), "12:16: router.routes[0].prefix: found \"10.1.0.1/16\", "
                                                          "expected a prefix without bits behind its length, such "
                                                          "as 10.1.0.0/16 or 2001:db8:1::/48, or default"},
        {ROUTE("prefix: 10.1.0.0/33, action: blackhole"), "12:16: router.routes[0].prefix: found \"10.1.0.0/33\", "
                                                          "expected a prefix without bits behind its length, such "
                                                          "as 10.1.0.0/16 or 2001:db8:1::/48, or default"},
        {ROUTE("prefix: 10.1.0.0/16"), "12:7: router.routes[0]: the key \"paths\" is missing, expected where packets "
                                       "go: paths: [{via: 10.0.0.2}], or "
                                       "an action that drops them"},
        {ROUTE("prefix: 10.1.0.0/16, action: blackhole, paths: [{via: 10.0.0.2}]"),
         "12:55: router.routes[0].paths: a route that drops packets has no paths, take this key out"},
        {ROUTE("prefix: 10.1.0.0/16, paths: [{weight: 2}]"),
         "12:37: router.routes[0].paths[0]: found neither \"via\" nor \"interface\", expected the next router's "
         "address, or the interface that has the hosts"},
        {ROUTE("prefix: 10.1.0.0/16, paths: [{via: 10.3.0.1}]"),
         "12:43: router.routes[0].paths[0].via: no interface has a network with 10.3.0.1, expected the address of a "
         "neighbour, or the key \"interface\" too"},
        {ROUTE("prefix: 10.1.0.0/16, paths: [{via: \"2001:db8::2\"}]"),
         "12:43: router.routes[0].paths[0].via: found \"2001:db8::2\", expected the next router's IPv4 address"},
        {ROUTE("prefix: 10.1.0.0/16, paths: [{via: 10.3.0.1, interface: p1}]"),
         "12:64: router.routes[0].paths[0].interface: there is no interface \"p1\", expected the name of one of "
         "router.interfaces: its port, with .VLAN behind it in one"},
        {ROUTE("prefix: 10.1.0.0/16, paths: [{via: 10.0.0.2, weight: 0}]"),
         "12:61: router.routes[0].paths[0].weight: found 0, expected 1 to 255"},
        {ROUTE("prefix: 10.1.0.0/16, action: blackhole}\n    - {prefix: 10.1.0.0/16, action: prohibited"),
         "13:16: router.routes[1].prefix: is that of router.routes[0] already, expected one route with several paths"},
        {HEAD INTERFACES "  ipv6_routes: 0\n  routes:\n    - {prefix: \"::/0\", action: blackhole}\n",
         "13:16: router.routes[0].prefix: no IPv6 is routed: router.ipv6_routes is 0, expected 1 or more"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define NEIGHBOUR(keys) HEAD INTERFACES "  neighbours:\n    - {" keys "}\n"

static void neighbours(void **state) {
    static struct wrong_yaml const wrong[] = {
        {NEIGHBOUR("interface: p1, address: 10.0.0.2, mac: \"02:00:00:00:00:02\""),
         "12:19: router.neighbours[0].interface: there is no interface \"p1\", expected the name of one of "
         "router.interfaces: its port, with .VLAN behind it in one"},
        {NEIGHBOUR("interface: p0, address: 0.0.0.0, mac: \"02:00:00:00:00:02\""),
         "12:32: router.neighbours[0].address: found \"0.0.0.0\", expected the address of one host"},
        {NEIGHBOUR("interface: p0, address: 10.0.0.2, mac: \"01:00:00:00:00:02\""),
         "12:47: router.neighbours[0].mac: found \"01:00:00:00:00:02\", expected the MAC address of one host, such as "
         "\"02:00:0a:00:00:03\""},
    };
    EXPECT_ERRORS(*state, wrong);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(what_it_comes_to, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(other_modes_have_nothing_else, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(the_section, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(interfaces, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(routes, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(neighbours, make_config_file, remove_config_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
