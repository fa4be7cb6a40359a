// SPDX-License-Identifier: Apache-2.0
#include "net/punt_queue.h"

#include <stddef.h>

bool rm_punt_queue_make(struct rm_punt_queue *exception_path, uint16_t queues) {
    exception_path->next = 0;
    return rm_buffer_rings_make(&exception_path->rings, queues, RM_PUNT_QUEUE_SLOTS);
}

void rm_punt_queue_free(struct rm_punt_queue *exception_path) { rm_buffer_rings_free(&exception_path->rings); }

bool rm_punt_queue_has_room(struct rm_punt_queue const *exception_path, uint16_t queue) {
    return rm_buffer_rings_room(&exception_path->rings, queue) != 0;
}

bool rm_punt_queue_put(struct rm_punt_queue *exception_path, uint16_t queue, struct rm_burst *burst, uint32_t index) {
    if (rm_buffer_rings_put(&exception_path->rings, queue, &burst->handle[index], 1) == 0)
        return false;
    burst->handle[index] = NULL;
    burst->data[index] = NULL;
    burst->length[index] = 0;
    return true;
}

uint32_t rm_punt_queue_take(struct rm_punt_queue *exception_path, struct rm_burst *burst) {
    uint32_t count = 0;
    for (uint16_t i = 0; i < exception_path->rings.count && count < RM_BURST; ++i) {
        uint16_t const queue = exception_path->next;
        exception_path->next = (uint16_t)((queue + 1) % exception_path->rings.count);
        count += rm_buffer_rings_take(&exception_path->rings, queue, burst->handle + count, RM_BURST - count);
    }
    return count;
}
