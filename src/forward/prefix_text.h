// SPDX-License-Identifier: Apache-2.0
/** Addresses and prefixes as people write them, and what is asked of them on the control side. */
#ifndef RM_FORWARD_PREFIX_TEXT_H
#define RM_FORWARD_PREFIX_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "forward/prefix.h"

enum {
    /** Bytes of the longest text, "/128" and the terminating zero too. */
    RM_IP_TEXT_BYTES = 50,
};

/** Reads "10.0.0.1" or "2001:db8::1". */
bool rm_ip_parse(char const *text, struct rm_ip *ip);
void rm_ip_format(struct rm_ip const *ip, char text[RM_IP_TEXT_BYTES]);

/** Reads "10.0.0.1/24": an address, and the length of its network's prefix. */
bool rm_ip_parse_with_length(char const *text, struct rm_ip *ip, uint8_t *length);

/** Reads "10.1.0.0/16" or "default" (of IPv4), "::/0". False too where a bit behind the length is set. */
bool rm_prefix_parse(char const *text, struct rm_prefix *prefix);
void rm_prefix_format(struct rm_prefix const *prefix, char text[RM_IP_TEXT_BYTES]);

/** The prefix of so many bits that holds the address. */
struct rm_prefix rm_prefix_of(struct rm_ip const *ip, uint8_t length);
bool rm_prefix_holds(struct rm_prefix const *prefix, struct rm_ip const *ip);

/** Bits of an address. */
uint8_t rm_ip_bits(struct rm_ip const *ip);
bool rm_ip_same(struct rm_ip const *one, struct rm_ip const *other);
bool rm_prefix_same(struct rm_prefix const *one, struct rm_prefix const *other);
bool rm_ip_is_none(struct rm_ip const *ip);
/** 224.0.0.0/4, or ff00::/8. */
bool rm_ip_is_group(struct rm_ip const *ip);
/** fe80::/10: IPv6 addresses of one link, which are never forwarded. */
bool rm_ip_is_link_local(struct rm_ip const *ip);

/** The address of one machine: neither none, nor of a group, nor of a loopback. */
bool rm_ip_is_host(struct rm_ip const *ip);

/** For tables of addresses: mixes the address into `seed`, upper bits into lower ones. */
uint32_t rm_ip_hash(struct rm_ip const *ip, uint32_t seed);

/** Host byte order, as src/wire has IPv4 addresses. */
uint32_t rm_ip_ipv4(struct rm_ip const *ip);
struct rm_ip rm_ip_of_ipv4(uint32_t ipv4);
struct rm_ip rm_ip_of_ipv6(uint8_t const ipv6[RM_IPV6_ADDRESS_BYTES]);

#endif
