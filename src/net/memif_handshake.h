// SPDX-License-Identifier: Apache-2.0
/** How two ends of memif agree: what each may send, and what results: a channel of mapped memory, with rings in it.
 *
 * The functions take messages and make answers, and know no socket; memif_link.c carries them to and fro.
 */
#ifndef RM_NET_MEMIF_HANDSHAKE_H
#define RM_NET_MEMIF_HANDSHAKE_H

#include "net/memif_message.h"
#include "net/memif_ring.h"

/** Most rings in each direction. */
enum { RM_MEMIF_RINGS_MAX = 65 };

/** What an end offers: at least one ring in each direction. */
struct rm_memif_offer {
    uint16_t receive_rings;
    uint16_t send_rings;
    /** client: slots of each ring, as a power of two. */
    uint32_t slots_log2;
    /** client: bytes of each buffer, whole cache lines. */
    uint32_t send_bytes;
    /** The same. */
    uint32_t receive_bytes;
};

/** What was agreed on. */
struct rm_memif_channel {
    struct rm_memif_regions regions;
    uint16_t to_server_count;
    uint16_t to_client_count;
    struct rm_memif_place to_server[RM_MEMIF_RINGS_MAX];
    struct rm_memif_place to_client[RM_MEMIF_RINGS_MAX];
};

/** Unmaps and closes all of the channel. */
void rm_memif_channel_close(struct rm_memif_channel *channel);

/** Memory that a client makes of an offer, in bytes. */
uint64_t rm_memif_offer_bytes(struct rm_memif_offer const *offer);

/** The server's half of a handshake. */
struct rm_memif_server {
    struct rm_memif_offer const *offer;
    struct rm_memif_channel *channel;
    /** The client has sent INIT. */
    bool greeted;
    /** The handshake is over. */
    bool connected;
};

void rm_memif_server_hello(struct rm_memif_server const *server, struct rm_memif_message *hello);

/** Takes a message of the client, with its file or -1, which it closes or keeps. Makes the answer and returns NULL, or
 * returns why the client is refused. */
char const *rm_memif_server_take(struct rm_memif_server *server, struct rm_memif_message const *message, int file,
                                 struct rm_memif_message *answer);

/** The client's half: it makes the channel when it is greeted, and then has a number of messages to send, each when the
 * one before has been acknowledged. */
struct rm_memif_client {
    struct rm_memif_offer const *offer;
    struct rm_memif_channel *channel;
    int region_file;
    /** Messages sent so far. */
    uint32_t said;
};

/** Takes the server's HELLO. NULL, or why the two cannot meet. */
char const *rm_memif_client_greeted(struct rm_memif_client *client, struct rm_memif_message const *hello);

/** Gives the next message, and the file to go with it, which stays the client's, or -1. False when all were sent. The
 * last one is answered by CONNECTED, the others by ACK. */
bool rm_memif_client_next(struct rm_memif_client *client, struct rm_memif_message *message, int *file);

/** Call it when the handshake is over, however it went. */
void rm_memif_client_end(struct rm_memif_client *client);

#endif
