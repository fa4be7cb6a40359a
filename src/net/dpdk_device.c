// SPDX-License-Identifier: Apache-2.0
#include "net/dpdk_device.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "base/fail.h"
#include "net/dpdk_log.h"

enum {
    /** Buffers that a thread keeps for itself: two bursts, so that the same few stay in its cache. */
    POOL_CACHE = 2 * RM_BURST,
    /** Per queue: one burst lent and one cache of up to 1.5 × POOL_CACHE in each direction make 512; twice that. */
    POOL_BUFFERS = 1024,
};

uint32_t rm_dpdk_device_name(char const *driver, char name[RM_DPDK_NAME_BYTES]) {
    for (uint32_t number = 0;; ++number) {
        uint16_t id;
        snprintf(name, RM_DPDK_NAME_BYTES, "%s%u", driver, number);
        if (rte_eth_dev_get_port_by_name(name, &id) != 0)
            return number;
    }
}

static enum rm_code check_queues(struct rm_dpdk_device const *device, struct rm_port_config const *config,
                                 struct rm_error *error) {
    struct rte_eth_dev_info info;
    if (rte_eth_dev_info_get(device->id, &info) != 0 || config->queues <= info.max_rx_queues)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; this kind has at most %u", config->name,
                   config->queues, info.max_rx_queues);
}

static enum rm_code make_pool(struct rm_dpdk_device *device, struct rm_port_config const *config,
                              struct rm_error *error) {
    unsigned const buffers = config->queues * (unsigned)POOL_BUFFERS - 1; // a ring of 2^n holds one less
    device->pool = rte_pktmbuf_pool_create(device->name, buffers, POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                           rte_eth_dev_socket_id(device->id));
    if (device->pool != NULL)
        return RM_OK;
    return rm_fail(error, RM_E_NO_SPACE,
                   "port '%s': no room for %u packet buffers (%s); raise the memory given to DPDK", config->name,
                   buffers, rte_strerror(rte_errno));
}

static enum rm_code make_queues(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                struct rm_error *error) {
    struct rte_eth_conf const plain = {0};
    int result = rte_eth_dev_configure(device->id, config->queues, config->queues, &plain);
    for (uint16_t queue = 0; queue < config->queues && result == 0; ++queue) {
        result = rte_eth_rx_queue_setup(device->id, queue, 0, SOCKET_ID_ANY, NULL, device->pool);
        if (result == 0)
            result = rte_eth_tx_queue_setup(device->id, queue, 0, SOCKET_ID_ANY, NULL);
    }
    if (result == 0)
        return RM_OK;
    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': DPDK refuses %u queues (%s): %s", config->name, config->queues,
                   rte_strerror(-result), words);
}

static enum rm_code plug_in(struct rm_dpdk_device *device, struct rm_port_config const *config, char const *arguments,
                            struct rm_error *error) {
    if (rte_lcore_count() == 0)
        return rm_fail(error, RM_E_ARGUMENT, "port '%s' needs DPDK; call rm_net_start before opening it", config->name);
    int result = rte_eal_hotplug_add("vdev", device->name, arguments);
    if (result == 0)
        result = rte_eth_dev_get_port_by_name(device->name, &device->id);
    if (result == 0)
        return RM_OK;
    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': DPDK cannot make %s,%s (%s): %s", config->name, device->name,
                   arguments, rte_strerror(-result), words);
}

enum rm_code rm_dpdk_device_open(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                 char const *arguments, struct rm_error *error) {
    rm_dpdk_log_clear();
    enum rm_code code = plug_in(device, config, arguments, error);
    if (code != RM_OK)
        return code;
    code = check_queues(device, config, error);
    if (code == RM_OK)
        code = make_pool(device, config, error);
    if (code == RM_OK)
        code = make_queues(device, config, error);
    if (code != RM_OK)
        rm_dpdk_device_close(device);
    return code;
}

enum rm_code rm_dpdk_device_start(struct rm_dpdk_device *device, char const *port_name, struct rm_error *error) {
    rm_dpdk_log_clear();
    int const result = rte_eth_dev_start(device->id);
    if (result == 0)
        return RM_OK;
    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': DPDK cannot start %s (%s): %s", port_name, device->name,
                   rte_strerror(-result), words);
}

void rm_dpdk_device_close(struct rm_dpdk_device *device) {
    (void)rte_eth_dev_stop(device->id); // refused for a device that never ran, which is as well
    (void)rte_eal_hotplug_remove("vdev", device->name);
    rte_mempool_free(device->pool);
    device->pool = NULL;
}

/** A burst's handles are its mbufs. */
static struct rte_mbuf **mbufs(struct rm_burst *burst) { return (struct rte_mbuf **)burst->handle; }

static bool checksum_good(struct rte_mbuf const *mbuf) {
    return (mbuf->ol_flags & (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK)) ==
           (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD);
}

uint32_t rm_dpdk_device_receive(struct rm_dpdk_device const *device, uint16_t queue, struct rm_burst *burst) {
    uint32_t const count = rte_eth_rx_burst(device->id, queue, mbufs(burst), RM_BURST);
    for (uint32_t i = 0; i < count; ++i) {
        struct rte_mbuf *const mbuf = mbufs(burst)[i];
        burst->data[i] = rte_pktmbuf_mtod(mbuf, uint8_t *);
        burst->length[i] = mbuf->data_len;
        burst->checksum_good[i] = checksum_good(mbuf);
    }
    return count;
}

void rm_dpdk_device_release(struct rm_burst *burst) { rte_pktmbuf_free_bulk(mbufs(burst), burst->count); }

uint32_t rm_dpdk_device_reserve(struct rm_dpdk_device const *device, struct rm_burst *burst, uint32_t count) {
    assert(count <= RM_BURST);
    while (count != 0 && rte_pktmbuf_alloc_bulk(device->pool, mbufs(burst), count) != 0)
        count /= 2; // all or nothing: what is left of a dry pool is found in a few steps
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = rte_pktmbuf_mtod(mbufs(burst)[i], uint8_t *);
    return count;
}

uint32_t rm_dpdk_device_send(struct rm_dpdk_device const *device, uint16_t queue, struct rm_burst *burst) {
    for (uint32_t i = 0; i < burst->count; ++i) {
        struct rte_mbuf *const mbuf = mbufs(burst)[i];
        assert(burst->length[i] > 0 && burst->length[i] <= RM_SEND_BYTES);
        mbuf->data_len = (uint16_t)burst->length[i];
        mbuf->pkt_len = burst->length[i];
    }
    return rte_eth_tx_burst(device->id, queue, mbufs(burst), (uint16_t)burst->count);
}

void rm_dpdk_device_totals(struct rm_dpdk_device const *device, struct rm_port_totals *totals) {
    struct rte_eth_stats stats;
    if (rte_eth_stats_get(device->id, &stats) == 0) {
        totals->missed = stats.imissed + stats.rx_nombuf;
        totals->errors = stats.ierrors;
        totals->unsent = stats.oerrors;
    }
}
