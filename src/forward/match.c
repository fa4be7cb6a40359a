// SPDX-License-Identifier: Apache-2.0
/* Two faults of DPDK shape this.
 *
 * DPDK (22.11) writes over its whole table when a prefix that holds the last address gets a value while a longer one that
 * holds it is there. So these stand beside it.
 *
 * DPDK (22.11 and later) counts the tables behind the first step wrongly where a prefix is added whose parent has the same
 * value: it takes none for it and gives one back later, until it says that it is full. So the value of a prefix that may
 * need such a table is never its parent's: beside the group it has a bit (IPv4: longer than the first step), or the
 * prefix's length (IPv6). */
#include "forward/match.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_memory.h>
#include <rte_rib.h>
#include <rte_rib6.h>

#include "base/fail.h"
#include "wire/network_order.h"

enum {
    /** Of two bytes an entry, so that as much of the table as can be lies in the cache. */
    IPV4_SECOND_STEPS_MAX = 32767,
    IPV4_SECOND_STEPS_LEAST = 1024,
    IPV6_STEPS_EACH = 8, /**< tables of 8 bits that a route takes, where it shares some with others */
    IPV6_STEPS_LEAST = 1024,
    STEP_ENTRIES = 256,
    FIRST_STEP_ENTRIES = 1 << 24,
    /** Of a node of the tree of prefixes with its place in a pool; a prefix takes two at most. */
    NODE_BYTES = 192,
    NODES_EACH = 2,
    BYTES_IN_MIB = 1 << 20,
    FIRST_STEP_BITS = 24,
    IPV4_VALUE_BITS = 1, /**< beside the group */
    IPV6_VALUE_BITS = 8,
};

_Static_assert(((RM_PATH_GROUPS_MAX - 1) << IPV4_VALUE_BITS | 1) <= 32767, "DPDK keeps a bit of two bytes");

static uint64_t prefix_value(struct rm_prefix const *prefix, uint32_t group) {
    return prefix->ip.ipv6 ? (uint64_t)group << IPV6_VALUE_BITS | prefix->length
                           : (uint64_t)group << IPV4_VALUE_BITS | (prefix->length > FIRST_STEP_BITS);
}

static uint32_t ipv4_second_steps(struct rm_routes_limits const *limits) {
    if (limits->ipv4_routes < IPV4_SECOND_STEPS_LEAST)
        return IPV4_SECOND_STEPS_LEAST;
    return limits->ipv4_routes < IPV4_SECOND_STEPS_MAX ? limits->ipv4_routes : IPV4_SECOND_STEPS_MAX;
}

static uint32_t ipv6_steps(struct rm_routes_limits const *limits) {
    return limits->ipv6_routes * IPV6_STEPS_EACH + IPV6_STEPS_LEAST;
}

uint32_t rm_match_memory_mib(struct rm_routes_limits const *limits) {
    uint64_t bytes = FIRST_STEP_ENTRIES * UINT64_C(2) + ipv4_second_steps(limits) * UINT64_C(2) * STEP_ENTRIES +
                     limits->ipv4_routes * UINT64_C(1) * NODES_EACH * NODE_BYTES;
    if (limits->ipv6_routes != 0)
        bytes += FIRST_STEP_ENTRIES * UINT64_C(4) + ipv6_steps(limits) * UINT64_C(4) * (STEP_ENTRIES + 2) +
                 limits->ipv6_routes * UINT64_C(1) * NODES_EACH * NODE_BYTES;
    enum { AROUND_MIB = 8 };
    return (uint32_t)(bytes / BYTES_IN_MIB) + AROUND_MIB;
}

static enum rm_code match_refused(struct rm_routes_limits const *limits, struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE,
                   "no memory for tables of %u IPv4 and %u IPv6 routes (%s); they take %u MiB of DPDK's memory, twice: "
                   "ask for fewer routes, or free some memory",
                   limits->ipv4_routes, limits->ipv6_routes, rte_strerror(rte_errno), rm_match_memory_mib(limits));
}

enum rm_code rm_match_make(struct rm_match *match, char const *name, struct rm_routes_limits const *limits,
                           struct rm_error *error) {
    char own[24];
    *match = (struct rm_match){0};
    struct rte_fib_conf ipv4 = {.type = RTE_FIB_DIR24_8, .max_routes = (int)limits->ipv4_routes};
    ipv4.dir24_8.nh_sz = RTE_FIB_DIR24_8_2B;
    ipv4.dir24_8.num_tbl8 = ipv4_second_steps(limits);
    snprintf(own, sizeof own, "%s-4", name);
    match->ipv4 = rte_fib_create(own, SOCKET_ID_ANY, &ipv4);
    if (match->ipv4 == NULL)
        return match_refused(limits, error);
    if (limits->ipv6_routes == 0)
        return RM_OK;
    struct rte_fib6_conf ipv6 = {.type = RTE_FIB6_TRIE, .max_routes = (int)limits->ipv6_routes};
    ipv6.trie.nh_sz = RTE_FIB6_TRIE_4B;
    ipv6.trie.num_tbl8 = ipv6_steps(limits);
    snprintf(own, sizeof own, "%s-6", name);
    match->ipv6 = rte_fib6_create(own, SOCKET_ID_ANY, &ipv6);
    if (match->ipv6 != NULL)
        return RM_OK;
    enum rm_code const code = match_refused(limits, error);
    rm_match_free(match);
    return code;
}

void rm_match_free(struct rm_match *match) {
    rte_fib_free(match->ipv4);
    rte_fib6_free(match->ipv6);
    *match = (struct rm_match){0};
}

static uint32_t ipv4_of(struct rm_ip const *ip) { return rm_load32(ip->byte); }

static uint32_t leading_ones(uint8_t const *byte, uint32_t bytes) {
    uint32_t ones = 0;
    for (uint32_t i = 0; i < bytes; ++i, ones += 8)
        if (byte[i] != 0xFF)
            return ones + (uint32_t)__builtin_clz(~((uint32_t)byte[i] << 24));
    return ones;
}

static uint32_t address_ones(struct rm_ip const *ip) { return leading_ones(ip->byte, ip->ipv6 ? 16 : 4); }

/** The bits of a prefix are all ones. */
static bool holds_last(struct rm_prefix const *prefix) { return address_ones(&prefix->ip) == prefix->length; }

static struct rm_match_last *match_last(struct rm_match *match, bool ipv6) {
    return ipv6 ? &match->last_ipv6 : &match->last_ipv4;
}

static struct rm_match_last const *match_last_of(struct rm_match const *match, bool ipv6) {
    return ipv6 ? &match->last_ipv6 : &match->last_ipv4;
}

static void match_last_set(struct rm_match_last *last, uint32_t length, uint32_t group) {
    last->group[length] = (uint16_t)group;
    uint16_t longest = 0;
    for (uint32_t ones = 0; ones <= RM_IPV6_PREFIX_MAX; ++ones) {
        if (last->group[ones] != 0)
            longest = last->group[ones];
        last->longest[ones] = longest;
    }
}

bool rm_match_set(struct rm_match *match, struct rm_prefix const *prefix, uint32_t group) {
    if (holds_last(prefix)) {
        match_last_set(match_last(match, prefix->ip.ipv6), prefix->length, group);
        return !prefix->ip.ipv6 || match->ipv6 != NULL;
    }
    if (!prefix->ip.ipv6)
        return rte_fib_add(match->ipv4, ipv4_of(&prefix->ip), prefix->length, prefix_value(prefix, group)) == 0;
    return match->ipv6 != NULL &&
           rte_fib6_add(match->ipv6, prefix->ip.byte, prefix->length, prefix_value(prefix, group)) == 0;
}

void rm_match_remove(struct rm_match *match, struct rm_prefix const *prefix) {
    if (holds_last(prefix))
        match_last_set(match_last(match, prefix->ip.ipv6), prefix->length, 0);
    else if (!prefix->ip.ipv6)
        rte_fib_delete(match->ipv4, ipv4_of(&prefix->ip), prefix->length);
    else if (match->ipv6 != NULL)
        rte_fib6_delete(match->ipv6, prefix->ip.byte, prefix->length);
}

static uint32_t node_group(struct rte_rib_node const *node) {
    uint64_t group = 0;
    if (node != NULL)
        rte_rib_get_nh(node, &group);
    return (uint32_t)(group >> IPV4_VALUE_BITS);
}

static uint32_t node6_group(struct rte_rib6_node const *node) {
    uint64_t group = 0;
    if (node != NULL)
        rte_rib6_get_nh(node, &group);
    return (uint32_t)(group >> IPV6_VALUE_BITS);
}

static void node_prefix(struct rte_rib_node const *node, struct rm_prefix *prefix) {
    uint32_t ipv4 = 0;
    *prefix = (struct rm_prefix){0};
    if (node == NULL)
        return;
    rte_rib_get_ip(node, &ipv4);
    rte_rib_get_depth(node, &prefix->length);
    rm_store32(prefix->ip.byte, ipv4);
}

static void node6_prefix(struct rte_rib6_node const *node, struct rm_prefix *prefix) {
    *prefix = (struct rm_prefix){.ip.ipv6 = true};
    if (node == NULL)
        return;
    rte_rib6_get_ip(node, prefix->ip.byte);
    rte_rib6_get_depth(node, &prefix->length);
}

uint32_t rm_match_exact(struct rm_match const *match, struct rm_prefix const *prefix) {
    if (holds_last(prefix))
        return match_last_of(match, prefix->ip.ipv6)->group[prefix->length];
    if (!prefix->ip.ipv6)
        return node_group(rte_rib_lookup_exact(rte_fib_get_rib(match->ipv4), ipv4_of(&prefix->ip), prefix->length));
    if (match->ipv6 == NULL)
        return 0;
    return node6_group(rte_rib6_lookup_exact(rte_fib6_get_rib(match->ipv6), prefix->ip.byte, prefix->length));
}

/** The longest of those apart that fits an address. */
static uint32_t match_longest_last(struct rm_match_last const *last, struct rm_ip const *address,
                                   struct rm_prefix *prefix) {
    uint32_t length = address_ones(address);
    while (length > 0 && last->group[length] == 0)
        --length;
    *prefix = (struct rm_prefix){.ip.ipv6 = address->ipv6, .length = (uint8_t)length};
    for (uint32_t bit = 0; bit < length; ++bit)
        prefix->ip.byte[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    return last->group[length];
}

uint32_t rm_match_longest(struct rm_match const *match, struct rm_ip const *address, struct rm_prefix *prefix) {
    uint32_t group = 0;
    if (!address->ipv6) {
        struct rte_rib_node const *const node = rte_rib_lookup(rte_fib_get_rib(match->ipv4), ipv4_of(address));
        node_prefix(node, prefix);
        group = node_group(node);
    } else if (match->ipv6 != NULL) {
        struct rte_rib6_node const *const node = rte_rib6_lookup(rte_fib6_get_rib(match->ipv6), address->byte);
        node6_prefix(node, prefix);
        group = node6_group(node);
    }
    return group != 0 ? group : match_longest_last(match_last_of(match, address->ipv6), address, prefix);
}

typedef bool match_seer(void *context, struct rm_prefix const *prefix, uint32_t group);

static bool match_list_last(struct rm_match_last const *last, bool ipv6, match_seer *see, void *context) {
    struct rm_prefix prefix = {.ip.ipv6 = ipv6};
    bool more = true;
    for (uint32_t length = 0; more && length <= (ipv6 ? RM_IPV6_PREFIX_MAX : RM_IPV4_PREFIX_MAX); ++length) {
        prefix.length = (uint8_t)length;
        if (length > 0)
            prefix.ip.byte[(length - 1) / 8] |= (uint8_t)(0x80 >> (length - 1) % 8);
        if (last->group[length] != 0)
            more = see(context, &prefix, last->group[length]);
    }
    return more;
}

static void match_list_ipv4(struct rte_rib *rib, match_seer *see, void *context) {
    struct rte_rib_node *node = NULL;
    struct rm_prefix prefix;
    bool more = true;
    while (more && (node = rte_rib_get_nxt(rib, 0, 0, node, RTE_RIB_GET_NXT_ALL)) != NULL) {
        node_prefix(node, &prefix);
        more = see(context, &prefix, node_group(node));
    }
}

static void match_list_ipv6(struct rte_rib6 *rib, match_seer *see, void *context) {
    uint8_t const none[RM_IPV6_ADDRESS_BYTES] = {0};
    struct rte_rib6_node *node = NULL;
    struct rm_prefix prefix;
    bool more = true;
    while (more && (node = rte_rib6_get_nxt(rib, none, 0, node, RTE_RIB6_GET_NXT_ALL)) != NULL) {
        node6_prefix(node, &prefix);
        more = see(context, &prefix, node6_group(node));
    }
}

void rm_match_list(struct rm_match const *match, bool ipv6, match_seer *see, void *context) {
    if (!match_list_last(match_last_of(match, ipv6), ipv6, see, context))
        return;
    if (!ipv6)
        match_list_ipv4(rte_fib_get_rib(match->ipv4), see, context);
    else if (match->ipv6 != NULL)
        match_list_ipv6(rte_fib6_get_rib(match->ipv6), see, context);
}

void rm_match_ipv4(struct rm_match const *match, uint32_t *address, uint64_t *group, uint32_t count) {
    rte_fib_lookup_bulk(match->ipv4, address, group, (int)count);
    for (uint32_t i = 0; i < count; ++i)
        group[i] =
            group[i] != 0
                ? group[i] >> IPV4_VALUE_BITS
                : match->last_ipv4.longest[address[i] == UINT32_MAX ? RM_IPV4_PREFIX_MAX : __builtin_clz(~address[i])];
}

void rm_match_ipv6(struct rm_match const *match, uint8_t (*address)[RM_IPV6_ADDRESS_BYTES], uint64_t *group,
                   uint32_t count) {
    memset(group, 0, count * sizeof *group);
    if (match->ipv6 != NULL)
        rte_fib6_lookup_bulk(match->ipv6, address, group, (int)count);
    for (uint32_t i = 0; i < count; ++i)
        group[i] = group[i] != 0 ? group[i] >> IPV6_VALUE_BITS
                                 : match->last_ipv6.longest[leading_ones(address[i], RM_IPV6_ADDRESS_BYTES)];
}
