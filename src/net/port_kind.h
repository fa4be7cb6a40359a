// SPDX-License-Identifier: Apache-2.0
/** What a kind of port provides behind rm_port_…: one file per kind, one operation table per file. */
#ifndef RM_NET_PORT_KIND_H
#define RM_NET_PORT_KIND_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

#include "net/port.h"
#include "net/punt_queue.h"
#include "net/spread.h"
#include "net/steering.h"

/** The kind's half of rm_port_…: same arguments and promises, less what port.c does for all of them: counting what was
 * received and sent, moving unsent entries to the front, software queues, and what was punted. */
struct rm_port_ops {
    enum rm_framing framing;
    uint32_t (*receive)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    void (*release)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    /** NULL: there is no shorter way than both of these. */
    uint32_t (*discard)(struct rm_port *port, uint16_t queue);
    /** Where frames are received in memory that `release` gives away: copies one into a buffer that lives on and
     * becomes its handle; false when there is none. NULL: received handles are such buffers. */
    bool (*keep)(struct rm_port *port, struct rm_burst *burst, uint32_t index);
    uint32_t (*reserve)(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count);
    /** Returns how many it took. */
    uint32_t (*send)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    /** All fields but received and sent. */
    void (*totals)(struct rm_port *port, struct rm_port_statistics *totals);
    /** NULL: it has none. */
    bool (*mac)(struct rm_port const *port, uint8_t mac[6]);
    /** Everything but the struct rm_port itself. */
    void (*close)(struct rm_port *port);
};

/** Datagrams through one queue. Each count has one writer, the thread of that direction, and a cache line of its own.
 */
struct rm_port_counts {
    alignas(64) _Atomic uint64_t received;
    alignas(64) _Atomic uint64_t sent;
};

/** First member of every kind's own structure. */
struct rm_port {
    struct rm_port_ops const *ops;
    /** One per queue, and one for the exception path's. */
    struct rm_port_counts *counts;

    uint16_t queues;
    bool has_spread;
    bool has_exception_path;
    struct rm_spread_queues spread;
    struct rm_punt_queue exception_path;
    struct rm_steer steer;
    char name[RM_PORT_NAME_BYTES];
};

/** Opens a port of one kind: allocates its structure with rm_port_new and opens it; on failure nothing is left. */
typedef enum rm_code rm_port_opener(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error);

rm_port_opener rm_af_xdp_port_open, rm_memif_port_open, rm_af_packet_port_open, rm_udp_port_open, rm_ring_port_open,
    rm_vdev_port_open, rm_pci_port_open;

/** Allocates a zeroed kind's structure of `bytes`, a multiple of 64, with its struct rm_port filled in; NULL and an
 * error when memory is full. rm_port_free undoes it. */
struct rm_port *rm_port_new(size_t bytes, struct rm_port_ops const *ops, struct rm_port_config const *config,
                            struct rm_error *error);
void rm_port_free(struct rm_port *port);

/** The device's transmit queue, of `send_queues` that work, in which `queue` sends: its own, or for the exception path
 * the last. False where there is none. */
bool rm_port_send_queue(struct rm_port const *port, uint16_t queue, uint16_t send_queues, uint16_t *own);

#endif
