// SPDX-License-Identifier: Apache-2.0
/** What all DPDK kinds of port share: a device, its buffer pool, its queues, and bursts through them. */
#ifndef RM_NET_DPDK_DEVICE_H
#define RM_NET_DPDK_DEVICE_H

#include "net/packet_pool.h"
#include "net/port.h"

enum {
    RM_DPDK_NAME_BYTES = 32,
    /** Slots of a port of kind ring whose configuration does not say. */
    RM_RING_SLOTS = 1024,
};

struct rm_steer;

struct rm_dpdk_device {
    /** DPDK's bus: "vdev" or "pci". */
    char const *bus;
    /** DPDK's name: "net_tap3", "0000:03:00.0". */
    char name[RM_DPDK_NAME_BYTES];
    /** DPDK's port number. */
    uint16_t id;

    uint16_t receive_queues;
    uint16_t send_queues;
    /** DPDK has it. */
    bool present;
    /** Bytes of the longest frame that a buffer holds. */
    uint32_t buffer_bytes;

    struct rte_mempool *pool;
};

/** What a kind of port needs of its driver, apart from the configuration. */
struct rm_dpdk_wants {
    /** Arguments of a virtual device. */
    char const *arguments;
    /** Transmit queues, at most as many as the driver has; 0: nothing can be sent. */
    uint16_t send_queues;
    /** Descriptors in each ring of the device; 0: the driver's default. */
    uint16_t descriptors;
    /** Buffers that the driver keeps for itself, per queue. */
    uint32_t held_buffers;
    /** Bytes of a buffer; 0: those of the longest frame. */
    uint32_t buffer_bytes;
    /** The device must be told of frames longer than usual. */
    bool sets_mtu;
    /** How it shall share frames out to its queues; NULL: the driver cannot. */
    struct rm_steer *steer;
};

/** Memory in MiB that a port of any kind but udp needs of DPDK at most. */
uint32_t rm_dpdk_memory_mib(struct rm_port_config const *config);

/** Finds the first name DRIVERn that no device has; returns n. */
uint32_t rm_dpdk_device_name(char const *driver, char name[RM_DPDK_NAME_BYTES]);

/** Makes the device `device->name`, or takes it if it exists, with its pool and its queues. It is not started. On
 * failure nothing is left, and the error quotes DPDK. */
enum rm_code rm_dpdk_device_open(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                 struct rm_dpdk_wants const *wants, struct rm_error *error);
enum rm_code rm_dpdk_device_start(struct rm_dpdk_device *device, struct rm_port_config const *config,
                                  struct rm_error *error);

/** Stops the device if it runs, and removes device and pool. No buffer may be lent. */
void rm_dpdk_device_close(struct rm_dpdk_device *device);

/** As rm_dpdk_device_close, but the pool stays until that: buffers may be lent. No thread may be in the driver. */
void rm_dpdk_device_remove(struct rm_dpdk_device *device);

/** As rm_port_receive, rm_port_reserve and rm_port_send, by the device's own queues. */
uint32_t rm_dpdk_device_receive(struct rm_dpdk_device const *device, uint16_t queue, struct rm_burst *burst);
uint32_t rm_dpdk_device_reserve(struct rm_dpdk_device const *device, struct rm_burst *burst, uint32_t count);
uint32_t rm_dpdk_device_send(struct rm_dpdk_device const *device, uint16_t queue, struct rm_burst *burst);

/** As rm_port_discard. It looks at buffers only as far as freeing them does. */
uint32_t rm_dpdk_device_discard(struct rm_dpdk_device const *device, uint16_t queue);

/** As rm_port_release; entries that were punted have no buffer any more. */
void rm_dpdk_device_release(struct rm_burst *burst);

/** Fills in what can be read of the first `count` entries, whose handles are set. Returns `count`. */
uint32_t rm_dpdk_device_show(struct rm_burst *burst, uint32_t count);

/** The driver's own counts of missed, errors and unsent. */
void rm_dpdk_device_totals(struct rm_dpdk_device const *device, struct rm_port_statistics *totals);
bool rm_dpdk_device_link_up(struct rm_dpdk_device const *device);

#endif
