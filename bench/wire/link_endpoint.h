// SPDX-License-Identifier: Apache-2.0
/** One end of a wire: datagrams with a probe in front go out and come in through a port (net/port.h), by DPDK or by the
 * kernel's sockets, so that a measurement of the one is a measurement of the other.
 *
 * As text, KIND:WHERE[,KEY=VALUE]…:
 *
 *     memif:/run/a.sock,role=server    shared memory between two processes; role=server or client    } DPDK's way:
 *     af_packet:veth0                  a kernel interface by DPDK's packet ring                      } Ethernet
 *     af_xdp:veth0                     a kernel interface past the kernel's stack                    } frames
 *     pci:0000:03:00.0                 a network card                                                }
 *     raw:veth0                        the kernel's packet socket, one system call per frame
 *     udp:10.99.0.1:4660,peer=10.99.0.2:4660    the kernel's UDP socket, one system call per datagram
 *
 *     wait=block|spin       raw, udp: sleep in the kernel until something comes, as programs usually do, or ask again
 *                           and again; block if not said. DPDK's links are always polled
 *     batch=N               udp: up to N datagrams per system call, 1–64; 1 if not said
 *     mtu=1500              largest IP packet in bytes, 68–9000: payloads are up to 28 less
 *     mac=…                 Ethernet: the peer's; 02:52:4d:00:00:02 if not said
 *     address=… peer=…      Ethernet: our IPv4 address and the peer's; 198.18.0.1 and 198.18.0.2 if not said, which
 *                           RFC 2544 keeps for measurements, so that no kernel answers them
 *     udp_port=4660         Ethernet: of both ends; datagrams to another one are foreign
 *
 * Life: rm_link_parse … → rm_links_open → use → rm_links_close. Each link is one thread's; threads other than the one
 * that opened them call rm_net_thread_join (net/port.h) first, after they are pinned.
 */
#ifndef RM_BENCH_WIRE_LINK_ENDPOINT_H
#define RM_BENCH_WIRE_LINK_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "net/port.h"

enum {
    /** Bytes of a link's text, with the terminating zero. */
    RM_LINK_TEXT_BYTES = 256,
    /** Most links of one process. */
    RM_LINKS_MAX = 16,

    RM_LINK_MTU_MAX = 9000,
};

enum rm_link_kind {
    RM_LINK_MEMIF,
    RM_LINK_AF_PACKET,
    RM_LINK_AF_XDP,
    RM_LINK_PCI,
    RM_LINK_RAW,
    RM_LINK_UDP,
};

/** What a link's text says. Addresses and ports in host byte order. */
struct rm_link_config {
    /** As it was given: for messages. */
    char text[RM_LINK_TEXT_BYTES];

    enum rm_link_kind kind;
    /** Socket, interface or PCI address. */
    char where[RM_PORT_PATH_BYTES];
    /** memif: our end is the server. */
    bool server;
    /** The link never sleeps. True for all of DPDK's. */
    bool spin;

    uint32_t batch;
    uint32_t mtu;
    uint8_t peer_mac[6];
    uint32_t address;
    uint32_t peer;
    /** Our UDP port; on Ethernet that of both ends. */
    uint16_t udp_port;

    uint16_t peer_port;
    /** Set after parsing: send to the address and port that the last datagram came from, from the address that it was
     * sent to. A UDP socket is connected to its peer, and needs none of it. */
    bool answer;
};

/** Reads a link's text. RM_E_ARGUMENT: the error quotes it and says what was expected. */
enum rm_code rm_link_parse(char const *text, struct rm_link_config *config, struct rm_error *error);

/** The largest payload that fits its MTU; the smallest is RM_PROBE_BYTES. */
uint32_t rm_link_largest_payload(struct rm_link_config const *config);

/** Datagrams on their way: payloads, which begin with a probe. */
struct rm_link_burst {
    uint32_t count;
    uint8_t *payload[RM_BURST];
    /** Bytes of payload: RM_PROBE_BYTES … the largest. */
    uint32_t length[RM_BURST];
    /** The buffers, which are the link's own. */
    struct rm_burst frames;
};

/** What was counted since the link was opened. */
struct rm_link_statistics {
    /** Datagrams that came, but not to our UDP port, or were too short for a probe, or over the MTU. */
    uint64_t foreign;
    /** Datagrams that were dropped before we could receive them: by the device, or by a full socket buffer. */
    uint64_t missed;
    /** Datagrams that the device took and then dropped. */
    uint64_t unsent;
};

struct rm_link;

/** Opens `count` ≤ RM_LINKS_MAX links, and starts DPDK if one of them needs it, which a process can once. On failure
 * none is open, and the error names the link and what to do. */
enum rm_code rm_links_open(struct rm_link_config const *configs, uint32_t count, struct rm_link **links,
                           struct rm_error *error);
void rm_links_close(struct rm_link **links, uint32_t count);

/** The text that the link was given: "raw:veth0". */
char const *rm_link_text(struct rm_link const *link);

/** True when it never sleeps: `wait_ns` means nothing then. */
bool rm_link_spins(struct rm_link const *link);

/** Takes what has come, up to RM_BURST datagrams; returns burst->count. With nothing there a link of wait=block sleeps
 * in the kernel for `wait_ns`; 0 never sleeps. Sockets take one datagram per call, or `batch`. Foreign datagrams are
 * counted and not shown. */
uint32_t rm_link_receive(struct rm_link *link, struct rm_link_burst *burst, uint64_t wait_ns);

/** Gives the buffers of a received burst back, or of a reserved one that shall not be sent; burst->count is 0 then.
 * After every receive, also of none, and before the next. */
void rm_link_release(struct rm_link *link, struct rm_link_burst *burst);

/** Sleeps until one of the links has something, at most `wait_ns`; returns at once if one of them spins. */
void rm_links_wait(struct rm_link *const *links, uint32_t count, uint64_t wait_ns);

/** Gives up to `count` ≤ RM_BURST buffers for payloads up to the largest; returns how many there were. The caller
 * writes the payloads, sets length[], and sends or releases all of them. */
uint32_t rm_link_reserve(struct rm_link *link, struct rm_link_burst *burst, uint32_t count);

/** Sends in order, as many as the link takes now; never sleeps. Returns how many are gone; the rest has moved to the
 * front and burst->count is what is left: call again, or release them. With none taken the link is full, or ended:
 * rm_link_check tells. */
uint32_t rm_link_send(struct rm_link *link, struct rm_link_burst *burst);

void rm_link_totals(struct rm_link *link, struct rm_link_statistics *totals);

/** Whether the link still works, for programs to which nothing comes or that cannot send. RM_E_ABSENT: the other end is
 * not there, and may come (no peer on the memif socket, no socket at the peer's UDP port). RM_E_SYSTEM: the
 * interface is gone or down. Cold: it may ask the kernel. */
enum rm_code rm_link_check(struct rm_link *link, struct rm_error *error);

/** Whether the interface stamps datagrams in hardware, in one word for reports: "none", or "transmit and receive, not
 * used", … Where there is no interface to ask, "none". */
char const *rm_link_hardware_stamps(struct rm_link const *link);

#endif
