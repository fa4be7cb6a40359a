// SPDX-License-Identifier: Apache-2.0
/** From what a port delivers to a datagram of a known format. */
#ifndef RM_ENGINE_RECEIVE_FRAME_H
#define RM_ENGINE_RECEIVE_FRAME_H

#include "engine/receive.h"
#include "wire/frame.h"

/** The format that comes to a UDP port, or NULL. */
static inline struct rm_receive_format const *rm_receive_format_of(struct rm_receive_queue const *queue,
                                                                   uint16_t udp_port) {
    for (uint32_t i = 0; i < queue->format_count; ++i)
        if (queue->format[i].udp_port == udp_port)
            return &queue->format[i];
    return NULL;
}

/** Takes entry `index` of the burst apart, puts fragments together, and finds the format. Returns RM_PORT_DECODED with
 * both filled in, or what is wrong. In that case `*foreign` says whether the frame may be for another receiver, and
 * belongs on the exception path. The payload is valid until the next call. */
enum rm_port_counter rm_receive_frame(struct rm_receive *receive, struct rm_receive_queue const *queue, uint32_t index,
                                      uint64_t tsc, struct rm_datagram *datagram,
                                      struct rm_receive_format const **format, bool *foreign);

#endif
