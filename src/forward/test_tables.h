// SPDX-License-Identifier: Apache-2.0
/** What tests of the router's tables share: DPDK started with room for them, and short ways to name things. */
#ifndef RM_FORWARD_TEST_TABLES_H
#define RM_FORWARD_TEST_TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "forward/routes.h"
#include "net/port.h"
#include "wire/address.h"
#include "wire/network_order.h"

static inline void tables_start(uint32_t memory_mib) {
    struct rm_net_config config = {.memory_mib = memory_mib};
    struct rm_error error;
    snprintf(config.prefix, sizeof config.prefix, "forward-%d", getpid());
    if (rm_net_start(&config, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

static inline struct rm_ip ipv4_address(char const *text) {
    struct rm_ip ip = {0};
    uint32_t host;
    assert_true(rm_ipv4_parse(text, &host));
    rm_store32(ip.byte, host);
    return ip;
}

static inline struct rm_prefix ipv4_prefix(char const *text, uint8_t length) {
    return (struct rm_prefix){.ip = ipv4_address(text), .length = length};
}

static inline struct rm_route route_by(struct rm_prefix prefix, uint32_t hop) {
    return (struct rm_route){.prefix = prefix, .path_count = 1, .path = {{.hop = hop, .weight = 1}}};
}

#endif
