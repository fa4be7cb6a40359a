// SPDX-License-Identifier: Apache-2.0
#include "hold.h"

#include <stdlib.h>
#include <string.h>

bool rm_hold_make(struct rm_hold *hold, uint32_t payload_bytes) {
    hold->put = hold->taken = 0;
    hold->payload_bytes = payload_bytes;
    hold->payloads = malloc((size_t)RM_HOLD_DATAGRAMS * payload_bytes);
    return hold->payloads != NULL;
}

void rm_hold_free(struct rm_hold *hold) { free(hold->payloads); }

static uint8_t *hold_slot_of(struct rm_hold const *hold, uint64_t number) {
    return hold->payloads + number % RM_HOLD_DATAGRAMS * hold->payload_bytes;
}

void rm_hold_put(struct rm_hold *hold, uint8_t const *payload, uint32_t length, uint64_t due) {
    memcpy(hold_slot_of(hold, hold->put), payload, length);
    hold->length[hold->put % RM_HOLD_DATAGRAMS] = length;
    hold->due[hold->put % RM_HOLD_DATAGRAMS] = due;
    ++hold->put;
}

uint32_t rm_hold_take(struct rm_hold *hold, uint8_t *payload) {
    uint32_t const length = hold->length[hold->taken % RM_HOLD_DATAGRAMS];
    memcpy(payload, hold_slot_of(hold, hold->taken), length);
    ++hold->taken;
    return length;
}
