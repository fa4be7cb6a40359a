// SPDX-License-Identifier: Apache-2.0
/** Puts IPv4 fragments together again, within fixed memory, whatever is sent.
 *
 * A datagram is known by source, destination, identification and VLAN; it is UDP. Its fragments may come in any order,
 * and more than once. It is given up when a fragment overlaps another with other than the same bytes, contradicts the
 * end that the last one told, ends beyond `longest`, is empty, or is no multiple of 8 bytes long without being the
 * last; when `timeout_ticks` have passed since its first one; and when all slots are taken: then the oldest makes room.
 * So memory and time per fragment are bounded, and a flood can only cost other fragmented datagrams. A flood cannot
 * make the look-up slow either: its hash has a secret.
 *
 * The timeout must be well below the time in which a sender uses up its 65536 identifications: 6.5 s at 10 kHz.
 *
 * For one thread; private memory. Nothing is allocated after rm_reassembly_new. Each of two mirrored networks needs one
 * of its own, for they may bring the same datagram in different pieces.
 */
#ifndef RM_WIRE_REASSEMBLY_H
#define RM_WIRE_REASSEMBLY_H

#include <stdint.h>

#include "wire/frame.h"

/** Longest that an IPv4 packet can carry. */
enum { RM_REASSEMBLY_LONGEST_MAX = 65535 - RM_IPV4_BYTES };

struct rm_reassembly;

/** Makes room for 1 or more `slots`, which are datagrams at once, of up to `longest` bytes, 8 …
 * RM_REASSEMBLY_LONGEST_MAX: what IPv4 carries, UDP header included. NULL when there is no memory. */
struct rm_reassembly *rm_reassembly_new(uint32_t slots, uint32_t longest, uint64_t timeout_ticks);

/** NULL is allowed. */
void rm_reassembly_free(struct rm_reassembly *reassembly);

/** Takes a frame for which rm_frame_parse said RM_PORT_FRAGMENT, at time `tsc`; its IPv4 header is not summed again.
 * Returns
 *   RM_PORT_FRAGMENT      put by, the datagram is not whole yet
 *   RM_PORT_BAD_FRAGMENT  refused, and with it all of its datagram that is here
 *   RM_PORT_DECODED       whole: `*datagram` is filled, its payload valid until the next call
 *   RM_PORT_TRUNCATED, RM_PORT_BAD_UDP_CHECKSUM: whole, and wrong as rm_frame_parse says it of unfragmented ones
 *   RM_PORT_NOT_UDP       a fragment of another protocol; left alone
 */
enum rm_port_counter rm_reassembly_put(struct rm_reassembly *reassembly, uint8_t const *frame, uint32_t length,
                                       uint64_t tsc, struct rm_datagram *datagram);

/** Gives up what has waited too long. Returns how many datagrams were given up for time or room since the last call,
 * for the counter. Costs nothing where nothing expires; call it every 10 ms or so. */
uint64_t rm_reassembly_expire(struct rm_reassembly *reassembly, uint64_t tsc);

#endif
