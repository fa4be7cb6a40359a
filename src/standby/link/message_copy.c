// SPDX-License-Identifier: Apache-2.0
#include "standby/link/message_parts.h"

static bool copy_good(uint8_t of, uint8_t application) {
    return of <= RM_PEER_CONFIGURATION && application < RM_PEER_APPLICATIONS;
}

void rm_peer_want_write(struct rm_peer_writer *writer, struct rm_peer_want const *want) {
    rm_peer_put_u8(writer, want->of);
    rm_peer_put_u8(writer, want->application);
    rm_peer_put_u16(writer, want->count);
    rm_peer_put_u32(writer, want->first);
    rm_peer_put_u64(writer, want->id);
    rm_peer_put_u64(writer, want->turn);
}

bool rm_peer_want_read(struct rm_peer_reader *reader, struct rm_peer_want *want) {
    want->of = rm_peer_get_u8(reader);
    want->application = rm_peer_get_u8(reader);
    want->count = rm_peer_get_u16(reader);
    want->first = rm_peer_get_u32(reader);
    want->id = rm_peer_get_u64(reader);
    want->turn = rm_peer_get_u64(reader);
    return copy_good(want->of, want->application);
}

void rm_peer_offer_write(struct rm_peer_writer *writer, struct rm_peer_offer const *offer) {
    rm_peer_put_u8(writer, offer->of);
    rm_peer_put_u8(writer, offer->application);
    rm_peer_put_u64(writer, offer->id);
    rm_peer_put_u64(writer, offer->bytes);
    rm_peer_put_u64(writer, offer->sum);
    rm_peer_put_u64(writer, offer->checksum);
    rm_peer_put_u64(writer, offer->turn);
    rm_peer_put_u64(writer, offer->steps);
}

bool rm_peer_offer_read(struct rm_peer_reader *reader, struct rm_peer_offer *offer) {
    offer->of = rm_peer_get_u8(reader);
    offer->application = rm_peer_get_u8(reader);
    offer->id = rm_peer_get_u64(reader);
    offer->bytes = rm_peer_get_u64(reader);
    offer->sum = rm_peer_get_u64(reader);
    offer->checksum = rm_peer_get_u64(reader);
    offer->turn = rm_peer_get_u64(reader);
    offer->steps = rm_peer_get_u64(reader);
    return copy_good(offer->of, offer->application) && offer->id > 0;
}

bool rm_peer_chunk_write(struct rm_peer_writer *writer, struct rm_peer_chunk const *chunk) {
    if (chunk->count > RM_PEER_CHUNK_BYTES)
        return false;
    rm_peer_put_u8(writer, chunk->of);
    rm_peer_put_u8(writer, chunk->application);
    rm_peer_put_u16(writer, chunk->count);
    rm_peer_put_u32(writer, chunk->index);
    rm_peer_put_u64(writer, chunk->id);
    rm_peer_put(writer, chunk->bytes, chunk->count);
    return true;
}

bool rm_peer_chunk_read(struct rm_peer_reader *reader, struct rm_peer_chunk *chunk) {
    chunk->of = rm_peer_get_u8(reader);
    chunk->application = rm_peer_get_u8(reader);
    chunk->count = rm_peer_get_u16(reader);
    chunk->index = rm_peer_get_u32(reader);
    chunk->id = rm_peer_get_u64(reader);
    if (chunk->count > RM_PEER_CHUNK_BYTES)
        return false;
    rm_peer_get(reader, chunk->bytes, chunk->count);
    return copy_good(chunk->of, chunk->application) && chunk->id > 0;
}
