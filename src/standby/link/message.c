// SPDX-License-Identifier: Apache-2.0
#include "standby/link/message.h"

#include <sodium.h>

#include "standby/link/message_parts.h"

uint64_t rm_peer_sum(void const *bytes, size_t count) {
    uint64_t sum[2]; // the shortest that the library makes is of 16 bytes
    crypto_generichash((uint8_t *)sum, sizeof sum, bytes, count, NULL, 0);
    return sum[0];
}

static void repeat_write(struct rm_peer_writer *writer, struct rm_peer_repeat const *repeat) {
    rm_peer_put_u8(writer, repeat->application);
    rm_peer_put_u64(writer, repeat->after);
}

static bool repeat_read(struct rm_peer_reader *reader, struct rm_peer_repeat *repeat) {
    repeat->application = rm_peer_get_u8(reader);
    repeat->after = rm_peer_get_u64(reader);
    return repeat->application < RM_PEER_APPLICATIONS;
}

static void switch_write(struct rm_peer_writer *writer, struct rm_peer_switch const *exchange) {
    rm_peer_put_u8(writer, exchange->phase);
    rm_peer_put_u64(writer, exchange->id);
    rm_peer_put_u64(writer, exchange->turn);
    rm_peer_put(writer, exchange->reason, sizeof exchange->reason);
}

static bool switch_read(struct rm_peer_reader *reader, struct rm_peer_switch *exchange) {
    exchange->phase = rm_peer_get_u8(reader);
    exchange->id = rm_peer_get_u64(reader);
    exchange->turn = rm_peer_get_u64(reader);
    rm_peer_get(reader, exchange->reason, sizeof exchange->reason);
    exchange->reason[sizeof exchange->reason - 1] = '\0';
    return exchange->phase >= RM_PEER_ASKED && exchange->phase <= RM_PEER_REFUSED;
}

static bool body_write(struct rm_peer_writer *writer, struct rm_peer_message const *message) {
    switch (message->kind) {
    case RM_PEER_HELLO:
        rm_peer_hello_write(writer, &message->hello);
        return true;
    case RM_PEER_STATUS:
        return rm_peer_status_write(writer, &message->status);
    case RM_PEER_VECTOR:
        return rm_peer_vector_write(writer, &message->vector);
    case RM_PEER_STEP:
        return rm_peer_step_write(writer, &message->step);
    case RM_PEER_REPEAT:
        repeat_write(writer, &message->repeat);
        return true;
    case RM_PEER_WANT:
        rm_peer_want_write(writer, &message->want);
        return true;
    case RM_PEER_OFFER:
        rm_peer_offer_write(writer, &message->offer);
        return true;
    case RM_PEER_CHUNK:
        return rm_peer_chunk_write(writer, &message->chunk);
    case RM_PEER_SWITCH:
        switch_write(writer, &message->exchange);
        return true;
    case RM_PEER_BYE:
        return true;
    }
    return false;
}

size_t rm_peer_message_write(struct rm_peer_message const *message, uint8_t body[RM_PEER_BODY_BYTES]) {
    struct rm_peer_writer writer = {.at = body, .room = RM_PEER_BODY_BYTES};
    return body_write(&writer, message) && !writer.bad ? (size_t)(writer.at - body) : 0;
}

bool rm_peer_message_read(uint8_t kind, uint8_t const *body, size_t bytes, struct rm_peer_message *message) {
    struct rm_peer_reader reader = {.at = body, .left = bytes};
    bool good = false;
    message->kind = (enum rm_peer_kind)kind;
    switch (message->kind) {
    case RM_PEER_HELLO:
        return rm_peer_hello_read(&reader, &message->hello);
    case RM_PEER_STATUS:
        good = rm_peer_status_read(&reader, &message->status);
        break;
    case RM_PEER_VECTOR:
        good = rm_peer_vector_read(&reader, &message->vector);
        break;
    case RM_PEER_STEP:
        good = rm_peer_step_read(&reader, &message->step);
        break;
    case RM_PEER_REPEAT:
        good = repeat_read(&reader, &message->repeat);
        break;
    case RM_PEER_WANT:
        good = rm_peer_want_read(&reader, &message->want);
        break;
    case RM_PEER_OFFER:
        good = rm_peer_offer_read(&reader, &message->offer);
        break;
    case RM_PEER_CHUNK:
        good = rm_peer_chunk_read(&reader, &message->chunk);
        break;
    case RM_PEER_SWITCH:
        good = switch_read(&reader, &message->exchange);
        break;
    case RM_PEER_BYE:
        good = true;
        break;
    }
    return good && rm_peer_got_all(&reader);
}
