// SPDX-License-Identifier: Apache-2.0
#include "net/gate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/zeroed.h"

bool rm_gate_init(struct rm_gate *gate, uint16_t queues) {
    atomic_init(&gate->state, RM_GATE_CLOSED);
    gate->queues = queues;
    gate->receive = rm_zeroed(queues, sizeof(struct rm_gate_fast_path));
    gate->send = rm_zeroed(queues, sizeof(struct rm_gate_fast_path));
    if (gate->receive != NULL && gate->send != NULL)
        return true;
    rm_gate_free(gate);
    return false;
}

void rm_gate_free(struct rm_gate *gate) {
    free(gate->receive);
    free(gate->send);
    gate->receive = gate->send = NULL;
}

bool rm_gate_is_open(struct rm_gate *gate) { return atomic_load(&gate->state) == RM_GATE_OPEN; }

void rm_gate_open(struct rm_gate *gate) { atomic_store(&gate->state, RM_GATE_OPEN); }

static void pause_us(long microseconds) {
    struct timespec const pause = {.tv_nsec = microseconds * 1000};
    nanosleep(&pause, NULL);
}

static bool all_dry(struct rm_gate *gate, uint16_t queues) {
    for (uint16_t queue = 0; queue < queues; ++queue)
        if (atomic_load_explicit(&gate->receive[queue].used, memory_order_relaxed) &&
            !atomic_load_explicit(&gate->receive[queue].dry, memory_order_relaxed))
            return false;
    return true;
}

void rm_gate_drain(struct rm_gate *gate, uint16_t queues, uint32_t max_lag_ms) {
    for (uint16_t queue = 0; queue < queues; ++queue)
        atomic_store_explicit(&gate->receive[queue].dry, false, memory_order_relaxed);
    atomic_store(&gate->state, RM_GATE_DRAINING);
    for (uint32_t waited = 0; waited < max_lag_ms && !all_dry(gate, queues); ++waited)
        pause_us(1000);
}

void rm_gate_close(struct rm_gate *gate) {
    atomic_store(&gate->state, RM_GATE_CLOSED);
    for (uint16_t queue = 0; queue < gate->queues; ++queue)
        while (atomic_load(&gate->receive[queue].inside) || atomic_load(&gate->send[queue].inside))
            pause_us(10);
}
