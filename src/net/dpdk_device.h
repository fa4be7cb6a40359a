// SPDX-License-Identifier: Apache-2.0
/** What all DPDK kinds of port share: a virtual device, its buffer pool, its queues, and bursts through them. */
#ifndef RM_NET_DPDK_DEVICE_H
#define RM_NET_DPDK_DEVICE_H

#include "net/port.h"

enum { RM_DPDK_NAME_BYTES = 32 };

struct rte_mempool;

struct rm_dpdk_device {
    char name[RM_DPDK_NAME_BYTES]; /**< DPDK's, "net_memif3" */
    uint16_t id;                   /**< DPDK's port number */
    struct rte_mempool *pool;
};

/** The first name DRIVERn that no device has, and n. */
uint32_t rm_dpdk_device_name(char const *driver, char name[RM_DPDK_NAME_BYTES]);

/** Makes the device `device->name` with the driver's `arguments`, its pool and its queues; stopped. On failure nothing
 * is left, and the error quotes DPDK. */
enum rm_code rm_dpdk_device_open(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                 char const *arguments, struct rm_error *error);
enum rm_code rm_dpdk_device_start(struct rm_dpdk_device *device, char const *port_name, struct rm_error *error);

/** Stops it where it runs, and removes device and pool; no buffer may be lent. */
void rm_dpdk_device_close(struct rm_dpdk_device *device);

/** As rm_port_receive, …release, …reserve, …send. */
uint32_t rm_dpdk_device_receive(struct rm_dpdk_device const *device, uint16_t queue, struct rm_burst *burst);
void rm_dpdk_device_release(struct rm_burst *burst);
uint32_t rm_dpdk_device_reserve(struct rm_dpdk_device const *device, struct rm_burst *burst, uint32_t count);
uint32_t rm_dpdk_device_send(struct rm_dpdk_device const *device, uint16_t queue, struct rm_burst *burst);

/** The driver's own counts of missed, errors and unsent. */
void rm_dpdk_device_totals(struct rm_dpdk_device const *device, struct rm_port_totals *totals);

#endif
