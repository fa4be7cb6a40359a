// SPDX-License-Identifier: Apache-2.0
#include "standby/link/datagram.h"

#include <sodium.h>
#include <string.h>

#include "standby/link/cursor.h"

static uint8_t const MAGIC[4] = {'R', 'M', 'S', 'L'};

int rm_peer_datagram_ready(void) { return sodium_init() >= 0; }

static void datagram_tag(uint8_t tag[RM_PEER_TAG_BYTES], uint8_t const *bytes, size_t size,
                         uint8_t const key[RM_PEER_KEY_BYTES]) {
    crypto_generichash(tag, RM_PEER_TAG_BYTES, bytes, size, key, RM_PEER_KEY_BYTES);
}

size_t rm_peer_datagram_seal(uint8_t *bytes, struct rm_peer_datagram const *datagram,
                             uint8_t const key[RM_PEER_KEY_BYTES]) {
    struct rm_peer_writer writer = {.at = bytes, .room = RM_PEER_DATAGRAM_BYTES};
    rm_peer_put(&writer, MAGIC, sizeof MAGIC);
    rm_peer_put_u8(&writer, datagram->version);
    rm_peer_put_u8(&writer, datagram->kind);
    rm_peer_put_u16(&writer, datagram->body_bytes);
    rm_peer_put_u64(&writer, datagram->from);
    rm_peer_put_u64(&writer, datagram->to);
    rm_peer_put_u64(&writer, datagram->sequence);
    if (datagram->body_bytes > 0 && datagram->body != writer.at)
        memmove(writer.at, datagram->body, datagram->body_bytes);
    size_t const size = RM_PEER_HEAD_BYTES + datagram->body_bytes;
    datagram_tag(bytes + size, bytes, size, key);
    return size + RM_PEER_TAG_BYTES;
}

enum rm_peer_opened rm_peer_datagram_open(uint8_t const *bytes, size_t size, uint8_t const key[RM_PEER_KEY_BYTES],
                                          struct rm_peer_datagram *datagram) {
    if (size < RM_PEER_HEAD_BYTES + RM_PEER_TAG_BYTES || size > RM_PEER_DATAGRAM_BYTES)
        return RM_PEER_BAD_LENGTH;
    if (memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return RM_PEER_BAD_MAGIC;
    struct rm_peer_reader reader = {.at = bytes + sizeof MAGIC, .left = RM_PEER_HEAD_BYTES - sizeof MAGIC};
    datagram->version = rm_peer_get_u8(&reader);
    datagram->kind = rm_peer_get_u8(&reader);
    datagram->body_bytes = rm_peer_get_u16(&reader);
    datagram->from = rm_peer_get_u64(&reader);
    datagram->to = rm_peer_get_u64(&reader);
    datagram->sequence = rm_peer_get_u64(&reader);
    datagram->body = reader.at;
    if (datagram->body_bytes != size - RM_PEER_HEAD_BYTES - RM_PEER_TAG_BYTES)
        return RM_PEER_BAD_LENGTH;
    uint8_t tag[RM_PEER_TAG_BYTES];
    datagram_tag(tag, bytes, size - RM_PEER_TAG_BYTES, key);
    return sodium_memcmp(tag, bytes + size - RM_PEER_TAG_BYTES, sizeof tag) == 0 ? RM_PEER_OPENED : RM_PEER_BAD_KEY;
}
