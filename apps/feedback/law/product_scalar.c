// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "product_pass.h"

enum { BLOCK = FEEDBACK_OUTPUT_BLOCK, HALF = BLOCK / 2 };

void feedback_add_scalar(int64_t *sum, int32_t const *weight, uint32_t count, int32_t error) {
    for (uint32_t first = 0; first < count; first += BLOCK)
        for (uint32_t i = 0; i < HALF; ++i) {
            sum[first + i] += (int64_t)weight[first + 2 * i] * error;
            sum[first + HALF + i] += (int64_t)weight[first + 2 * i + 1] * error;
        }
}

uint32_t feedback_end_scalar(struct feedback_ending const *ending) {
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < ending->outputs; ++i) {
        uint32_t const place = i / BLOCK * BLOCK + i % 2 * HALF + i % BLOCK / 2;
        double const product = (double)ending->sum[place] * ending->quantum[i] * ending->scale;
        double const value = product + ending->ahead[i];
        // As processors compare: what is no number passes both.
        double const above = ending->low[i] > value ? ending->low[i] : value;
        double const setpoint = ending->high[i] < above ? ending->high[i] : above;
        ending->setpoint[i] = setpoint;
        if (ending->cut != NULL)
            ending->cut[i] = value - setpoint;
        cuts += (value < setpoint) | (value > setpoint);
    }
    return cuts;
}
