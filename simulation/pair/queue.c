// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <stdlib.h>

static bool event_is_before(struct rm_pair_event const *a, struct rm_pair_event const *b) {
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static bool pair_queue_make_room(struct rm_pair_queue *queue) {
    if (queue->count < queue->space)
        return true;
    uint32_t const space = queue->space == 0 ? 1024 : 2 * queue->space;
    struct rm_pair_event *const grown = realloc(queue->event, space * sizeof *grown);
    if (grown == NULL)
        return false;
    queue->event = grown;
    queue->space = space;
    return true;
}

bool rm_pair_queue_post(struct rm_pair_queue *queue, struct rm_pair_event event) {
    if (!pair_queue_make_room(queue))
        return false;
    event.number = queue->posted++;
    uint32_t at = queue->count++;
    for (; at > 0 && event_is_before(&event, &queue->event[(at - 1) / 2]); at = (at - 1) / 2)
        queue->event[at] = queue->event[(at - 1) / 2];
    queue->event[at] = event;
    return true;
}

bool rm_pair_queue_take(struct rm_pair_queue *queue, struct rm_pair_event *event) {
    if (queue->count == 0)
        return false;
    *event = queue->event[0];
    struct rm_pair_event const last = queue->event[--queue->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < queue->count; at = child) {
        child += child + 1 < queue->count && event_is_before(&queue->event[child + 1], &queue->event[child]);
        if (!event_is_before(&queue->event[child], &last))
            break;
        queue->event[at] = queue->event[child];
    }
    queue->event[at] = last;
    return true;
}

void rm_pair_queue_free(struct rm_pair_queue *queue) {
    free(queue->event);
    *queue = (struct rm_pair_queue){0};
}
