// SPDX-License-Identifier: Apache-2.0
/** Numbers in the bytes of a datagram: little-endian, one after the other, without padding.
 *
 * A writer that has no room left, and a reader that finds too few bytes, remember it in `bad` and go on with nothing:
 * so a whole body is written or read, and one question at its end tells whether that was right.
 */
#ifndef RM_STANDBY_LINK_CURSOR_H
#define RM_STANDBY_LINK_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers go as they lie in memory");

struct rm_peer_writer {
    uint8_t *at;
    /** Bytes that are left. */
    size_t room;
    bool bad;
};

static inline void rm_peer_put(struct rm_peer_writer *writer, void const *bytes, size_t count) {
    if (writer->bad || count > writer->room) {
        writer->bad = true;
        return;
    }
    memcpy(writer->at, bytes, count);
    writer->at += count;
    writer->room -= count;
}

static inline void rm_peer_put_u8(struct rm_peer_writer *writer, uint8_t value) { rm_peer_put(writer, &value, 1); }
static inline void rm_peer_put_u16(struct rm_peer_writer *writer, uint16_t value) { rm_peer_put(writer, &value, 2); }
static inline void rm_peer_put_u32(struct rm_peer_writer *writer, uint32_t value) { rm_peer_put(writer, &value, 4); }
static inline void rm_peer_put_u64(struct rm_peer_writer *writer, uint64_t value) { rm_peer_put(writer, &value, 8); }

struct rm_peer_reader {
    uint8_t const *at;
    /** Bytes that are left. */
    size_t left;
    bool bad;
};

static inline void rm_peer_get(struct rm_peer_reader *reader, void *bytes, size_t count) {
    if (reader->bad || count > reader->left) {
        reader->bad = true;
        memset(bytes, 0, count);
        return;
    }
    memcpy(bytes, reader->at, count);
    reader->at += count;
    reader->left -= count;
}

static inline uint8_t rm_peer_get_u8(struct rm_peer_reader *reader) {
    uint8_t value;
    rm_peer_get(reader, &value, sizeof value);
    return value;
}

static inline uint16_t rm_peer_get_u16(struct rm_peer_reader *reader) {
    uint16_t value;
    rm_peer_get(reader, &value, sizeof value);
    return value;
}

static inline uint32_t rm_peer_get_u32(struct rm_peer_reader *reader) {
    uint32_t value;
    rm_peer_get(reader, &value, sizeof value);
    return value;
}

static inline uint64_t rm_peer_get_u64(struct rm_peer_reader *reader) {
    uint64_t value;
    rm_peer_get(reader, &value, sizeof value);
    return value;
}

/** True when all was there, and nothing was left over. */
static inline bool rm_peer_got_all(struct rm_peer_reader const *reader) { return !reader->bad && reader->left == 0; }

#endif
