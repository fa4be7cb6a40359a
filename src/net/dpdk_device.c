// SPDX-License-Identifier: Apache-2.0
#include "net/dpdk_device.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "base/fail.h"
#include "net/dpdk_log.h"
#include "net/steering.h"

enum { MTU_OVERHEAD_BYTES = 18 /**< of a frame without FCS: Ethernet header and VLAN tag */ };

/** What drivers keep for themselves, per queue, as the kinds ask for it. */
static uint32_t most_held(struct rm_port_config const *config) {
    switch (config->kind) {
    case RM_PORT_RING:
        return config->ring_slots != 0 ? config->ring_slots : RM_RING_SLOTS;
    case RM_PORT_AF_XDP:
        return 4096;
    case RM_PORT_MEMIF:
    case RM_PORT_AF_PACKET:
    case RM_PORT_PCAP:
    case RM_PORT_NULL:
    case RM_PORT_UDP:
        return 0;
    default:
        return 2048;
    }
}

uint32_t rm_dpdk_memory_mib(struct rm_port_config const *config) {
    if (config->kind == RM_PORT_MEMIF && !rm_packets_outlive(config))
        return 0;
    return rm_packet_pool_mib(config, most_held(config));
}

uint32_t rm_dpdk_device_name(char const *driver, char name[RM_DPDK_NAME_BYTES]) {
    for (uint32_t number = 0;; ++number) {
        uint16_t id;
        snprintf(name, RM_DPDK_NAME_BYTES, "%s%u", driver, number);
        if (rte_eth_dev_get_port_by_name(name, &id) != 0)
            return number;
    }
}

/** Also finds out how many queues the device shall have. */
static enum rm_code check_queues(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                 struct rm_dpdk_wants const *wants, struct rm_error *error) {
    device->receive_queues = config->spread ? 1 : config->queues;
    device->send_queues = wants->send_queues;
    struct rte_eth_dev_info info;
    if (rte_eth_dev_info_get(device->id, &info) != 0)
        return RM_OK;
    if (device->send_queues > info.max_tx_queues)
        device->send_queues = info.max_tx_queues;
    if (device->receive_queues <= info.max_rx_queues)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; this device has at most %u", config->name,
                   config->queues, info.max_rx_queues);
}

/** Whether a card, or the kernel, reads and writes the buffers by addresses of its own. */
static bool reached_from_outside(enum rm_port_kind kind) { return kind == RM_PORT_PCI || kind == RM_PORT_AF_XDP; }

static enum rm_code make_pool(struct rm_dpdk_device *device, struct rm_port_config const *config,
                              struct rm_dpdk_wants const *wants, struct rm_error *error) {
    struct rm_packet_pool_wants const pool = {.name = device->name,
                                              .buffer_bytes = rm_packet_bytes(config, wants->buffer_bytes),
                                              .held_buffers = wants->held_buffers,
                                              .socket = rte_eth_dev_socket_id(device->id),
                                              .packed = !reached_from_outside(config->kind)};
    device->buffer_bytes = pool.buffer_bytes;
    return rm_packet_pool_make(&device->pool, config, &pool, error);
}

static int set_mtu(struct rm_dpdk_device const *device, struct rm_port_config const *config,
                   struct rm_dpdk_wants const *wants) {
    if (!wants->sets_mtu || rm_longest_frame(config) <= RM_LONGEST_FRAME)
        return 0;
    return rte_eth_dev_set_mtu(device->id, (uint16_t)(config->longest_frame - MTU_OVERHEAD_BYTES));
}

static int set_up_queues(struct rm_dpdk_device const *device, struct rm_dpdk_wants const *wants) {
    uint16_t in = wants->descriptors, out = wants->descriptors;
    int result = in == 0 ? 0 : rte_eth_dev_adjust_nb_rx_tx_desc(device->id, &in, &out);
    for (uint16_t queue = 0; queue < device->receive_queues && result == 0; ++queue)
        result = rte_eth_rx_queue_setup(device->id, queue, in, SOCKET_ID_ANY, NULL, device->pool);
    for (uint16_t queue = 0; queue < device->send_queues && result == 0; ++queue)
        result = rte_eth_tx_queue_setup(device->id, queue, out, SOCKET_ID_ANY, NULL);
    return result;
}

/** "DPDK refuses WHAT", with its reasons. */
static enum rm_code device_refused(struct rm_port_config const *config, int result, char const *what, uint32_t number,
                                   struct rm_error *error) {
    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': DPDK refuses %s %u (%s): %s", config->name, what, number,
                   rte_strerror(-result), words);
}

static enum rm_code make_queues(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                struct rm_dpdk_wants const *wants, struct rm_error *error) {
    struct rte_eth_conf conf = {0};
    if (wants->steer != NULL && rm_steer_plan(wants->steer, device->id))
        rm_rss_ask(&wants->steer->rss, &conf);
    int result = rte_eth_dev_configure(device->id, device->receive_queues, device->send_queues, &conf);
    if (result != 0)
        return device_refused(config, result, "queues:", device->receive_queues, error);
    result = set_mtu(device, config, wants);
    if (result != 0)
        return device_refused(config, result, "a longest frame of", config->longest_frame, error);
    result = set_up_queues(device, wants);
    if (result != 0)
        return device_refused(config, result, "queues:", device->receive_queues, error);
    return RM_OK;
}

/** A card that may be used is there from the start, unless this process has closed it since. */
static enum rm_code plug_in(struct rm_dpdk_device *device, struct rm_port_config const *config, char const *arguments,
                            struct rm_error *error) {
    if (rte_eth_dev_get_port_by_name(device->name, &device->id) == 0)
        return RM_OK;
    int result = rte_eal_hotplug_add(device->bus, device->name, arguments);
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
                                 struct rm_dpdk_wants const *wants, struct rm_error *error) {
    if (rte_lcore_count() == 0)
        return rm_fail(error, RM_E_ARGUMENT, "port '%s' needs DPDK; call rm_net_start before opening it", config->name);
    rm_dpdk_log_clear();
    enum rm_code code = plug_in(device, config, wants->arguments, error);
    if (code != RM_OK)
        return code;
    device->present = true;
    code = check_queues(device, config, wants, error);
    if (code == RM_OK)
        code = make_pool(device, config, wants, error);
    if (code == RM_OK)
        code = make_queues(device, config, wants, error);
    if (code != RM_OK)
        rm_dpdk_device_close(device);
    return code;
}

enum rm_code rm_dpdk_device_start(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                  struct rm_error *error) {
    rm_dpdk_log_clear();
    int const result = rte_eth_dev_start(device->id);
    if (result == 0)
        return RM_OK;
    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': DPDK cannot start %s (%s): %s", config->name, device->name,
                   rte_strerror(-result), words);
}

/** The driver says goodbye on its control socket, if it has one. When the peer is gone it gets SIGPIPE, which
 * would end the process: it is taken back. */
void rm_dpdk_device_remove(struct rm_dpdk_device *device) {
    if (!device->present)
        return;
    device->present = false;
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    (void)rte_eth_dev_stop(device->id); // refused for a device that never ran, which is as well
    (void)rte_eal_hotplug_remove(device->bus, device->name);
    struct timespec const now = {0};
    if (!sigismember(&before, SIGPIPE))
        (void)sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void rm_dpdk_device_close(struct rm_dpdk_device *device) {
    rm_dpdk_device_remove(device);
    rte_mempool_free(device->pool);
    device->pool = NULL;
}

void rm_dpdk_device_totals(struct rm_dpdk_device const *device, struct rm_port_statistics *totals) {
    struct rte_eth_stats stats;
    if (rte_eth_stats_get(device->id, &stats) == 0) {
        totals->missed = stats.imissed + stats.rx_nombuf;
        totals->errors = stats.ierrors;
        totals->unsent = stats.oerrors;
    }
}

bool rm_dpdk_device_link_up(struct rm_dpdk_device const *device) {
    struct rte_eth_link link;
    return rte_eth_link_get_nowait(device->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}
