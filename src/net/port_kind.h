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

/** The kind's half of rm_port_…, with the same arguments and promises. port.c does the rest for all of them: it counts
 * what was received and sent, moves unsent entries to the front, and has software queues and punted frames. */
struct rm_port_ops {
    enum rm_framing framing;
    /** As rm_port_copies. */
    bool copies;
    uint32_t (*receive)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    /** As receive, and sleeps in the kernel while nothing is there, at most RM_LONGEST_SLEEP_NS. NULL where `file` is
     * -1. */
    uint32_t (*receive_sleeping)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    void (*release)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    /** NULL: rm_port_discard calls receive and release. */
    uint32_t (*discard)(struct rm_port *port, uint16_t queue);
    /** Used where frames are received in memory that `release` gives away: copies one into a buffer that lives on and
     * becomes its handle; false when there is none. NULL: received handles are such buffers. */
    bool (*keep)(struct rm_port *port, struct rm_burst *burst, uint32_t index);
    uint32_t (*reserve)(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count);
    /** Returns how many frames it took. */
    uint32_t (*send)(struct rm_port *port, uint16_t queue, struct rm_burst *burst);
    /** Sends frames that lie anywhere; returns how many it took. NULL: they are copied into reserved buffers. */
    uint32_t (*send_from)(struct rm_port *port, uint16_t queue, struct rm_burst const *burst);
    /** As rm_port_send_to. NULL: the port has no UDP socket. */
    bool (*send_to)(struct rm_port *port, uint32_t ipv4, uint16_t udp_port, uint8_t const *payload, uint32_t length);
    /** Fills in all members but received and sent. */
    void (*totals)(struct rm_port *port, struct rm_port_statistics *totals);
    /** As rm_port_check. NULL: the port works while its link is up. */
    enum rm_code (*check)(struct rm_port *port, struct rm_error *error);
    /** NULL: the port has no MAC address. */
    bool (*mac)(struct rm_port const *port, uint8_t mac[6]);
    /** Frees everything but the struct rm_port itself. */
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
    /** One per queue, and one for the exception path's queue. */
    struct rm_port_counts *counts;

    enum rm_port_kind kind;
    /** What poll can sleep on; -1: the port cannot sleep. */
    int file;
    uint16_t queues;
    /** Bytes of the longest frame that may be sent. */
    uint32_t send_bytes;
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
    rm_vdev_port_open, rm_pci_port_open, rm_raw_port_open;

/** Allocates a kind's structure of `bytes`, a multiple of 64, with zeros, and its struct rm_port filled in. NULL and
 * an error when memory is full. rm_port_free undoes it. */
struct rm_port *rm_port_new(size_t bytes, struct rm_port_ops const *ops, struct rm_port_config const *config,
                            struct rm_error *error);
void rm_port_free(struct rm_port *port);

/** Finds the transmit queue of the device in which `queue` sends, of `send_queues` that work: its own, or for the
 * exception path the last. False where there is none. */
bool rm_port_send_queue(struct rm_port const *port, uint16_t queue, uint16_t send_queues, uint16_t *own);

#endif
