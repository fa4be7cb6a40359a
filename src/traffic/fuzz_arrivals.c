// SPDX-License-Identifier: Apache-2.0
/** Frames of any bytes: nothing beyond them is read, and each is in one class of size, and stamped or foreign. The first
 * byte of the input gives the key, so that stamps are found too. */
#include <stdlib.h>

#include "traffic/arrivals.h"

enum { PIECE_MAX = 200 };

static uint64_t fuzz_sum(rm_counter const *counters, unsigned first, unsigned last) {
    uint64_t sum = 0;
    for (unsigned i = first; i <= last; ++i)
        sum += rm_counter_get(counters, i);
    return sum;
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    static struct rm_flows flows;
    static struct rm_histogram latency;
    rm_counter counters[RM_GENERATOR_COUNTERS] = {0};
    if (size < 1)
        return 0;
    if (flows.seen == NULL && rm_flows_init(&flows, 1, NULL) != RM_OK)
        abort();
    flows.key = rm_flow_stamp_key(data[0]);
    struct rm_burst burst = {.count = 0};
    for (size_t at = 1; at < size && burst.count < RM_BURST; at += PIECE_MAX) {
        uint32_t const length = (uint32_t)(size - at < PIECE_MAX ? size - at : PIECE_MAX);
        burst.data[burst.count] = malloc(length); // so that the sanitizer knows its end
        memcpy(burst.data[burst.count], data + at, length);
        burst.length[burst.count++] = length;
    }
    rm_arrivals_count(&burst, 1ull << 40, counters, &flows, &latency);
    if (fuzz_sum(counters, RM_GENERATOR_SIZE_64, RM_GENERATOR_JUMBO) != burst.count ||
        fuzz_sum(counters, RM_GENERATOR_FOREIGN, RM_GENERATOR_STAMPED) != burst.count)
        abort();
    for (uint32_t i = 0; i < burst.count; ++i)
        free(burst.data[i]);
    return 0;
}
