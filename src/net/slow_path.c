// SPDX-License-Identifier: Apache-2.0
#include "net/slow_path.h"

#include <stddef.h>

bool rm_slow_path_make(struct rm_slow_path *slow_path, uint16_t queues) {
    slow_path->next = 0;
    return rm_buffer_rings_make(&slow_path->rings, queues, RM_SLOW_PATH_SLOTS);
}

void rm_slow_path_free(struct rm_slow_path *slow_path) { rm_buffer_rings_free(&slow_path->rings); }

bool rm_slow_path_has_room(struct rm_slow_path const *slow_path, uint16_t queue) {
    return rm_buffer_rings_room(&slow_path->rings, queue) != 0;
}

bool rm_slow_path_put(struct rm_slow_path *slow_path, uint16_t queue, struct rm_burst *burst, uint32_t index) {
    if (rm_buffer_rings_put(&slow_path->rings, queue, &burst->handle[index], 1) == 0)
        return false;
    burst->handle[index] = NULL;
    burst->data[index] = NULL;
    burst->length[index] = 0;
    return true;
}

uint32_t rm_slow_path_take(struct rm_slow_path *slow_path, struct rm_burst *burst) {
    uint32_t count = 0;
    for (uint16_t i = 0; i < slow_path->rings.count && count < RM_BURST; ++i) {
        uint16_t const queue = slow_path->next;
        slow_path->next = (uint16_t)((queue + 1) % slow_path->rings.count);
        count += rm_buffer_rings_take(&slow_path->rings, queue, burst->handle + count, RM_BURST - count);
    }
    return count;
}
