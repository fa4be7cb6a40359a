// SPDX-License-Identifier: Apache-2.0
/** The hash that cards share frames out by, with the key and table that make it follow the source alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_thash.h>

#include "net/port.h"
#include "net/rss.h"

enum { KEY_BYTES = 40 };
static uint32_t const NETWORK = 0x0A140000;

/** Microsoft's verification suite of Toeplitz, source and destination with their hash: what rte_softrss means. */
static void the_hash_is_the_one_of_the_cards(void **state) {
    (void)state;
    static uint8_t const key[KEY_BYTES] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                           0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                           0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                           0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
    static struct {
        uint32_t addresses[2];
        uint32_t hash;
    } const known[] = {{{0x420995BB, 0xA18E6450}, 0x323e8fc2},
                       {{0xC75C6F02, 0x41458C53}, 0xd718262a},
                       {{0x1813C65F, 0x0C16CFB8}, 0xd2d0a5de},
                       {{0x261BCD1E, 0xD18EA306}, 0x82989176},
                       {{0x9927A3BF, 0xCABC7F02}, 0x5d1809c5}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        uint32_t addresses[2];
        memcpy(addresses, known[i].addresses, sizeof addresses);
        assert_int_equal(rte_softrss(addresses, 2, key), known[i].hash);
    }
}

static struct rm_rss make(uint16_t table_size, uint16_t queues) {
    struct rm_rss rss = {.table_size = table_size, .queues = queues, .key_bytes = KEY_BYTES};
    rm_rss_make_key((uint32_t)__builtin_ctz(table_size), rss.key, rss.key_bytes);
    return rss;
}

/** The queue as a card finds it: from addresses and ports, or for fragments from addresses only. */
static uint16_t queue_by_card(struct rm_rss const *rss, uint32_t source, uint32_t destination, uint32_t ports,
                              uint32_t words) {
    uint32_t tuple[3] = {source, destination, ports};
    uint32_t const index = rte_softrss(tuple, words, rss->key) & (rss->table_size - 1u);
    return rm_rss_table_entry(index, (uint32_t)__builtin_ctz(rss->table_size), rss->queues);
}

static void only_the_source_decides(void **state) {
    (void)state;
    static uint32_t const others[] = {0, 1, 0x0A140001, 0xEF010203, 0x55555555, 0xAAAAAAAA, UINT32_MAX};
    uint16_t const most = RM_RSS_TABLE_MAX;
    for (uint16_t table_size = 2; table_size <= most; table_size = (uint16_t)(2 * table_size)) {
        struct rm_rss const rss = make(table_size, 2);
        for (uint32_t source = NETWORK; source < NETWORK + 1000; source += 7)
            for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
                uint16_t const queue = rm_rss_queue_of(&rss, source);
                assert_int_equal(queue_by_card(&rss, source, others[i], others[i], 2), queue);
                assert_int_equal(queue_by_card(&rss, source, others[i], ~others[i], 3), queue);
            }
    }
}

static void sources_in_a_row_go_to_the_queues_in_turn(void **state) {
    (void)state;
    static uint16_t const sizes[] = {64, 128, 512};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        for (uint16_t queues = 2; queues <= 16; queues = (uint16_t)(2 * queues)) {
            struct rm_rss const rss = make(sizes[i], queues);
            uint32_t count[16] = {0};
            for (uint32_t source = NETWORK; source < NETWORK + sizes[i]; ++source)
                ++count[rm_rss_queue_of(&rss, source)];
            for (uint16_t queue = 0; queue < queues; ++queue)
                assert_int_equal(count[queue], sizes[i] / queues);
        }
}

/** Sources that differ in any one octet only, too. */
static void every_octet_counts(void **state) {
    (void)state;
    struct rm_rss const rss = make(128, 4);
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        uint32_t count[4] = {0};
        for (uint32_t octet = 0; octet < 256; ++octet)
            ++count[rm_rss_queue_of(&rss, octet << shift)];
        for (uint16_t queue = 0; queue < 4; ++queue)
            assert_int_not_equal(count[queue], 0);
    }
}

/** net_null takes key and table, as a card does. */
static void a_device_that_can_is_reported(void **state) {
    (void)state;
    struct rm_net_config const net = {.prefix = "ringmaster-tests"};
    struct rm_port_config const config = {.name = "null", .kind = RM_PORT_NULL, .queues = 4};
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    assert_int_equal(rm_net_start(&net, &error), RM_OK);
    rm_port_open(&config, &port, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(rm_port_steering(port), RM_STEERING_RSS);
    assert_string_equal(rm_steering_name(RM_STEERING_RSS), "RSS");
    struct rm_rss const rss = make(128, 4);
    for (uint32_t source = NETWORK; source < NETWORK + 300; ++source)
        assert_int_equal(rm_port_queue_of(port, source), rm_rss_queue_of(&rss, source));
    rm_port_close(port);
}

/** net_ring has several queues and no way to choose: nothing is claimed about it that is not known. */
static void a_device_that_cannot_is_believed(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 2};
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    rm_port_open(&config, &port, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(rm_port_steering(port), RM_STEERING_NONE);
    assert_int_equal(rm_port_queue_of(port, NETWORK), RM_QUEUE_ANY);
    rm_port_close(port);
    rm_net_stop();
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_hash_is_the_one_of_the_cards),
        cmocka_unit_test(only_the_source_decides),
        cmocka_unit_test(sources_in_a_row_go_to_the_queues_in_turn),
        cmocka_unit_test(every_octet_counts),
        cmocka_unit_test(a_device_that_can_is_reported),
        cmocka_unit_test(a_device_that_cannot_is_believed),
    };
    return cmocka_run_group_tests_name("RSS", tests, NULL, NULL);
}
