// SPDX-License-Identifier: Apache-2.0
/** One datagram of the link between two servers: its head, a body, and a tag that only holders of the key can make.
 *
 *     byte  0  magic "RMSL"       8  from: sender's number of the session    24  sequence, from 1 in each session
 *           4  version           16  to: receiver's number of the session    32  body
 *           5  kind                                                      32 + n  tag of 16 bytes
 *           6  bytes of the body, n
 *
 * Numbers are little-endian. The tag is BLAKE2b, keyed, over all that stands before it (libsodium's
 * crypto_generichash). So nobody without the key can say anything, and nobody can hear that a body was changed on its
 * way. Bodies are not secret: they hold turns, setpoints and decision records of a machine network.
 *
 * ## Versions
 * A process speaks RM_PEER_VERSION, and understands RM_PEER_VERSION_LEAST, which from version 2 on is one less. A HELLO
 * says both, and the two speak the highest that both understand. The head, and the first members of a HELLO, are the
 * same in all versions.
 */
#ifndef RM_STANDBY_LINK_DATAGRAM_H
#define RM_STANDBY_LINK_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
    RM_PEER_VERSION = 1,
    RM_PEER_VERSION_LEAST = 1,

    RM_PEER_KEY_BYTES = 32,
    RM_PEER_HEAD_BYTES = 32,
    RM_PEER_TAG_BYTES = 16,
    /** Longest datagram: with its IPv4 and UDP headers it fits an Ethernet frame. */
    RM_PEER_DATAGRAM_BYTES = 1440,
    RM_PEER_BODY_BYTES = RM_PEER_DATAGRAM_BYTES - RM_PEER_HEAD_BYTES - RM_PEER_TAG_BYTES,
};

/** The head of a datagram, and where its body lies. */
struct rm_peer_datagram {
    uint8_t version, kind;
    uint16_t body_bytes;
    uint64_t from, to, sequence;
    uint8_t const *body;
};

/** What became of a datagram that came. */
enum rm_peer_opened {
    RM_PEER_OPENED,
    /** It is shorter or longer than it says. */
    RM_PEER_BAD_LENGTH,
    /** It is none of ours. */
    RM_PEER_BAD_MAGIC,
    /** Its tag was made with another key, or it was changed on its way. */
    RM_PEER_BAD_KEY,
};

/** Makes the library ready; false where it cannot be. Call it once, first. */
int rm_peer_datagram_ready(void);

/** Writes head, body and tag into `bytes`, of RM_PEER_DATAGRAM_BYTES. `datagram->body` may lie at its place in `bytes`
 * already. Returns the datagram's length. `body_bytes` is at most RM_PEER_BODY_BYTES. */
size_t rm_peer_datagram_seal(uint8_t *bytes, struct rm_peer_datagram const *datagram,
                             uint8_t const key[RM_PEER_KEY_BYTES]);

/** Reads `size` bytes of any content. `datagram->body` then points into `bytes`. The version is not judged here. */
enum rm_peer_opened rm_peer_datagram_open(uint8_t const *bytes, size_t size, uint8_t const key[RM_PEER_KEY_BYTES],
                                          struct rm_peer_datagram *datagram);

#endif
