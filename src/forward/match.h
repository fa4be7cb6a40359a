// SPDX-License-Identifier: Apache-2.0
/** Longest-prefix match of both IP versions: prefix → number of a path group, 0 where no prefix fits. DPDK's rte_fib (a
 * table of the first 24 bits, and one of 8 bits behind it) and rte_fib6 (a trie of such steps). */
#ifndef RM_FORWARD_MATCH_H
#define RM_FORWARD_MATCH_H

#include <ringmaster/error.h>

#include "forward/prefix.h"
#include "forward/routes.h"

struct rte_fib;
struct rte_fib6;

/** The prefixes that hold the last address: 0.0.0.0/0, 128.0.0.0/1, 192.0.0.0/2, …, each the only one of its length.
 * All others that fit an address are longer than these, so these are asked last, and by the address's leading ones. */
struct rm_match_last {
    /** [length]: the group; 0: it is not there. */
    uint16_t group[RM_IPV6_PREFIX_MAX + 1];
    /** [leading ones]: the group of the longest that fits. */
    uint16_t longest[RM_IPV6_PREFIX_MAX + 1];
};

struct rm_match {
    struct rte_fib *ipv4;
    /** NULL: no IPv6 is routed. */
    struct rte_fib6 *ipv6;
    struct rm_match_last last_ipv4;
    struct rm_match_last last_ipv6;
};

/** DPDK's memory that one takes, in MiB. */
uint32_t rm_match_memory_mib(struct rm_routes_limits const *limits);

/** `name` is unique in the process, of at most 16 bytes. */
enum rm_code rm_match_make(struct rm_match *match, char const *name, struct rm_routes_limits const *limits,
                           struct rm_error *error);
void rm_match_free(struct rm_match *match);

/** Adds a prefix, or gives it another group. False: no room. */
bool rm_match_set(struct rm_match *match, struct rm_prefix const *prefix, uint32_t group);
void rm_match_remove(struct rm_match *match, struct rm_prefix const *prefix);

/** The group of exactly this prefix; 0: it is not there. */
uint32_t rm_match_exact(struct rm_match const *match, struct rm_prefix const *prefix);
/** The group of the longest prefix that fits, and the prefix; 0: none fits. */
uint32_t rm_match_longest(struct rm_match const *match, struct rm_ip const *address, struct rm_prefix *prefix);

/** Calls `see` for each prefix of one version, in no order that is promised, until it returns false. */
void rm_match_list(struct rm_match const *match, bool ipv6,
                   bool (*see)(void *context, struct rm_prefix const *prefix, uint32_t group), void *context);

/** Groups of `count` addresses: IPv4 in host byte order, IPv6 as they stand in packets. */
void rm_match_ipv4(struct rm_match const *match, uint32_t *address, uint64_t *group, uint32_t count);
void rm_match_ipv6(struct rm_match const *match, uint8_t (*address)[RM_IPV6_ADDRESS_BYTES], uint64_t *group,
                   uint32_t count);

#endif
