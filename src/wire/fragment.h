// SPDX-License-Identifier: Apache-2.0
/** A frame cut into IPv4 fragments, as a sender or a router does it whose next link takes no longer ones. */
#ifndef RM_WIRE_FRAGMENT_H
#define RM_WIRE_FRAGMENT_H

#include <stdint.h>

/** How many frames a whole frame of ours (rm_frame_write_header, with payload) becomes where IPv4 packets may have
 * `mtu` bytes, 28 or more: 1 when it fits as it is. */
uint32_t rm_fragment_count(uint8_t const *whole, uint32_t length, uint32_t mtu);

/** Writes frame `index` of them, of at most `mtu` bytes plus the Ethernet header; returns its length. `identification`
 * distinguishes fragments of one datagram from those of the next. Where the whole fits, the one frame is a copy of it.
 * The UDP checksum, if wanted, is in `whole` already. */
uint32_t rm_fragment_write(uint8_t const *whole, uint32_t length, uint32_t mtu, uint16_t identification, uint32_t index,
                           uint8_t *frame);

#endif
