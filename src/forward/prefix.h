// SPDX-License-Identifier: Apache-2.0
/** Addresses and prefixes of both versions of IP, as the router holds them. */
#ifndef RM_FORWARD_PREFIX_H
#define RM_FORWARD_PREFIX_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RM_IPV6_ADDRESS_BYTES = 16,
    RM_IPV4_PREFIX_MAX = 32,
    RM_IPV6_PREFIX_MAX = 128,
};

/** An address; all zeros is none. */
struct rm_ip {
    /** In network order. An IPv4 address has the first four, and zeros behind. */
    uint8_t byte[RM_IPV6_ADDRESS_BYTES];
    bool ipv6;
};

/** All addresses that begin with the same bits. The bits behind `length` are zero. */
struct rm_prefix {
    struct rm_ip ip;
    /** 0–32, or 0–128. */
    uint8_t length;
};

#endif
