// SPDX-License-Identifier: Apache-2.0
/** Included once per instruction set: by a file that has defined FEEDBACK_TARGET, the attribute of its functions, and
 * FEEDBACK_UPDATE and FEEDBACK_MAP, their names (controllers_pass.h). Eight channels beside each other, as one vector
 * of the compiler's, which makes of it what the instruction set has. */
#include <math.h>
#include <string.h>

#include "controllers_pass.h"

enum { WIDE = FEEDBACK_CHANNEL_BLOCK };

typedef double eight __attribute__((vector_size(8 * sizeof(double)), may_alias));
typedef double eight_anywhere __attribute__((vector_size(8 * sizeof(double)), may_alias, aligned(sizeof(double))));
typedef int64_t eight_bits __attribute__((vector_size(8 * sizeof(int64_t)), may_alias));

static inline eight *eight_at(double *array, uint32_t first) { return (eight *)(array + first); }

/** One block of channels. The arguments are what the block's channels had in this cycle. */
FEEDBACK_TARGET static inline __attribute__((always_inline)) void update_block(struct feedback_controllers *controllers,
                                                                               uint32_t first, double const *error,
                                                                               double const *command,
                                                                               double const *sent) {
    struct feedback_law const *const law = &controllers->law;
    eight const z = *(eight_anywhere const *)error * *eight_at(controllers->gain, first);
    eight const commanded = *(eight_anywhere const *)command, held = *(eight_anywhere const *)sent;
    eight const cut = commanded - held;
    eight_bits const magnitude = (eight_bits){} + INT64_MAX;
    // What was cut, of what was sent; nothing sent and nothing commanded is nothing cut.
    eight const missing = (eight)((eight_bits)cut & magnitude), given = (eight)((eight_bits)held & magnitude);
    eight_bits const more = missing > given;
    eight const larger = (eight)(((eight_bits)missing & more) | ((eight_bits)given & ~more));
    eight const share = missing / (larger + 1e-300);
    eight const deaf = share * share;
    eight const listens = 1 - deaf, stays = 1 - feedback_bleed * deaf;

    *eight_at(controllers->held, first) = held;
    eight late = {}, model = {};
    for (int i = 0; i < 2; ++i) {
        eight const before = *eight_at(controllers->model[i], first);
        eight const now = law->pole[i] * before + (1 - law->pole[i]) * held;
        *eight_at(controllers->model[i], first) = now;
        model += law->share[i] * now;
        late += law->share[i] * ((1 - law->late[i]) * now + law->late[i] * before);
    }
    *eight_at(controllers->past[controllers->newest], first) = late;
    uint32_t const ring = FEEDBACK_DELAY_MOST + 1;
    eight const delayed = *eight_at(controllers->past[(controllers->newest + ring - law->delay) % ring], first);
    double const predicts = law->tuning.predicts ? 1 : 0;
    eight const gain = *eight_at(controllers->gain, first);
    eight const correction = predicts * gain * (delayed - model);

    eight const integral =
        *eight_at(controllers->integral, first) + law->integral * (z + *eight_at(controllers->correction, first)) - cut;
    *eight_at(controllers->integral, first) = integral;
    *eight_at(controllers->correction, first) = correction;
    eight even = integral, odd = (law->tuning.proportional + law->integral) * correction;
    eight const heard = listens * z;
    uint32_t const count = law->resonates ? law->tuning.resonator_count : 0;
    for (uint32_t j = 0; j < count; ++j) {
        double const cosine = controllers->line[j].cosine, sine = controllers->line[j].sine;
        eight const real = stays * *eight_at(controllers->real[j], first) + controllers->line[j].real * heard;
        eight const imaginary =
            stays * *eight_at(controllers->imaginary[j], first) + controllers->line[j].imaginary * heard;
        eight const turned = cosine * real - sine * imaginary;
        *eight_at(controllers->real[j], first) = turned;
        *eight_at(controllers->imaginary[j], first) = sine * real + cosine * imaginary;
        if (j % 2 == 0)
            even += turned;
        else
            odd += turned;
    }
    *eight_at(controllers->ahead, first) = even + odd;
}

FEEDBACK_TARGET void FEEDBACK_UPDATE(struct feedback_controllers *controllers, double const *error,
                                     double const *command, double const *sent) {
    uint32_t const whole = controllers->channels / WIDE * WIDE, rest = controllers->channels - whole;
    controllers->newest = (controllers->newest + 1) % (FEEDBACK_DELAY_MOST + 1);
    for (uint32_t first = 0; first < whole; first += WIDE)
        update_block(controllers, first, error + first, command + first, sent + first);
    if (rest == 0)
        return;
    double last[3][WIDE] = {0};
    memcpy(last[0], error + whole, rest * sizeof(double));
    memcpy(last[1], command + whole, rest * sizeof(double));
    memcpy(last[2], sent + whole, rest * sizeof(double));
    update_block(controllers, whole, last[0], last[1], last[2]);
}

/** to[row · WIDE] = Σ map[row · columns + column] · from[column · WIDE]: eight states of all channels. */
FEEDBACK_TARGET void FEEDBACK_MAP(double *to, uint32_t rows, double const *from, uint32_t columns, double const *map) {
    for (uint32_t row = 0; row < rows; ++row) {
        eight sum = {};
        for (uint32_t column = 0; column < columns; ++column)
            sum += map[(size_t)row * columns + column] * *(eight const *)(from + (size_t)column * WIDE);
        *eight_at(to, row * WIDE) = sum;
    }
}
