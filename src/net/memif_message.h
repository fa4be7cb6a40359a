// SPDX-License-Identifier: Apache-2.0
/** The control messages of memif 2.0, by which two ends agree on the memory they share.
 *
 * Each is one packet of 128 bytes through a Unix socket of type SOCK_SEQPACKET, in native byte order, and may carry one
 * file. The server greets; the client, which makes the memory, announces it piece by piece and has each piece
 * acknowledged:
 *
 *     server                                          client
 *     HELLO: versions, how many of each it has   →
 *                                                ←    INIT: version, number and kind of the interface
 *     ACK                                        →
 *                                                ←    ADD_REGION, with a file: memory               (ACK for each)
 *                                                ←    ADD_RING, with a file: an eventfd to wake by  (ACK for each)
 *                                                ←    CONNECT
 *     CONNECTED                                  →
 *
 * and each may send DISCONNECT at any time. All that comes from a peer is checked.
 */
#ifndef RM_NET_MEMIF_MESSAGE_H
#define RM_NET_MEMIF_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /** Version 2.0. */
    RM_MEMIF_VERSION = 0x0200,

    RM_MEMIF_NAME_BYTES = 32,
    RM_MEMIF_SECRET_BYTES = 24,
    RM_MEMIF_REASON_BYTES = 96,
    RM_MEMIF_MESSAGE_BYTES = 128,
    RM_MEMIF_MODE_ETHERNET = 0,
    /** Flag of rm_memif_add_ring: frames go from client to server; else the other way. */
    RM_MEMIF_RING_TO_SERVER = 1,
};

enum rm_memif_type {
    RM_MEMIF_ACK = 1,
    RM_MEMIF_HELLO,
    RM_MEMIF_INIT,
    RM_MEMIF_ADD_REGION,
    RM_MEMIF_ADD_RING,
    RM_MEMIF_CONNECT,
    RM_MEMIF_CONNECTED,
    RM_MEMIF_DISCONNECT,
};

/** Names are for people, and zero-terminated when they are short enough. */
struct rm_memif_hello {
    char name[RM_MEMIF_NAME_BYTES];
    uint16_t lowest_version;
    uint16_t highest_version;
    /** Highest region index that it takes: one less than their number. */
    uint16_t last_region;
    /** Highest ring index, in the same way. */
    uint16_t last_ring_to_client;

    uint16_t last_ring_to_server;
    uint8_t most_slots_log2;
} __attribute__((packed));

struct rm_memif_init {
    uint16_t version;
    /** Number of the interface; several interfaces may share a socket. */
    uint32_t interface;

    uint8_t mode;
    char secret[RM_MEMIF_SECRET_BYTES];
    char name[RM_MEMIF_NAME_BYTES];
} __attribute__((packed));

struct rm_memif_add_region {
    /** Regions come in the order 0, 1, … */
    uint16_t index;

    uint64_t bytes;
} __attribute__((packed));

struct rm_memif_add_ring {
    uint16_t flags;
    /** Rings are numbered 0, 1, … in each direction. */
    uint16_t index;

    uint16_t region;
    /** Offset of the ring in its region, in bytes. */
    uint32_t offset;

    uint8_t slots_log2;
    uint16_t private_header_bytes;
} __attribute__((packed));

/** Content of CONNECT and CONNECTED. */
struct rm_memif_connected {
    char name[RM_MEMIF_NAME_BYTES];
} __attribute__((packed));

struct rm_memif_disconnect {
    uint32_t code;
    char reason[RM_MEMIF_REASON_BYTES];
} __attribute__((packed));

struct rm_memif_message {
    /** enum rm_memif_type; 0 and others are possible in what was received. */
    uint16_t type;

    union {
        struct rm_memif_hello hello;
        struct rm_memif_init init;
        struct rm_memif_add_region add_region;
        struct rm_memif_add_ring add_ring;
        struct rm_memif_connected connect;
        struct rm_memif_disconnect disconnect;
        uint8_t bytes[RM_MEMIF_MESSAGE_BYTES - 2];
    };
} __attribute__((packed, aligned(8)));

_Static_assert(sizeof(struct rm_memif_hello) == 43, "as memif has it");
_Static_assert(sizeof(struct rm_memif_init) == 63, "as memif has it");
_Static_assert(sizeof(struct rm_memif_add_region) == 10, "as memif has it");
_Static_assert(sizeof(struct rm_memif_add_ring) == 13, "as memif has it");
_Static_assert(sizeof(struct rm_memif_disconnect) == 100, "as memif has it");
_Static_assert(sizeof(struct rm_memif_message) == RM_MEMIF_MESSAGE_BYTES, "as memif has it");

/** Sends `message`, and `file` with it unless it is -1; `file` stays open here. Never waits; false when the peer is
 * gone or does not read. */
bool rm_memif_message_send(int socket, struct rm_memif_message const *message, int file);

/** Receives one message, and the file that came with it or -1, which is the caller's to close; files beyond the first
 * are closed. False when the peer is gone, or sent something that is no message: then there is no file either. */
bool rm_memif_message_receive(int socket, struct rm_memif_message *message, int *file);

/** Tells the peer, if it still reads, that the link ends, and why. */
void rm_memif_message_part(int socket, char const *reason);

#endif
