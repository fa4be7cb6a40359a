// SPDX-License-Identifier: Apache-2.0
#include "net/rss.h"

#include <string.h>

#include <rte_ethdev.h>
#include <rte_thash.h>

enum {
    KEY_BITS_OF_SOURCE = 64, /**< those that reach 32 bits of hash from the source address, and one */
    USUAL_KEY_BYTES = 40,
    GROUP = RTE_ETH_RETA_GROUP_SIZE,
};

void rm_rss_make_key(uint32_t index_bits, uint8_t *key, uint32_t key_bytes) {
    memset(key, 0, key_bytes);
    for (uint32_t below = index_bits + 1; below <= KEY_BITS_OF_SOURCE; below += index_bits) {
        uint32_t const bit = KEY_BITS_OF_SOURCE - below;
        key[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
    }
}

uint16_t rm_rss_table_entry(uint32_t index, uint32_t index_bits, uint16_t queues) {
    uint32_t reversed = 0;
    for (uint32_t bit = 0; bit < index_bits; ++bit)
        reversed |= (index >> bit & 1) << (index_bits - 1 - bit);
    return (uint16_t)(reversed % queues);
}

static uint32_t index_bits_of(struct rm_rss const *rss) { return (uint32_t)__builtin_ctz(rss->table_size); }

uint16_t rm_rss_queue_of(struct rm_rss const *rss, uint32_t source_ipv4) {
    uint32_t addresses[2] = {source_ipv4, 0}; // the destination does not count
    uint32_t const hash = rte_softrss(addresses, 2, rss->key);
    return rm_rss_table_entry(hash & (rss->table_size - 1u), index_bits_of(rss), rss->queues);
}

void rm_rss_plan(struct rm_rss *rss, uint16_t id, uint16_t queues) {
    memset(rss, 0, sizeof *rss);
    struct rte_eth_dev_info info;
    if (rte_eth_dev_info_get(id, &info) != 0)
        return;
    rss->packets = info.flow_type_rss_offloads & (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 |
                                                  RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_OTHER);
    uint16_t const size = info.reta_size;
    bool const size_good = size >= queues && size <= RM_RSS_TABLE_MAX && (size & (size - 1)) == 0;
    // A driver that does not say takes the usual key; whether it did is read back.
    uint8_t const key_bytes = info.hash_key_size == 0 ? USUAL_KEY_BYTES : info.hash_key_size;
    if (rss->packets == 0 || !size_good || key_bytes < USUAL_KEY_BYTES || key_bytes > RM_RSS_KEY_BYTES_MAX)
        return;
    rss->table_size = size;
    rss->queues = queues;
    rss->key_bytes = key_bytes;
    rm_rss_make_key(index_bits_of(rss), rss->key, rss->key_bytes);
}

static struct rte_eth_rss_conf wanted_rss(struct rm_rss const *rss) {
    return (struct rte_eth_rss_conf){
        .rss_key = (uint8_t *)rss->key, .rss_key_len = rss->key_bytes, .rss_hf = rss->packets};
}

void rm_rss_ask(struct rm_rss const *rss, struct rte_eth_conf *configuration) {
    configuration->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    configuration->rx_adv_conf.rss_conf = wanted_rss(rss);
}

/** Some drivers do not look at the key when they are configured. */
static void set_key(struct rm_rss const *rss, uint16_t id) {
    struct rte_eth_rss_conf key = wanted_rss(rss);
    (void)rte_eth_dev_rss_hash_update(id, &key);
}

static bool key_is_set(struct rm_rss const *rss, uint16_t id) {
    uint8_t key[RM_RSS_KEY_BYTES_MAX] = {0};
    struct rte_eth_rss_conf is = {.rss_key = key, .rss_key_len = sizeof key};
    return rte_eth_dev_rss_hash_conf_get(id, &is) == 0 && memcmp(key, rss->key, rss->key_bytes) == 0;
}

bool rm_rss_set(struct rm_rss const *rss, uint16_t id) {
    struct rte_eth_rss_reta_entry64 table[RM_RSS_TABLE_MAX / GROUP] = {0};
    struct rte_eth_rss_reta_entry64 is[RM_RSS_TABLE_MAX / GROUP] = {0};
    for (uint32_t i = 0; i < rss->table_size; ++i) {
        table[i / GROUP].mask |= UINT64_C(1) << i % GROUP;
        table[i / GROUP].reta[i % GROUP] = rm_rss_table_entry(i, index_bits_of(rss), rss->queues);
        is[i / GROUP].mask = table[i / GROUP].mask;
    }
    if (!key_is_set(rss, id))
        set_key(rss, id);
    return rte_eth_dev_rss_reta_update(id, table, rss->table_size) == 0 &&
           rte_eth_dev_rss_reta_query(id, is, rss->table_size) == 0 && memcmp(is, table, sizeof is) == 0 &&
           key_is_set(rss, id);
}
