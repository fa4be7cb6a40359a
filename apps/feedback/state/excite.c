// SPDX-License-Identifier: Apache-2.0
#include "excite.h"

#include <math.h>

#include "names.h"

static void one_line(struct feedback_excite *excite) {
    excite->lines = 1;
    excite->each = excite->request.amplitude;
    excite->line_hz[0] = excite->request.low_hz;
    excite->phase[0] = 0.0;
}

static void many_lines(struct feedback_excite *excite) {
    double const last = FEEDBACK_EXCITE_LINES - 1;
    double const ratio = excite->request.high_hz / excite->request.low_hz;
    excite->lines = FEEDBACK_EXCITE_LINES;
    excite->each = excite->request.amplitude / sqrt(FEEDBACK_EXCITE_LINES);
    for (uint32_t i = 0; i < FEEDBACK_EXCITE_LINES; ++i) {
        excite->line_hz[i] = excite->request.low_hz * pow(ratio, i / last);
        excite->phase[i] = -0.5 * (double)i * (double)i / FEEDBACK_EXCITE_LINES;
    }
}

void feedback_excite_ask(struct feedback_excite *excite, struct feedback_excite_request const *request) {
    struct feedback_excite_request const *was = &excite->request;
    if (was->kind == request->kind && was->amplitude == request->amplitude && was->low_hz == request->low_hz &&
        was->high_hz == request->high_hz)
        return;
    excite->request = *request;
    excite->cycle = 0;
    excite->shift = 0x7FFF;
    if (request->kind == FEEDBACK_MULTI_SINE)
        many_lines(excite);
    else
        one_line(excite);
}

static double excite_sum_sines(struct feedback_excite const *excite) {
    double const time = (double)excite->cycle / excite->rate_hz;
    double sum = 0.0;
    for (uint32_t i = 0; i < excite->lines; ++i) {
        double const turns = excite->line_hz[i] * time + excite->phase[i];
        sum += excite->each * sin(2.0 * M_PI * (turns - floor(turns)));
    }
    return sum;
}

static bool excite_shift_register(struct feedback_excite *excite) {
    uint16_t const bit = (uint16_t)((excite->shift >> 14 ^ excite->shift >> 13) & 1);
    excite->shift = (uint16_t)((excite->shift << 1 | bit) & 0x7FFF);
    return bit != 0;
}

static double excite_noise(struct feedback_excite *excite) {
    return excite_shift_register(excite) ? excite->request.amplitude : -excite->request.amplitude;
}

void feedback_excite_skip(struct feedback_excite *excite, uint32_t cycles) {
    excite->cycle += cycles;
    for (uint32_t i = 0; excite->request.kind == FEEDBACK_PRBS && i < cycles; ++i)
        excite_shift_register(excite);
}

double feedback_excite_next(struct feedback_excite *excite) {
    double value = 0.0;
    switch (excite->request.kind) {
    case FEEDBACK_SINE:
    case FEEDBACK_MULTI_SINE:
        value = excite_sum_sines(excite);
        break;
    case FEEDBACK_PRBS:
        value = excite_noise(excite);
        break;
    case FEEDBACK_CONSTANT:
        value = excite->request.amplitude;
        break;
    default:
        break;
    }
    ++excite->cycle;
    return value;
}
