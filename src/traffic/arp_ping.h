// SPDX-License-Identifier: Apache-2.0
/** ARP and ping of a generator's port, beside its traffic: requests for its address and pings to it are answered; on
 * request it announces itself, asks for a MAC address, and pings.
 *
 * Two threads. The polling core calls rm_arp_ping_take for frames that came and rm_arp_ping_write for frames to send.
 * The control side calls rm_arp_ping_ask and rm_arp_ping_result. A request crosses by a mailbox. Results are single
 * numbers, each exact; read while a ping goes on, they may be of neighbouring moments.
 *
 * A ping asks for the MAC address of its target first, three times at most, one second apart. An echo that has no
 * answer within a second is lost; its answer is then none. */
#ifndef RM_TRAFFIC_ARP_PING_H
#define RM_TRAFFIC_ARP_PING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mailbox.h"
#include "net/port.h"
#include "wire/frame.h"

enum {
    /** Most echoes on their way: pings are at least a second divided by this apart. */
    RM_PING_WINDOW = 64,
    /** Most content of an echo, so that any port can send it, tagged too. */
    RM_PING_CONTENT_MAX = 1400,
};

enum rm_arp_ping_what {
    /** To all: the port's address is at its MAC. */
    RM_ARP_PING_ANNOUNCE,
    /** To all: who has the target's address? */
    RM_ARP_PING_ARP,
    RM_ARP_PING_PING,
};

/** What a port of the generator is to others. */
struct rm_arp_ping_identity {
    uint8_t mac[6];
    /** Host byte order; 0: it has no address, so nothing is answered. */
    uint32_t ipv4;
    /** 1–4094, or 0 for untagged. */
    uint16_t vlan;
};

struct rm_arp_ping_request {
    enum rm_arp_ping_what what;
    /** Who asks. */
    struct rm_arp_ping_identity from;
    /** Host byte order; not of an announcement. */
    uint32_t target_ipv4;
    /** Pings: how many, at least 1; how far apart, at least 1/RM_PING_WINDOW s; bytes of content. */
    uint32_t count;
    uint64_t interval_ns;
    uint32_t content_bytes;
};

enum rm_arp_ping_state {
    /** Nothing was asked yet. */
    RM_ARP_PING_IDLE,
    RM_ARP_PING_RESOLVING,
    RM_ARP_PING_PINGING,
    RM_ARP_PING_DONE,
    /** Nobody has told the target's MAC address. */
    RM_ARP_PING_UNRESOLVED,
    /** The link has taken no frame for seconds. */
    RM_ARP_PING_UNSENT,
};

/** What came of the last request. */
struct rm_arp_ping_result {
    enum rm_arp_ping_what what;
    enum rm_arp_ping_state state;
    uint32_t target_ipv4;
    /** Valid in RM_ARP_PING_PINGING and RM_ARP_PING_DONE. */
    uint8_t target_mac[6];
    /** Echoes sent, answered, and answered once more. */
    uint32_t sent, answered, repeated;
    /** From handing an echo to the link to finding its answer; 0 while none was answered. */
    double last_us, least_us, mean_us, most_us;
};

/** Numbers of one request that both threads see. */
struct rm_arp_ping_shared {
    _Atomic uint32_t what, state, target_ipv4, sent, answered, repeated;
    /** In the low 48 bits, the first byte highest. */
    _Atomic uint64_t target_mac;
    _Atomic uint64_t last_ticks, least_ticks, most_ticks, sum_ticks;
};

struct rm_arp_ping {
    double tsc_hz;
    struct rm_mailbox mailbox;
    struct rm_arp_ping_request asked;
    struct rm_arp_ping_shared shared;

    /* The polling core's alone. */

    /** ARP requests for this address and pings to it are answered. */
    struct rm_arp_ping_identity answers_for;
    struct rm_arp_ping_request request;
    /** A request is being worked on. */
    bool busy;
    uint16_t identifier;
    uint8_t target_mac[6];
    /** ARP requests sent for it. */
    uint32_t tries;
    /** TSC at which the next frame is due, or what was sent last is given up. */
    uint64_t next_tsc;
    /** The next frame was written, first at this TSC, and not taken by the link yet. */
    bool offered;
    uint64_t offered_tsc;
    /** [sequence % RM_PING_WINDOW] TSC at which it was sent; 0: answered, or given up. */
    uint64_t sent_tsc[RM_PING_WINDOW];
};

/** Before the polling core runs; all else is zero. Nothing is answered yet. */
void rm_arp_ping_init(struct rm_arp_ping *ping, double tsc_hz);

/** For the polling core: from now on it answers for this address. NULL: for none. */
void rm_arp_ping_answer_for(struct rm_arp_ping *ping, struct rm_arp_ping_identity const *identity);

/** False while it has nothing to take: it answers for no address, and has asked nobody. */
static inline bool rm_arp_ping_listens(struct rm_arp_ping const *ping) {
    return ping->answers_for.ipv4 != 0 || ping->busy;
}

/** True for frames that rm_arp_ping_take wants to see: ARP, and ICMP in IPv4; tagged or not. */
static inline bool rm_arp_ping_concerns(uint8_t const *frame, uint32_t length) {
    if (length < RM_ETHERNET_BYTES + RM_IPV4_BYTES)
        return false;
    uint32_t const at = frame[12] == 0x81 && frame[13] == 0x00 ? RM_VLAN_BYTES : 0;
    bool const arp = frame[12 + at] == 0x08 && frame[13 + at] == 0x06;
    bool const ipv4 = frame[12 + at] == 0x08 && frame[13 + at] == 0x00;
    return arp || (ipv4 && length >= RM_ETHERNET_BYTES + at + RM_IPV4_BYTES && frame[23 + at] == 1);
}

/** Takes a frame that came at `tsc`. Writes the answer to it, if there is one, and returns its length; else 0. */
uint32_t rm_arp_ping_take(struct rm_arp_ping *ping, uint8_t const *frame, uint32_t length, uint64_t tsc,
                          uint8_t answer[RM_SEND_BYTES]);

/** True when rm_arp_ping_write has something to write, or to give up. A few loads: for every turn of the duty cycle. */
static inline bool rm_arp_ping_is_due(struct rm_arp_ping const *ping, uint64_t tsc) {
    return ping->busy ? tsc >= ping->next_tsc : rm_mailbox_is_in(&ping->mailbox, RM_MAILBOX_POSTED);
}

/** Writes the frame that is due, and returns its length, or 0 where none is. When the link has taken it, call
 * rm_arp_ping_sent; without, the same frame is due again, for three seconds. */
uint32_t rm_arp_ping_write(struct rm_arp_ping *ping, uint64_t tsc, uint8_t frame[RM_SEND_BYTES]);
void rm_arp_ping_sent(struct rm_arp_ping *ping, uint64_t tsc);

/** RM_E_ARGUMENT: an impossible request. RM_E_BUSY: the last one is not done yet, and says what it is. */
enum rm_code rm_arp_ping_ask(struct rm_arp_ping *ping, struct rm_arp_ping_request const *request,
                             struct rm_error *error);
void rm_arp_ping_result(struct rm_arp_ping const *ping, struct rm_arp_ping_result *result);

/** One line for people: "10.0.0.2 is at 02:00:00:00:00:02: 4 of 4 pings answered in 11.2/13.0/15.9 us
 * (least/mean/most), the last in 12.1 us". */
void rm_arp_ping_print(struct rm_arp_ping_result const *result, FILE *out);

#endif
