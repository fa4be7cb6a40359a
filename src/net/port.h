// SPDX-License-Identifier: Apache-2.0
/** Ports: every way datagrams come in or go out, behind one burst interface.
 *
 * A port is a DPDK device (hardware NIC, af_packet, …), a memif link, or a plain kernel socket. A UDP socket carries
 * bare payloads, all others Ethernet frames: `framing` says which, and the wire room takes both.
 *
 * Life: rm_net_start → rm_port_open … → rm_port_close … → rm_net_stop. Opening, closing and reading totals is one
 * thread's work. Each direction of a queue is used by one thread, which has called rm_net_thread_join first.
 *
 * Buffers of a burst belong to the caller from rm_port_receive to rm_port_release, or from rm_port_reserve until they
 * are sent or released. Each direction of a queue lends one burst at a time: give it back before asking for the next,
 * and before the port is closed. A received burst of memif keeps its peer's memory mapped: do not sit on it.
 */
#ifndef RM_NET_PORT_H
#define RM_NET_PORT_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum {
    /** Most datagrams in one burst. */
    RM_BURST = 64,
    /** Bytes that any port can send, frame or payload: an untagged Ethernet frame without FCS. */
    RM_SEND_BYTES = 1514,
    /** Bytes of a port's name, with the terminating zero. */
    RM_PORT_NAME_BYTES = 32,

    RM_PORT_PATH_BYTES = 104,
    /** Most UDP ports that instruments send to. */
    RM_PORT_CLAIMS_MAX = 16,
    /** Most EtherTypes of frames that are no IPv4. */
    RM_PORT_ETHERTYPES_MAX = 8,
    /** Most multicast groups joined. */
    RM_PORT_GROUPS_MAX = 16,
    /** Bytes of a jumbo frame with its headers. */
    RM_LONGEST_FRAME_MAX = 9600,
    /** Bytes of an Ethernet frame with one VLAN tag, without FCS. */
    RM_LONGEST_FRAME = 1518,
    /** Most software queues of one port. */
    RM_SPREAD_QUEUES_MAX = 16,
    /** Most ports of one rm_ports_wait. */
    RM_PORTS_WAIT_MAX = 16,
    /** Most network cards. */
    RM_NET_DEVICES_MAX = 16,
};

/** Length of a received payload that a socket has cut, because it was longer than `longest_frame`: none of it may be
 * read, for half of a datagram may look like a shorter one. */
#define RM_LENGTH_CUT UINT32_MAX

/** For rm_port_receive_sleeping and rm_ports_wait: until something comes, though at most RM_LONGEST_SLEEP_NS, so that a
 * program hears that it is to stop. */
#define RM_SLEEP UINT64_MAX
#define RM_LONGEST_SLEEP_NS 100000000ull

/** For `ethertype`. */
#define RM_ETHERTYPE_ALL 0

/** For rm_port_queue_of: any of them. */
#define RM_QUEUE_ANY UINT16_MAX

enum rm_port_kind {
    /** Shared-memory link to another process that speaks memif 2.0: another of ours, DPDK's net_memif, VPP. The peer
     * may come late, go and return: meanwhile the link is down, nothing arrives and nothing is taken for sending, and
     * neither is an error. What a peer had sent before it ended is still received. There are as many rings as both
     * sides have queues: a queue beyond them stays silent. Received frames are read where they lie in the shared
     * memory, which the peer could still change: it is to be trusted with its data, though with nothing else. A client
     * must seal that memory against shrinking, which all do but DPDK's with `zero-copy=yes`. */
    RM_PORT_MEMIF,
    /** A kernel interface by raw packets (DPDK net_af_packet). The kernel sees every packet too, and answers ARP. What
     * this host sends out of the interface is not received. A sender in the same kernel may leave the UDP checksum to
     * hardware that a virtual interface has not: `ethtool -K INTERFACE tx off` there. */
    RM_PORT_AF_PACKET,
    /** A kernel UDP socket. It can sleep: rm_port_receive_sleeping. */
    RM_PORT_UDP,
    /** A kernel interface by AF_XDP, with our own XDP program: it takes the IPv4 datagrams that `claim` names and
     * the frames that `ethertype` names, with or without a VLAN tag, and leaves all others to the kernel. Of a fragmented datagram it takes the first
     * fragment by its port and the others by their address, one of `source`. The program stays on the interface until
     * the port is closed; what a dead process has left there is removed. */
    RM_PORT_AF_XDP,
    /** Frames of a capture file, once; nothing is taken for sending. */
    RM_PORT_PCAP,
    /** A ring in this process's own memory: what is sent is received (DPDK net_ring). */
    RM_PORT_RING,
    /** Receives nothing, and takes all that is sent (DPDK net_null). */
    RM_PORT_NULL,
    /** Makes a kernel interface, whose frames it sends and receives (DPDK net_tap). No jumbo frames. */
    RM_PORT_TAP,
    /** The guest's end of a vhost-user socket (DPDK net_virtio_user). The host's end must be there. */
    RM_PORT_VIRTIO_USER,
    /** The host's end of a vhost-user socket (DPDK net_vhost). It makes the socket; a guest may come late and return.
     */
    RM_PORT_VHOST,
    /** A network card by its PCI address, with whatever driver DPDK has for it. It must be in the configuration of
     * rm_net_start. Where VFIO has it, it may be unplugged: a line on standard error says so, the link is down from then
     * on, and nothing is received or sent. */
    RM_PORT_PCI,
    /** A kernel interface by a packet socket, without DPDK: frames to any MAC address, but none that this host sends
     * out of it, and without VLAN tags, which the kernel takes out. It can sleep: rm_port_receive_sleeping. Senders in
     * the same kernel: as for af_packet. */
    RM_PORT_RAW,
};

/** What decides in which queue the datagrams of a source address arrive. */
enum rm_steering {
    /** The port has one queue. */
    RM_STEERING_ONE,
    /** Nothing that is known: any queue may carry any instrument. */
    RM_STEERING_NONE,
    /** The card, by a flow rule for each source. */
    RM_STEERING_FLOW,
    /** The card, by a hash whose key and table we have set and can compute. */
    RM_STEERING_RSS,
    /** rm_port_spread decides. */
    RM_STEERING_SOFTWARE,
};

enum rm_framing {
    /** Data starts at the destination MAC address, no FCS. */
    RM_FRAMING_ETHERNET,
    /** Data is the UDP payload; the kernel has checked and stripped the rest. */
    RM_FRAMING_UDP,
};

/** What a port shall be. Strings are copied. */
struct rm_port_config {
    char name[RM_PORT_NAME_BYTES];
    enum rm_port_kind kind;
    /** memif, vhost, virtio_user: the control socket; memif's server and vhost make it and its directory */
    char socket_path[RM_PORT_PATH_BYTES];
    /** memif: true makes this side the server. */
    bool memif_server;
    /** af_packet, af_xdp, raw: the kernel's name of the interface, "veth0". tap: the name of the one to make, "rm0". */
    char interface[RM_PORT_NAME_BYTES];
    /** pcap: the capture. */
    char file[RM_PORT_PATH_BYTES];
    /** pci: the address, "0000:03:00.0". */
    char device[RM_PORT_NAME_BYTES];
    /** udp: local address, host byte order; 0 is any. */
    uint32_t bind_ipv4;
    /** udp: local port; 0: any, for a sender. */
    uint16_t bind_port;
    /** udp, sender: where datagrams go, host byte order. */
    uint32_t peer_ipv4;
    /** udp, sender: their port; 0 for a receiver. */
    uint16_t peer_port;
    /** udp: the socket is connected to its peer, receives from no other, and hears when no program listens there. */
    bool connected;
    /** raw, udp: most datagrams of one system call, up to RM_BURST; 0: RM_BURST. */
    uint32_t batch;
    /** Receive queues, 1 for udp and raw. There are as many transmit queues; with `spread`, one. */
    uint16_t queues;
    /** Datagrams a queue buffers, a power of two; 0 takes the kind's default. */
    uint32_t ring_slots;
    /** Bytes of the longest frame without FCS, up to RM_LONGEST_FRAME_MAX; 0: RM_LONGEST_FRAME. */
    uint32_t longest_frame;
    /** The device has one queue, and rm_port_spread makes `queues` of it. */
    bool spread;
    /** Frames may be punted: rm_port_punt. */
    bool exception_path;
    /** How many UDP ports instruments send to; af_xdp and flow rules take only these. */
    uint32_t claim_count;
    /** Destination UDP ports; fragments of UDP are taken whole. */
    uint16_t claim[RM_PORT_CLAIMS_MAX];

    /** af_xdp: how many EtherTypes other than IPv4 it takes too; other kinds take all frames. */
    uint32_t ethertype_count;
    /** 0x88B5, …; behind a VLAN tag, too. RM_ETHERTYPE_ALL: all frames, IPv4 as well. */
    uint16_t ethertype[RM_PORT_ETHERTYPES_MAX];

    uint32_t group_count;
    /** Multicast addresses to receive, host byte order. Where the kernel knows the interface (udp, af_packet, af_xdp)
     * it joins them by IGMP; a udp port then takes all that arrives on the interface of `bind_ipv4`. Other devices let
     * multicast in, and the exception path has to speak IGMP. */
    uint32_t group[RM_PORT_GROUPS_MAX];
    uint32_t source_count;
    /** Addresses that instruments send from; flow rules steer them. Copied. */
    uint32_t const *source;
};

/** What rm_net_start needs to know of the machine. */
struct rm_net_config {
    /** Names DPDK's runtime directory while it runs, "ringmaster". */
    char prefix[RM_PORT_NAME_BYTES];
    /** Memory for packet buffers; 0: a default. */
    uint32_t memory_mib;
    /** DPDK's own log goes to standard error. */
    bool verbose;
    /** DPDK's telemetry socket is there: telemetry.h. */
    bool telemetry;
    /** Where the program's own threads poll. DPDK's helpers run elsewhere, if the process may use any other CPU. */
    cpu_set_t polled;
    /** Cards that DPDK may touch; it sees no others. */
    uint32_t device_count;
    /** Their PCI addresses. */
    char device[RM_NET_DEVICES_MAX][RM_PORT_NAME_BYTES];
};

/** Datagrams on their way, as a structure of arrays. Buffers hold `longest_frame` bytes or some more. Of a longer
 * frame there is only as much as fits, and parsing it finds it truncated. (af_xdp: the kernel drops it, counted as
 * missed.) */
struct rm_burst {
    uint32_t count;
    /** First byte of frame or payload; cache-line aligned is not promised. */
    uint8_t *data[RM_BURST];
    /** Bytes that may be read, or that are to be sent; RM_LENGTH_CUT: none. */
    uint32_t length[RM_BURST];
    /** RM_FRAMING_UDP: sender's address, host byte order; else unset. */
    uint32_t source_ipv4[RM_BURST];
    /** The device has verified IP and UDP checksums. */
    bool checksum_good[RM_BURST];
    /** Used by the port alone. */
    void *handle[RM_BURST];
};

/** What the device itself counts, as far as it does. */
struct rm_port_statistics {
    /** Datagrams given to rm_port_receive callers. */
    uint64_t received;
    /** Datagrams dropped before, for lack of a descriptor, a buffer or socket memory. */
    uint64_t missed;
    /** Datagrams dropped by the device as broken. */
    uint64_t errors;
    /** Datagrams that rm_port_send took. */
    uint64_t sent;
    /** Datagrams that the device took and then dropped. */
    uint64_t unsent;
    /** Calls by which the kernel refused to send, for another reason than a full queue. Their datagrams stay with the
     * caller. */
    uint64_t refused;

    bool link_up;
};

struct rm_port;

/** Adds what a port will need to the configuration: memory, and the address of its card. Called for each port before
 * rm_net_start; without, there is memory for some ten queues of short frames, and no card. */
void rm_net_config_add(struct rm_net_config *config, struct rm_port_config const *port);

/** Starts DPDK: without hugepages when the machine has not enough free ones, with no cards but those listed, with no
 * signal handler of its own, with telemetry only where that is asked for. The caller's CPU affinity stays as it is.
 * RM_E_CONFIG: a card is not there, or the kernel uses it. RM_E_BUSY: DPDK was started already; it starts once per
 * process, also after rm_net_stop. When it fails, DPDK prints a line on standard error too. Sockets need none of it,
 * but it may always be called. */
enum rm_code rm_net_start(struct rm_net_config const *config, struct rm_error *error);

/** Leaves no trace of DPDK in the file system but the telemetry socket, which goes when the process exits; call it when
 * all ports are closed. DPDK's memory and its helper threads end with the process. */
void rm_net_stop(void);

/** True when DPDK's memory is on huge pages. */
bool rm_net_hugepages(void);

/** Every thread that polls or sends calls rm_net_thread_join once, after it was pinned, and rm_net_thread_leave before
 * it ends. Without DPDK started, and for the thread that started it, both do nothing. */
enum rm_code rm_net_thread_join(struct rm_error *error);
void rm_net_thread_leave(void);

/** Gives back the packet buffers that the calling thread keeps for itself, some 200 of each port. For a thread that
 * leaves a port to another one: else the buffers of a port would be in those that have served it, and none be left. */
void rm_net_thread_flush(void);

/** Opens and starts a port. The error names the port and what to do (interface missing, path not writable, …). */
enum rm_code rm_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error);
void rm_port_close(struct rm_port *port);

enum rm_framing rm_port_framing(struct rm_port const *port);
char const *rm_port_name(struct rm_port const *port);
void rm_port_totals(struct rm_port *port, struct rm_port_statistics *totals);

/** Whether a port still works, for those to whom nothing comes or who cannot send. RM_E_ABSENT: the other end is not
 * there, and may come. RM_E_SYSTEM: the interface is gone or down, or the kernel has refused what was sent last. Cold:
 * it may ask the kernel. */
enum rm_code rm_port_check(struct rm_port *port, struct rm_error *error);

/** Takes up to RM_BURST waiting datagrams, never blocks; returns burst->count. */
uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

/** As rm_port_receive. With nothing there, a port that can sleep sleeps in the kernel for `wait_ns`, or for RM_SLEEP in
 * the receiving call itself, as programs usually do. */
uint32_t rm_port_receive_sleeping(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint64_t wait_ns);

/** Sleeps until one of up to RM_PORTS_WAIT_MAX ports has something, at most `wait_ns`; returns at once where one of them
 * cannot sleep. */
void rm_ports_wait(struct rm_port *const *ports, uint32_t count, uint64_t wait_ns);

/** Takes up to RM_BURST waiting datagrams and gives them back unread: receiving cannot be faster than that. Returns
 * how many; they are counted as received. */
uint32_t rm_port_discard(struct rm_port *port, uint16_t queue);

/** Gives the buffers of a received burst back; afterwards burst->count is 0. */
void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

/** Gives up to `count` ≤ RM_BURST writable buffers in burst->data[0 … count-1], of RM_SEND_BYTES or `longest_frame`,
 * whichever is more; the caller sets length[] to 1 … that. Returns how many there were, and sets burst->count: fewer
 * when the pool is dry. */
uint32_t rm_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count);

/** True when sending copies: then data[i] of a reserved burst may be pointed at other memory before it is sent, of
 * whole cache lines, which stays until the burst is sent or released. Else a frame lies in the buffer that was
 * reserved. */
bool rm_port_copies(struct rm_port const *port);

/** Sends burst entries in order, as many as the link takes; returns how many. The rest has moved to the front of the
 * burst, and burst->count is their number: call again, or rm_port_release them unsent. */
uint32_t rm_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

/** Sends frames that lie anywhere, in a received burst of another port for one: data[] and length[] of the first
 * burst->count entries. They are copied once, and stay the caller's; no byte but theirs is read. What is empty, or longer
 * than the port can send, is taken out of the burst. Returns how many of those left the link has taken, in order; the rest
 * is not sent. */
uint32_t rm_port_send_from(struct rm_port *port, uint16_t queue, struct rm_burst *burst);

/** Sends one datagram from the socket of a udp port to an address and UDP port, host byte order, wherever its others go.
 * False where the kernel has not taken it, and on ports of other kinds. */
bool rm_port_send_to(struct rm_port *port, uint32_t ipv4, uint16_t udp_port, uint8_t const *payload, uint32_t length);

/** Takes entry `index` of a received burst out of it and hands it to the exception path: data[index] is now NULL,
 * length[index] 0. False when the exception path is full, or the port has none: the entry stays in the burst.
 * Wait-free. */
bool rm_port_punt(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t index);

/** The queue of the exception path, one beyond the others: rm_port_receive on it gives what was punted, rm_port_reserve
 * and rm_port_send send from it. For one thread, like any queue. It has a transmit queue of the device for itself,
 * the last: where there is one only (tap; a vhost guest or memif client of one ring), the other queues send nothing. */
uint16_t rm_port_slow_queue(struct rm_port const *port);

/** How datagrams are steered to this port's queues, as found when it was opened; and the name of that: "flow rules",
 * "RSS", … */
enum rm_steering rm_port_steering(struct rm_port const *port);
char const *rm_steering_name(enum rm_steering steering);

/** The queue in which everything from `source_ipv4` arrives, fragments too, or RM_QUEUE_ANY. */
uint16_t rm_port_queue_of(struct rm_port const *port, uint32_t source_ipv4);

/** Moves one burst from the only queue of the device to the software queues, by source address; frames that are not
 * IPv4 go to queue 0. For one thread, and for ports of `spread`. Returns how many there were. Adds the number of those
 * that found their queue full, and are lost, to `*full`. */
uint32_t rm_port_spread(struct rm_port *port, uint64_t *full);

/** The MAC address of the port; false where it has none. */
bool rm_port_mac(struct rm_port const *port, uint8_t mac[6]);

#endif
