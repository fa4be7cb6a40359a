// SPDX-License-Identifier: Apache-2.0
/** Receive-side scaling by source address alone.
 *
 * A card hashes source, destination and perhaps UDP ports of a datagram (Toeplitz) and takes the low bits of the hash
 * as an index into a table of queues. Fragments have no ports, so they would land elsewhere than whole datagrams, and a
 * multicast instrument elsewhere than a unicast one. The key is ours, however: bit i of the addresses (0 is the
 * source's highest, 32 the destination's, 64 the source port's) XORs the 32 key bits that begin at bit i into the hash,
 * so it reaches the r low bits of it through key bits i + 32 - r … i + 31. With all key bits from 64 - r on zero,
 * destination and ports reach none of them. Of those that are left, bits 63 - r, 63 - 2r, … are one: the groups of r
 * bits of the source address, XORed, become the index, in reversed order of bits. The table undoes that order, so that
 * addresses that follow each other go to the queues in turn.
 */
#ifndef RM_NET_RSS_H
#define RM_NET_RSS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RM_RSS_KEY_BYTES_MAX = 64,
    /** Most entries of a table. */
    RM_RSS_TABLE_MAX = 512,
};

struct rte_eth_conf;

struct rm_rss {
    /** Entries, a power of two; 0: this device has no distribution that we could compute. */
    uint16_t table_size;

    uint16_t queues;
    uint8_t key_bytes;
    /** DPDK's RTE_ETH_RSS_…: which packets are hashed. */
    uint64_t packets;

    uint8_t key[RM_RSS_KEY_BYTES_MAX];
};

/** The key for a table of 2^`index_bits` entries, up to RM_RSS_TABLE_MAX. */
void rm_rss_make_key(uint32_t index_bits, uint8_t *key, uint32_t key_bytes);

/** The queue in entry `index` of a table. */
uint16_t rm_rss_table_entry(uint32_t index, uint32_t index_bits, uint16_t queues);

/** The queue in which datagrams from a source arrive. */
uint16_t rm_rss_queue_of(struct rm_rss const *rss, uint32_t source_ipv4);

/** Finds what device `id`, DPDK's number, can do for `queues` queues. */
void rm_rss_plan(struct rm_rss *rss, uint16_t id, uint16_t queues);

/** Adds a plan to the device's configuration. */
void rm_rss_ask(struct rm_rss const *rss, struct rte_eth_conf *configuration);

/** Sets the table of the started device; true when key and table then read back as they were meant. */
bool rm_rss_set(struct rm_rss const *rss, uint16_t id);

#endif
