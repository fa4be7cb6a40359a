// SPDX-License-Identifier: Apache-2.0
#include "standby/link/copy.h"

#include <stdlib.h>
#include <string.h>

bool rm_peer_copy_room(struct rm_peer_copy_out *out, size_t bytes) {
    if (bytes > RM_PEER_COPY_BYTES_MAX)
        return false;
    if (bytes <= out->room)
        return true;
    uint8_t *const grown = realloc(out->bytes, bytes);
    if (grown == NULL)
        return false;
    out->bytes = grown;
    out->room = bytes;
    return true;
}

void rm_peer_copy_out_free(struct rm_peer_copy_out *out) { free(out->bytes); }

void rm_peer_copy_offer(struct rm_peer_copy_out *out, struct rm_peer_emitter const *emitter) {
    out->offer.sum = rm_peer_sum(out->bytes, out->offer.bytes);
    struct rm_peer_message const message = {.kind = RM_PEER_OFFER, .offer = out->offer};
    emitter->emit(emitter->context, &message);
}

size_t rm_peer_copy_answer(struct rm_peer_copy_out const *out, struct rm_peer_want const *want,
                           struct rm_peer_emitter const *emitter) {
    if (want->id != out->offer.id || want->id == 0)
        return 0;
    size_t sent = 0;
    uint32_t const count = want->count < RM_PEER_COPY_CHUNKS ? want->count : RM_PEER_COPY_CHUNKS;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_peer_message message = {.kind = RM_PEER_CHUNK};
        struct rm_peer_chunk *const chunk = &message.chunk;
        uint64_t const at = ((uint64_t)want->first + i) * RM_PEER_CHUNK_BYTES;
        if (at >= out->offer.bytes)
            break;
        uint64_t const left = out->offer.bytes - at;
        *chunk = (struct rm_peer_chunk){.of = out->offer.of,
                                        .application = out->offer.application,
                                        .index = want->first + i,
                                        .id = want->id,
                                        .count = (uint16_t)(left < RM_PEER_CHUNK_BYTES ? left : RM_PEER_CHUNK_BYTES)};
        memcpy(chunk->bytes, &out->bytes[at], chunk->count);
        emitter->emit(emitter->context, &message);
        sent += chunk->count;
    }
    return sent;
}

void rm_peer_copy_in_free(struct rm_peer_copy_in *in) {
    free(in->bytes);
    free(in->here);
}

void rm_peer_copy_end(struct rm_peer_copy_in *in) {
    in->offer.id = 0;
    in->whole = false;
}

static bool copy_grow(struct rm_peer_copy_in *in, size_t bytes) {
    if (bytes <= in->room)
        return true;
    uint8_t *const grown = realloc(in->bytes, bytes);
    if (grown != NULL)
        in->bytes = grown;
    bool *const here = realloc(in->here, bytes / RM_PEER_CHUNK_BYTES + 1);
    if (here != NULL)
        in->here = here;
    if (grown == NULL || here == NULL)
        return false;
    in->room = bytes;
    return true;
}

static void copy_check(struct rm_peer_copy_in *in) {
    if (in->come < in->chunks)
        return;
    in->whole = rm_peer_sum(in->bytes, in->offer.bytes) == in->offer.sum;
    if (!in->whole)
        in->offer.id = 0;
}

bool rm_peer_copy_begin(struct rm_peer_copy_in *in, struct rm_peer_offer const *offer, uint64_t capacity) {
    if (offer->id == in->offer.id || offer->bytes > capacity || offer->bytes > RM_PEER_COPY_BYTES_MAX ||
        !copy_grow(in, offer->bytes + 1))
        return false;
    in->offer = *offer;
    in->chunks = (uint32_t)((offer->bytes + RM_PEER_CHUNK_BYTES - 1) / RM_PEER_CHUNK_BYTES);
    in->come = in->next = 0;
    in->whole = false;
    memset(in->here, 0, in->chunks * sizeof *in->here);
    copy_check(in);
    return true;
}

bool rm_peer_copy_take(struct rm_peer_copy_in *in, struct rm_peer_chunk const *chunk) {
    if (chunk->id != in->offer.id || chunk->of != in->offer.of || chunk->application != in->offer.application ||
        chunk->index >= in->chunks || in->here[chunk->index])
        return false;
    uint64_t const at = (uint64_t)chunk->index * RM_PEER_CHUNK_BYTES;
    uint64_t const left = in->offer.bytes - at;
    if (chunk->count != (left < RM_PEER_CHUNK_BYTES ? left : RM_PEER_CHUNK_BYTES))
        return false;
    memcpy(&in->bytes[at], chunk->bytes, chunk->count);
    in->here[chunk->index] = true;
    ++in->come;
    while (in->next < in->chunks && in->here[in->next])
        ++in->next;
    copy_check(in);
    return true;
}

void rm_peer_copy_ask(struct rm_peer_copy_in *in, struct rm_peer_emitter const *emitter) {
    uint32_t last = in->next + 1;
    while (last < in->chunks && !in->here[last] && last - in->next < RM_PEER_COPY_CHUNKS)
        ++last;
    struct rm_peer_message const message = {.kind = RM_PEER_WANT,
                                            .want = {.of = in->offer.of,
                                                     .application = in->offer.application,
                                                     .id = in->offer.id,
                                                     .first = in->next,
                                                     .count = (uint16_t)(last - in->next)}};
    emitter->emit(emitter->context, &message);
}
