// SPDX-License-Identifier: Apache-2.0
/** A link's text: what it says, what it need not say, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "link_endpoint.h"

static struct rm_link_config parsed(char const *text) {
    struct rm_link_config config;
    struct rm_error error = {0};
    if (rm_link_parse(text, &config, &error) != RM_OK)
        fail_msg("%s: %s", text, error.text);
    assert_string_equal(config.text, text);
    return config;
}

static void ethernet_has_defaults(void **state) {
    (void)state;
    static char const *const texts[] = {"af_packet:veth0", "af_xdp:veth0", "raw:veth0", "pci:0000:03:00.0",
                                        "memif:/tmp/a:b.sock,role=server"};
    static enum rm_link_kind const kinds[] = {RM_LINK_AF_PACKET, RM_LINK_AF_XDP, RM_LINK_RAW, RM_LINK_PCI,
                                              RM_LINK_MEMIF};
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        struct rm_link_config const config = parsed(texts[i]);
        assert_int_equal(config.kind, kinds[i]);
        assert_int_equal(config.address, 0xC6120001);
        assert_int_equal(config.peer, 0xC6120002);
        assert_int_equal(config.udp_port, 4660);
        assert_int_equal(config.peer_port, 4660);
        assert_int_equal(config.mtu, 1500);
        assert_int_equal(config.spin, kinds[i] != RM_LINK_RAW);
        assert_memory_equal(config.peer_mac, "\x02\x52\x4d\x00\x00\x02", 6);
    }
    assert_string_equal(parsed("pci:0000:03:00.0").where, "0000:03:00.0");
    assert_string_equal(parsed("memif:/tmp/a:b.sock,role=server").where, "/tmp/a:b.sock");
}

static void every_key_is_taken(void **state) {
    (void)state;
    struct rm_link_config const raw =
        parsed("raw:veth0,wait=spin,mtu=9000,mac=02:00:00:00:00:fe,address=10.0.0.1,peer=10.0.0.2,udp_port=65535");
    assert_true(raw.spin);
    assert_int_equal(raw.mtu, 9000);
    assert_int_equal(rm_link_largest_payload(&raw), 8972);
    assert_memory_equal(raw.peer_mac, "\x02\x00\x00\x00\x00\xfe", 6);
    assert_int_equal(raw.address, 0x0A000001);
    assert_int_equal(raw.peer, 0x0A000002);
    assert_int_equal(raw.udp_port, 65535);
    assert_int_equal(raw.peer_port, 65535);

    struct rm_link_config const udp = parsed("udp:127.0.0.1:1,peer=127.0.0.2:2,wait=block,batch=64");
    assert_int_equal(udp.kind, RM_LINK_UDP);
    assert_int_equal(udp.address, 0x7F000001);
    assert_int_equal(udp.udp_port, 1);
    assert_int_equal(udp.peer, 0x7F000002);
    assert_int_equal(udp.peer_port, 2);
    assert_int_equal(udp.batch, 64);
    assert_false(udp.spin);
    assert_int_equal(rm_link_largest_payload(&udp), 1472);

    assert_true(parsed("memif:a,role=server").server);
    assert_false(parsed("memif:a,role=client").server);
}

/** A text, and a word that its error must have. */
static char const *const wrong[][2] = {
    {"", "KIND:WHERE"},
    {"veth0", "memif, af_packet"},
    {"raw", "the name of a network interface"},
    {"Raw:veth0", "found \"Raw\""},
    {"raw:", "found \"\""},
    {"raw:an_interface_too_long", "at most 15 bytes"},
    {"raw:veth0,", "KEY=VALUE"},
    {"raw:veth0,wait", "found \"wait\", expected KEY=VALUE"},
    {"raw:veth0,wait=sleep", "block or spin"},
    {"raw:veth0,speed=1", "expected one of: wait, mtu, mac, address, peer, udp_port"},
    {"raw:veth0,batch=2", "unknown key \"batch\""},
    {"raw:veth0,wait=spin,wait=spin", "wait is there twice"},
    {"raw:veth0,mtu=67", "68 to 9000"},
    {"raw:veth0,mtu=9001", "68 to 9000"},
    {"raw:veth0,mtu=1500x", "found \"1500x\""},
    {"raw:veth0,mtu=", "found \"\""},
    {"raw:veth0,mac=02:00:00:00:00", "a MAC address"},
    {"raw:veth0,mac=02:00:00:00:00:0g", "a MAC address"},
    {"raw:veth0,address=10.0.0", "an IPv4 address"},
    {"raw:veth0,peer=10.0.0.1:5", "an IPv4 address"},
    {"raw:veth0,udp_port=0", "1 to 65535"},
    {"raw:veth0,udp_port=65536", "1 to 65535"},
    {"af_xdp:veth0,wait=block", "unknown key \"wait\""},
    {"memif:/tmp/a.sock", "role=server or role=client"},
    {"memif:/tmp/a.sock,role=master", "server or client"},
    {"udp:127.0.0.1", "our ADDRESS:PORT"},
    {"udp:127.0.0.1:0,peer=127.0.0.1:1", "our ADDRESS:PORT"},
    {"udp:127.0.0.1:4660", "expected peer=ADDRESS:PORT"},
    {"udp:127.0.0.1:4660,peer=127.0.0.1", "the peer's ADDRESS:PORT"},
    {"udp:127.0.0.1:4660,peer=127.0.0.1:1,batch=65", "1 to 64"},
    {"udp:127.0.0.1:4660,peer=127.0.0.1:1,batch=0", "1 to 64"},
    {"udp:127.0.0.1:4660,peer=127.0.0.1:1,mac=02:00:00:00:00:01", "unknown key \"mac\""},
};

static void bad_texts_are_refused_in_words(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct rm_link_config config;
        struct rm_error error = {0};
        if (rm_link_parse(wrong[i][0], &config, &error) != RM_E_ARGUMENT || strstr(error.text, wrong[i][1]) == NULL)
            fail_msg("\"%s\": expected \"%s\" in: %s", wrong[i][0], wrong[i][1], error.text);
    }
}

static void a_text_of_any_length_is_refused(void **state) {
    (void)state;
    static char text[2000];
    for (size_t length = RM_LINK_TEXT_BYTES; length < sizeof text; length += 97) {
        memset(text, 'a', length);
        memcpy(text, "memif:", 6);
        text[length] = '\0';
        struct rm_link_config config;
        struct rm_error error = {0};
        assert_int_equal(rm_link_parse(text, &config, &error), RM_E_ARGUMENT);
        assert_non_null(strstr(error.text, "longer than"));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(ethernet_has_defaults),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(bad_texts_are_refused_in_words),
        cmocka_unit_test(a_text_of_any_length_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
