// SPDX-License-Identifier: Apache-2.0
#include "standby/link/message_parts.h"

#include <ringmaster/standby.h>

void rm_peer_hello_write(struct rm_peer_writer *writer, struct rm_peer_hello const *hello) {
    rm_peer_put_u8(writer, hello->version);
    rm_peer_put_u8(writer, hello->least);
    rm_peer_put_u8(writer, hello->server);
    rm_peer_put(writer, hello->name, sizeof hello->name);
    rm_peer_put(writer, hello->build, sizeof hello->build);
    rm_peer_put(writer, hello->digest, sizeof hello->digest);
}

bool rm_peer_hello_read(struct rm_peer_reader *reader, struct rm_peer_hello *hello) {
    hello->version = rm_peer_get_u8(reader);
    hello->least = rm_peer_get_u8(reader);
    hello->server = rm_peer_get_u8(reader);
    rm_peer_get(reader, hello->name, sizeof hello->name);
    rm_peer_get(reader, hello->build, sizeof hello->build);
    rm_peer_get(reader, hello->digest, sizeof hello->digest);
    hello->name[sizeof hello->name - 1] = hello->build[sizeof hello->build - 1] = '\0';
    return !reader->bad && hello->least > 0 && hello->version >= hello->least;
}

bool rm_peer_status_write(struct rm_peer_writer *writer, struct rm_peer_status const *status) {
    if (status->count > RM_PEER_APPLICATIONS)
        return false;
    rm_peer_put_u8(writer, status->role);
    rm_peer_put_u8(writer, status->reason);
    rm_peer_put_u8(writer, status->flags);
    rm_peer_put_u32(writer, status->term);
    rm_peer_put_u64(writer, status->instance);
    rm_peer_put_u64(writer, status->turn);
    rm_peer_put_u64(writer, status->acknowledged);
    rm_peer_put_u64(writer, status->time_ns);
    rm_peer_put_u64(writer, status->echo_ns);
    rm_peer_put_u64(writer, status->held_ns);
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        rm_peer_put_u64(writer, status->vector[of]);
    rm_peer_put_u8(writer, status->count);
    for (uint8_t i = 0; i < status->count; ++i) {
        rm_peer_put_u64(writer, status->progress[i].came);
        rm_peer_put_u64(writer, status->progress[i].followed);
    }
    return true;
}

bool rm_peer_status_read(struct rm_peer_reader *reader, struct rm_peer_status *status) {
    status->role = rm_peer_get_u8(reader);
    status->reason = rm_peer_get_u8(reader);
    status->flags = rm_peer_get_u8(reader);
    status->term = rm_peer_get_u32(reader);
    status->instance = rm_peer_get_u64(reader);
    status->turn = rm_peer_get_u64(reader);
    status->acknowledged = rm_peer_get_u64(reader);
    status->time_ns = rm_peer_get_u64(reader);
    status->echo_ns = rm_peer_get_u64(reader);
    status->held_ns = rm_peer_get_u64(reader);
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        status->vector[of] = rm_peer_get_u64(reader);
    status->count = rm_peer_get_u8(reader);
    if (status->count > RM_PEER_APPLICATIONS)
        return false;
    for (uint8_t i = 0; i < status->count; ++i) {
        status->progress[i].came = rm_peer_get_u64(reader);
        status->progress[i].followed = rm_peer_get_u64(reader);
    }
    return status->role <= RM_STANDBY_FAULT && status->term <= RM_TERM_MAX;
}
