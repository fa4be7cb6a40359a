// SPDX-License-Identifier: Apache-2.0
/** Ports: every way datagrams come in or go out, behind one burst interface.
 *
 * A port is a DPDK device (hardware NIC, memif, af_packet, …) or a plain kernel UDP socket. A DPDK port carries
 * Ethernet frames, a socket bare UDP payloads: `framing` says which, and the wire room takes both.
 *
 * Life: rm_net_start → rm_port_open … → rm_port_close … → rm_net_stop. Opening, closing and reading totals is one
 * thread's work. Each direction of a queue is used by one thread, which has called rm_net_thread_join first.
 *
 * Buffers of a burst belong to the caller from rm_port_receive to rm_port_release, or from rm_port_reserve until they
 * are sent or released. Each direction of a queue lends one burst at a time: give it back before asking for the next.
 */
#ifndef RM_NET_PORT_H
#define RM_NET_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum {
    RM_BURST = 64,           /**< most datagrams in one burst */
    RM_SEND_BYTES = 1514,    /**< longest frame or payload that may be sent: an untagged Ethernet frame without FCS */
    RM_PORT_NAME_BYTES = 32, /**< with its terminating zero */
    RM_PORT_PATH_BYTES = 104,
};

enum rm_port_kind {
    /** Shared-memory link to another process (DPDK net_memif). The peer may come late, go and return: meanwhile the
     * link is down, nothing arrives and nothing is taken for sending, and neither is an error. What a peer had sent
     * before it ended is still received. The client side decides how many rings there are: a queue of the server
     * beyond them stays silent. */
    RM_PORT_MEMIF,
    /** A kernel interface by raw packets (DPDK net_af_packet). The kernel sees every packet too, and answers ARP. What
     * this host sends out of the interface is not received. A sender in the same kernel may leave the UDP checksum to
     * hardware that a virtual interface has not: `ethtool -K INTERFACE tx off` there. */
    RM_PORT_AF_PACKET,
    RM_PORT_UDP, /**< a kernel UDP socket */
};

enum rm_framing {
    RM_FRAMING_ETHERNET, /**< data starts at the destination MAC address, no FCS */
    RM_FRAMING_UDP,      /**< data is the UDP payload; the kernel has checked and stripped the rest */
};

/** What a port is to be. Strings are copied. */
struct rm_port_config {
    char name[RM_PORT_NAME_BYTES];
    enum rm_port_kind kind;
    char socket_path[RM_PORT_PATH_BYTES]; /**< memif: the control socket; the server makes it and its directory */
    bool memif_server;                    /**< memif: true makes this side the server */
    char interface[RM_PORT_NAME_BYTES];   /**< af_packet: the kernel's name of it, "veth0" */
    uint32_t bind_ipv4;                   /**< udp: local address, host byte order; 0 is any */
    uint16_t bind_port;                   /**< udp: local port; 0 for a sender that does not care */
    uint32_t peer_ipv4;                   /**< udp senders: where datagrams go, host byte order */
    uint16_t peer_port;                   /**< udp: 0 for a receiver */
    uint16_t queues;                      /**< receive queues, 1 for udp; as many transmit queues */
    uint32_t ring_slots;                  /**< datagrams a queue buffers, a power of two; 0 takes the kind's default */
};

/** What rm_net_start needs to know of the machine. */
struct rm_net_config {
    char prefix[RM_PORT_NAME_BYTES]; /**< names DPDK's runtime directory while it runs, "ringmaster" */
    uint32_t memory_mib;             /**< for packet buffers; 0 takes a default */
    bool verbose;                    /**< let DPDK's own log through to standard error */
};

/** Datagrams on their way, structure of arrays. A frame scattered over several buffers shows its first only; whoever
 * parses it finds it truncated. */
struct rm_burst {
    uint32_t count;
    uint8_t *data[RM_BURST];        /**< first byte of frame or payload; cache-line aligned is not promised */
    uint32_t length[RM_BURST];      /**< bytes that may be read, or that are to be sent */
    uint32_t source_ipv4[RM_BURST]; /**< RM_FRAMING_UDP: sender's address, host byte order; else unset */
    bool checksum_good[RM_BURST];   /**< the device has verified IP and UDP checksums */
    void *handle[RM_BURST];         /**< the port's own */
};

/** What the device itself counts, as far as it does. */
struct rm_port_totals {
    uint64_t received; /**< datagrams given to rm_port_receive callers */
    uint64_t missed;   /**< dropped before, for want of a descriptor, a buffer or socket memory */
    uint64_t errors;   /**< dropped by the device as broken */
    uint64_t sent;     /**< datagrams that rm_port_send took */
    uint64_t unsent;   /**< sends that the kernel refused, and datagrams that the device took and then dropped */
    bool link_up;
};

struct rm_port;

/** Starts DPDK: without hugepages when the machine has not enough free, without PCI, with no signal handler and no
 * telemetry of its own; the caller's CPU affinity stays as it is. DPDK starts once per process: also after rm_net_stop
 * a second call is RM_E_BUSY. When it fails, DPDK prints a line on standard error too. Sockets need none of it, but it
 * may always be called. */
enum rm_code rm_net_start(struct rm_net_config const *config, struct rm_error *error);

/** Leaves no trace of DPDK in the file system; call it when all ports are closed. Its memory and its helper thread end
 * with the process. */
void rm_net_stop(void);

/** True when DPDK's memory is on huge pages. */
bool rm_net_hugepages(void);

/** Every thread that polls or sends calls this once, after it was pinned; and leaves before it ends. Without DPDK
 * started, and for the thread that started it, both do nothing. */
enum rm_code rm_net_thread_join(struct rm_error *error);
void rm_net_thread_leave(void);

/** Opens and starts a port. The error names the port and what to do (interface missing, path not writable, …). */
enum rm_code rm_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error);
void rm_port_close(struct rm_port *port);

enum rm_framing rm_port_framing(struct rm_port const *port);
char const *rm_port_name(struct rm_port const *port);
void rm_port_totals(struct rm_port *port, struct rm_port_totals *totals);

/** Takes up to RM_BURST waiting datagrams, never blocks; returns burst->count. */
uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

/** Gives the buffers of a received burst back; afterwards burst->count is 0. */
void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

/** Gives up to `count` ≤ RM_BURST writable buffers of RM_SEND_BYTES in burst->data[0 … count-1]; the caller sets
 * length[] to 1 … RM_SEND_BYTES. Returns how many there were, and sets burst->count: fewer when the pool is dry. */
uint32_t rm_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count);

/** Sends burst entries in order, as many as the link takes; returns how many. Those are gone, the rest has moved to the
 * front of the burst and burst->count is what is left: call again, or rm_port_release them unsent. */
uint32_t rm_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

#endif
