// SPDX-License-Identifier: Apache-2.0
#include "loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../law/accumulate.h"
#include "../law/clamp.h"
#include "base/zeroed.h"

enum { LINE_BYTES = 64 };

static struct feedback_basis const *basis_of(struct feedback_loop const *loop, uint32_t p) {
    return &loop->answer->solution->basis[p];
}

static bool has_controllers(struct feedback_answer const *answer, uint32_t p) {
    return answer != NULL && answer->controllers[p].memory != NULL;
}

/** The arrays of doubles per output, to be laid out one after the other. */
static uint32_t lay_out_loop(struct feedback_loop *loop, double *next) {
    double **const array[] = {&loop->base,   &loop->reference, &loop->ahead,     &loop->low,
                              &loop->high,   &loop->setpoint,  &loop->cut,       &loop->forward,
                              &loop->before, &loop->most_low,  &loop->most_high, &loop->slew};
    uint32_t const count = sizeof array / sizeof array[0];
    for (uint32_t i = 0; next != NULL && i < count; ++i, next += loop->layout->outputs)
        *array[i] = next;
    return count;
}

static bool make_unload(struct feedback_loop *loop, uint32_t p) {
    struct feedback_unload *unload = &loop->unload[p];
    unload->pending = calloc(loop->layout->part[p].outputs, sizeof *unload->pending);
    unload->moved = calloc(loop->layout->part[p].outputs, sizeof *unload->moved);
    return unload->pending != NULL && unload->moved != NULL;
}

bool feedback_loop_make(struct feedback_loop *loop, struct feedback_configuration const *configuration,
                        struct feedback_layout const *layout, double rate_hz) {
    *loop = (struct feedback_loop){
        .configuration = configuration, .layout = layout, .rate_hz = rate_hz, .excitation = {.part = -1}};
    size_t const outputs = layout->outputs, channels = layout->channels + 1;
    loop->memory = rm_zeroed(outputs * lay_out_loop(loop, NULL) + 1, sizeof(double));
    loop->sum = rm_zeroed(outputs + 8, sizeof *loop->sum);
    loop->z = calloc(5 * channels, sizeof *loop->z);
    loop->plane = calloc(layout->rows + 1, 1);
    loop->is_in = calloc(outputs + 1, 1);
    bool made =
        loop->memory != NULL && loop->sum != NULL && loop->z != NULL && loop->plane != NULL && loop->is_in != NULL;
    for (uint32_t p = 0; made && p < layout->part_count; ++p)
        made = make_unload(loop, p);
    if (!made) {
        feedback_loop_free(loop);
        return false;
    }
    lay_out_loop(loop, loop->memory);
    loop->command = loop->z + channels;
    loop->sent = loop->command + channels;
    loop->scaled = loop->sent + channels;
    loop->modelled = loop->scaled + channels;
    for (uint32_t r = 0; r < layout->rows; ++r)
        loop->plane[r] = feedback_row_plane(configuration->matrix.row_name[r]);
    return true;
}

void feedback_loop_free(struct feedback_loop *loop) {
    for (uint32_t p = 0; p < FEEDBACK_PARTS_MAX; ++p) {
        free(loop->unload[p].pending);
        free(loop->unload[p].moved);
    }
    free(loop->memory);
    free(loop->sum);
    free(loop->z);
    free(loop->plane);
    free(loop->is_in);
    *loop = (struct feedback_loop){0};
}

/** What the excitation adds to a channel, in the actuator's unit. */
static double excitation_of(struct feedback_loop const *loop, uint32_t p, double value_nm) {
    double const singular = basis_of(loop, p)->singular[loop->excitation.number];
    return singular > 0.0 ? value_nm / singular : 0.0;
}

static bool excites_channel(struct feedback_loop const *loop, uint32_t p) {
    return loop->excitation.part == (int32_t)p && !loop->excitation.at_output &&
           loop->excitation.number < basis_of(loop, p)->channels;
}

/** Columns on their way into a sum, in their order. */
struct columns {
    double *sum;
    uint32_t length, count;
    double const *column[4];
    double factor[4];
};

static void add_column(struct columns *columns, double const *column, double factor) {
    columns->column[columns->count] = column;
    columns->factor[columns->count++] = factor;
    if (columns->count < 4)
        return;
    feedback_accumulate_four(columns->sum, columns->column, columns->factor, columns->length);
    columns->count = 0;
}

static void add_rest(struct columns *columns) {
    for (uint32_t i = 0; i < columns->count; ++i)
        feedback_accumulate(columns->sum, columns->column[i], columns->factor[i], columns->length);
}

static void look_part(struct feedback_loop *loop, uint32_t p, int32_t const *error_nm) {
    struct feedback_part const *part = &loop->layout->part[p];
    uint32_t const channels = loop->answer->controllers[p].channels;
    double *z = loop->z + part->channel;
    memset(z, 0, channels * sizeof *z);
    struct columns columns = {.sum = z, .length = channels};
    for (uint32_t row = 0; row < loop->layout->rows; ++row) {
        if (error_nm[row] == 0 || (part->plane != 'b' && loop->plane[row] != part->plane))
            continue;
        add_column(&columns, loop->answer->errors[p] + (size_t)row * channels, error_nm[row]);
    }
    add_rest(&columns);
    if (excites_channel(loop, p))
        z[loop->excitation.number] += excitation_of(loop, p, loop->excitation.value);
}

void feedback_loop_look(struct feedback_loop *loop, int32_t const *error_nm) {
    for (uint32_t p = 0; p < loop->layout->part_count; ++p)
        if (has_controllers(loop->answer, p))
            look_part(loop, p, error_nm);
}

/** Takes outputs⁺ · `surplus` of one output off the channels. */
static void take_off(struct feedback_loop const *loop, uint32_t p, uint32_t column, double surplus, double *channel) {
    uint32_t const channels = loop->answer->controllers[p].channels;
    if (loop->answer->inverse[p] == NULL) {
        if (column < channels)
            channel[column] -= surplus;
        return;
    }
    feedback_accumulate(channel, loop->answer->inverse[p] + (size_t)column * channels, -surplus, channels);
}

/** What the law commanded of the channels. A excitation at an output is none of it: it is a disturbance that the loop
 * does not know of, so that what is measured is what disturbances see. */
static void command_of(struct feedback_loop const *loop, uint32_t p, double const *scaled, double *command) {
    struct feedback_controllers const *controllers = &loop->answer->controllers[p];
    for (uint32_t k = 0; k < controllers->channels; ++k)
        command[k] = controllers->law.direct * controllers->gain[k] * scaled[k] + controllers->ahead[k];
}

/** And what they were sent: without what limits, or another system, made of it. */
static void sent_of(struct feedback_loop const *loop, uint32_t p, double const *other, double *sent) {
    struct feedback_part const *part = &loop->layout->part[p];
    for (uint32_t i = 0; i < part->columns; ++i) {
        uint32_t const output = part->first + i;
        double surplus = loop->cut[output];
        if (other != NULL)
            surplus += loop->setpoint[output] - other[output];
        if (surplus != 0.0 && isfinite(surplus))
            take_off(loop, p, i, surplus, sent);
    }
}

static void learn_part(struct feedback_loop *loop, uint32_t p, double const *other) {
    uint32_t const first = loop->layout->part[p].channel;
    struct feedback_controllers *controllers = &loop->answer->controllers[p];
    double *scaled = loop->scaled + first, *modelled = loop->modelled + first;
    double *command = loop->command + first, *sent = loop->sent + first;
    for (uint32_t k = 0; k < controllers->channels; ++k)
        scaled[k] = loop->z[first + k] * loop->scale;
    command_of(loop, p, scaled, command);
    memcpy(sent, command, controllers->channels * sizeof *sent);
    sent_of(loop, p, other, sent);
    /* The plant's model is part of the loop, whose gain is `scale`; what was cut was cut whole. */
    for (uint32_t k = 0; k < controllers->channels; ++k) {
        double const cut = command[k] - sent[k];
        sent[k] *= loop->scale;
        modelled[k] = sent[k] + cut;
    }
    feedback_controllers_update(controllers, scaled, modelled, sent);
}

void feedback_loop_learn(struct feedback_loop *loop, double const *other) {
    for (uint32_t p = 0; p < loop->layout->part_count; ++p)
        if (has_controllers(loop->answer, p))
            learn_part(loop, p, other);
    loop->is_clear = false;
}

void feedback_loop_hold(struct feedback_loop *loop, uint32_t cycles) {
    for (uint32_t p = 0; p < loop->layout->part_count; ++p) {
        if (!has_controllers(loop->answer, p))
            continue;
        feedback_controllers_skip(&loop->answer->controllers[p], cycles);
        feedback_unload_skip(&loop->unload[p], cycles, loop->base + loop->layout->part[p].first);
    }
}

static void clear_controllers(struct feedback_loop *loop) {
    for (uint32_t p = 0; p < loop->layout->part_count; ++p) {
        memset(loop->unload[p].pending, 0, loop->layout->part[p].outputs * sizeof(double));
        if (has_controllers(loop->answer, p))
            feedback_controllers_clear(&loop->answer->controllers[p]);
    }
    loop->is_clear = true;
}

void feedback_loop_rest(struct feedback_loop *loop, double const *standing, bool sets_reference) {
    if (!loop->is_clear)
        clear_controllers(loop);
    for (uint32_t output = 0; output < loop->layout->outputs; ++output) {
        loop->setpoint[output] = standing[output];
        loop->base[output] = standing[output] - loop->forward[output];
        if (sets_reference)
            loop->reference[output] = standing[output];
    }
    loop->scale = 0.0;
}

/** What the controllers, and a excitation at a channel, put ahead: added to `ahead`. */
static void add_channels(struct feedback_loop const *loop, uint32_t p, double *ahead) {
    struct feedback_part const *part = &loop->layout->part[p];
    struct feedback_controllers const *controllers = &loop->answer->controllers[p];
    double const *outputs = loop->answer->outputs[p];
    struct columns columns = {.sum = ahead + part->first, .length = part->columns};
    for (uint32_t k = 0; k < controllers->channels; ++k) {
        double w = controllers->ahead[k];
        if (excites_channel(loop, p) && loop->excitation.number == k)
            w += loop->scale * controllers->law.direct * controllers->gain[k] *
                 excitation_of(loop, p, loop->excitation.next);
        if (outputs == NULL) {
            ahead[part->first + k] += w;
            continue;
        }
        add_column(&columns, outputs + (size_t)k * part->columns, w);
    }
    add_rest(&columns);
}

static void loop_gather_commands(struct feedback_loop const *loop, double *ahead) {
    for (uint32_t p = 0; p < loop->layout->part_count; ++p)
        if (has_controllers(loop->answer, p))
            add_channels(loop, p, ahead);
}

static void take_part(struct feedback_loop const *loop, struct feedback_answer *answer, uint32_t p) {
    if (!has_controllers(answer, p) || !has_controllers(loop->answer, p) || answer->solution->map[p] == NULL)
        return;
    feedback_controllers_retune(&loop->answer->controllers[p], &answer->controllers[p].law);
    feedback_controllers_map(&answer->controllers[p], &loop->answer->controllers[p], answer->solution->map[p]);
}

static void note_in(struct feedback_loop *loop) {
    for (uint32_t output = 0; output < loop->layout->outputs; ++output) {
        uint32_t const column = loop->layout->column_of[output];
        loop->is_in[output] = column != UINT32_MAX && loop->answer->asked.column_in[column];
    }
}

void feedback_loop_take(struct feedback_loop *loop, struct feedback_answer *answer) {
    memset(loop->before, 0, loop->layout->outputs * sizeof *loop->before);
    loop_gather_commands(loop, loop->before);
    for (uint32_t p = 0; p < loop->layout->part_count; ++p)
        take_part(loop, answer, p);
    loop->answer = answer;
    note_in(loop);
    memset(loop->cut, 0, loop->layout->outputs * sizeof *loop->cut);
    loop_gather_commands(loop, loop->cut); /* which has been learnt from, and is made anew by the next cycle */
    for (uint32_t output = 0; output < loop->layout->outputs; ++output)
        if (loop->is_in[output])
            loop->base[output] += loop->before[output] - loop->cut[output];
        else
            loop->base[output] = loop->setpoint[output] - loop->forward[output];
    memset(loop->cut, 0, loop->layout->outputs * sizeof *loop->cut);
}

static int32_t taker_of(struct feedback_loop const *loop, uint32_t p) {
    struct feedback_part const *part = &loop->layout->part[p];
    int32_t const family = loop->configuration->family[part->family].unload_to;
    for (uint32_t q = 0; family >= 0 && q < loop->layout->part_count; ++q)
        if (loop->layout->part[q].family == (uint32_t)family && loop->layout->part[q].plane == part->plane)
            return (int32_t)q;
    return -1;
}

static void unload_part(struct feedback_loop *loop, uint32_t p, struct feedback_part const *taker) {
    struct feedback_part const *part = &loop->layout->part[p];
    struct feedback_unload *unload = &loop->unload[p];
    double const crossover = loop->configuration->family[part->family].crossover_hz;
    double const bandwidth = loop->configuration->family[taker->family].plant.bandwidth_hz;
    unload->fasts = part->outputs;
    unload->slows = taker->outputs;
    unload->rate = 2.0 * M_PI * crossover / loop->rate_hz;
    unload->keep = bandwidth > 0.0 ? exp(-2.0 * M_PI * bandwidth / loop->rate_hz) : 0.0;
    unload->handover = loop->answer->solution->handover[p];
    feedback_unload_step(unload, loop->setpoint + part->first, loop->reference + part->first, loop->is_in + part->first,
                         loop->base + part->first, loop->base + taker->first);
    for (uint32_t output = taker->first; output < taker->first + taker->columns; ++output) /* no further than it can */
        if (loop->is_in[output])
            loop->base[output] = feedback_clamp(loop->base[output], loop->most_low[output], loop->most_high[output]);
}

void feedback_loop_unload(struct feedback_loop *loop) {
    for (uint32_t p = 0; p < loop->layout->part_count; ++p) {
        int32_t const taker = taker_of(loop, p);
        if (taker >= 0 && loop->answer->solution->handover[p] != NULL)
            unload_part(loop, p, &loop->layout->part[taker]);
    }
}

static void make_limits(struct feedback_loop *loop) {
    for (uint32_t output = 0; output < loop->layout->outputs; ++output) {
        double const at = loop->setpoint[output];
        if (loop->layout->column_of[output] == UINT32_MAX) {
            loop->low[output] = loop->high[output] = 0.0;
        } else if (!loop->is_in[output]) {
            loop->low[output] = loop->high[output] = at;
        } else {
            double const slew = loop->slew[output];
            loop->low[output] = feedback_max(feedback_min(at - slew, loop->most_high[output]), loop->most_low[output]);
            loop->high[output] = feedback_min(feedback_max(at + slew, loop->most_low[output]), loop->most_high[output]);
        }
    }
}

void feedback_loop_near(struct feedback_loop const *loop) {
    enum { NUMBERS_OF_A_LINE = LINE_BYTES / sizeof(double) };
    double const *quantum = loop->answer->solution->product.quantum;
    for (uint32_t i = 0; i < loop->layout->outputs; i += NUMBERS_OF_A_LINE) {
        __builtin_prefetch(quantum + i);
        __builtin_prefetch(loop->sum + i, 1);
        __builtin_prefetch(loop->ahead + i);
        __builtin_prefetch(loop->low + i);
        __builtin_prefetch(loop->high + i);
        __builtin_prefetch(loop->setpoint + i, 1);
        __builtin_prefetch(loop->cut + i, 1);
    }
}

void feedback_loop_ahead(struct feedback_loop *loop) {
    for (uint32_t output = 0; output < loop->layout->outputs; ++output)
        loop->ahead[output] = loop->base[output] + loop->forward[output];
    if (loop->answer == NULL)
        return;
    loop_gather_commands(loop, loop->ahead);
    if (loop->excitation.part >= 0 && loop->excitation.at_output)
        loop->ahead[loop->excitation.number] += loop->excitation.next;
}

void feedback_loop_ready(struct feedback_loop *loop) {
    feedback_loop_ahead(loop);
    if (loop->answer == NULL)
        return;
    make_limits(loop);
    feedback_product_begin(&loop->answer->solution->product, loop->sum);
}
