// SPDX-License-Identifier: Apache-2.0
/** The reference: what every vector version must reproduce bit for bit. */
#include <math.h>

#include "filter/accumulate.h"

static void accumulate_scalar_convert(struct rm_decimator const *decimator, struct rm_record const *record,
                                      float value[RM_LANES]) {
    for (int lane = 0; lane < RM_LANES; ++lane) {
        bool const is_float = decimator->float_lanes >> lane & 1;
        value[lane] = is_float ? record->lane[lane].f : (float)record->lane[lane].i;
    }
}

void rm_accumulate_scalar(struct rm_decimator *decimator) {
    struct rm_fir_design const *const design = decimator->design;
    struct rm_record const *const record = rm_decimator_inputs(decimator)->record;
    float value[RM_DECIMATION_MAX][RM_LANES];
    for (uint32_t phase = 0; phase < design->decimation; ++phase)
        accumulate_scalar_convert(decimator, &record[phase], value[phase]);

    for (uint32_t age = 0; age < design->overlap; ++age) {
        uint32_t const first_phase = age == design->overlap - 1 ? 1 : 0;
        for (int lane = 0; lane < RM_LANES; ++lane) {
            float sum = decimator->sum[age + 1][4 + lane];
            for (uint32_t phase = first_phase; phase < design->decimation; ++phase)
                sum = fmaf(design->coefficient[phase * design->overlap + age], value[phase][lane], sum);
            decimator->sum[age][4 + lane] = sum;
        }
    }
}
