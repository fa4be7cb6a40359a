// SPDX-License-Identifier: Apache-2.0
#include "tell.h"

#include <math.h>

#include "../state/comparison.h"

static uint32_t acting_part(struct feedback const *feedback, char plane) {
    struct feedback_layout const *layout = &feedback->layout;
    for (uint32_t p = 0; p < layout->part_count; ++p)
        if (feedback->configuration.family[layout->part[p].family].acts &&
            (layout->part[p].plane == plane || (layout->part[p].plane == 'b' && plane == 'x')))
            return p;
    return layout->part_count;
}

static double latency_ns(struct feedback const *feedback) {
    for (uint32_t f = 0; f < feedback->configuration.family_count; ++f)
        if (feedback->configuration.family[f].acts)
            return feedback->configuration.family[f].plant.delay_s * 1e9;
    return 0.0;
}

static void tell_state(struct feedback const *feedback, double *reading, uint32_t const *at) {
    reading[at[FEEDBACK_STATE]] = feedback->states.state;
    reading[at[FEEDBACK_ENABLE_CONDITIONS]] = feedback->missing;
    reading[at[FEEDBACK_CAUSE]] = feedback->states.cause;
    reading[at[FEEDBACK_CAUSE_TURN]] = feedback->cause_turn;
    reading[at[FEEDBACK_CAUSE_NUMBER]] = feedback->cause_number;
    reading[at[FEEDBACK_RMS_X]] = feedback->orbit.rms_x;
    reading[at[FEEDBACK_RMS_Y]] = feedback->orbit.rms_y;
    reading[at[FEEDBACK_CUMULATED_X]] = feedback->cumulated.x;
    reading[at[FEEDBACK_CUMULATED_Y]] = feedback->cumulated.y;
    reading[at[FEEDBACK_USED]] = feedback->used_rows;
    reading[at[FEEDBACK_SUBSTITUTED]] = feedback->substituted;
    reading[at[FEEDBACK_SATURATED]] = feedback->saturated;
    reading[at[FEEDBACK_BEAM]] = feedback->beam.watched ? feedback->beam.mean : NAN; // not watched is not "no beam"
    reading[at[FEEDBACK_MAINS_HZ]] = feedback->configuration.mains_hz * feedback->mains.scale;
    reading[at[FEEDBACK_GENERATION]] = feedback->generation;
    reading[at[FEEDBACK_RF_OFFSET]] = feedback->rf.now;
    reading[at[FEEDBACK_SHADOW_RMS]] = feedback->shadow_rms;
    reading[at[FEEDBACK_LATENCY_NS]] = latency_ns(feedback);
}

static void tell_solution(struct feedback const *feedback, double *reading, uint32_t const *at) {
    struct feedback_answer const *answer = feedback->loop.answer;
    reading[at[FEEDBACK_SOLVE_MS]] = answer->solution->seconds * 1e3;
    double *singular = reading + at[FEEDBACK_SINGULAR];
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p) {
        struct feedback_part const *part = &feedback->layout.part[p];
        struct feedback_basis const *basis = &answer->solution->basis[p];
        for (uint32_t k = 0; k < part->channels_most; ++k)
            singular[part->channel + k] = k < basis->channels ? basis->singular[k] : 0.0;
    }
}

static void tell_faults(struct feedback const *feedback, struct rm_application_setup const *setup,
                        double const *setting, double *reading) {
    double const *row_mask = setting + setup->setting_at[FEEDBACK_BPM_MASK];
    double const *column_mask = setting + setup->setting_at[FEEDBACK_ACTUATOR_MASK];
    double *row_state = reading + setup->reading_at[FEEDBACK_ROW_STATE];
    double *column_state = reading + setup->reading_at[FEEDBACK_ACTUATOR_STATE];
    for (uint32_t row = 0; row < feedback->layout.rows; ++row) {
        struct feedback_watched const *watched = &feedback->watched[row];
        row_state[row] = watched->fault | (row_mask[row] < 0.5 ? FEEDBACK_ROW_MASKED : 0) |
                         (watched->gap > 0 ? FEEDBACK_ROW_MISSING : 0);
    }
    for (uint32_t column = 0; column < feedback->layout.actuators; ++column)
        column_state[column] =
            feedback->actuator[column].fault | (column_mask[column] < 0.5 ? FEEDBACK_ACTUATOR_MASKED : 0);
}

/** RMS of how far setpoints are from reference, of one plane. */
static double setpoint_rms(struct feedback const *feedback, char plane) {
    double squares = 0.0;
    uint32_t count = 0;
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p) {
        struct feedback_part const *part = &feedback->layout.part[p];
        if (part->plane != plane && !(part->plane == 'b' && plane == 'x'))
            continue;
        for (uint32_t i = part->first; i < part->first + part->columns; ++i) {
            double const way = feedback->loop.setpoint[i] - feedback->loop.reference[i];
            squares += isfinite(way) ? way * way : 0.0;
        }
        count += part->columns;
    }
    return count > 0 ? sqrt(squares / count) : 0.0;
}

/** The error behind the excitation, and what comes of it: their ratio to the excitation is what the loop makes of
 * it. */
static void tell_excitation(struct feedback const *feedback, float *lane) {
    struct feedback_loop const *loop = &feedback->loop;
    lane[9] = (float)loop->excitation.value;
    lane[10] = lane[11] = 0.0F;
    if (loop->excitation.part < 0 || loop->answer == NULL)
        return;
    uint32_t const p = (uint32_t)loop->excitation.part;
    if (loop->excitation.at_output) {
        lane[11] = (float)loop->setpoint[loop->excitation.number];
        lane[10] = (float)(loop->setpoint[loop->excitation.number] - loop->reference[loop->excitation.number]);
        return;
    }
    uint32_t const channel = loop->layout->part[p].channel + loop->excitation.number;
    lane[10] = (float)(loop->z[channel] * loop->answer->solution->basis[p].singular[loop->excitation.number]);
    lane[11] = (float)loop->command[channel];
}

static void tell_modes(struct feedback const *feedback, char plane, float *lane) {
    uint32_t const p = acting_part(feedback, plane);
    struct feedback_answer const *answer = feedback->loop.answer;
    for (uint32_t k = 0; k < RM_LANES; ++k)
        lane[k] = 0.0F;
    if (p == feedback->layout.part_count || answer == NULL)
        return;
    struct feedback_basis const *basis = &answer->solution->basis[p];
    double const *z = feedback->loop.z + feedback->layout.part[p].channel;
    for (uint32_t k = 0; k < RM_LANES && k < basis->channels; ++k)
        lane[k] = (float)(z[k] * (basis->singular[k] > 0.0 ? basis->singular[k] : 1e3) * 1e-3);
}

void feedback_tell(struct feedback const *feedback, struct rm_application_setup const *setup,
                   struct rm_step const *given, struct rm_command *command) {
    tell_state(feedback, command->reading, setup->reading_at);
    if (feedback->loop.answer != NULL)
        tell_solution(feedback, command->reading, setup->reading_at);
    tell_faults(feedback, setup, given->setting, command->reading);
    float *orbit = command->stream[FEEDBACK_ORBIT];
    orbit[0] = (float)feedback->orbit.rms_x;
    orbit[1] = (float)feedback->orbit.rms_y;
    orbit[2] = (float)feedback->orbit.worst_x;
    orbit[3] = (float)feedback->orbit.worst_y;
    orbit[4] = (float)setpoint_rms(feedback, 'x');
    orbit[5] = (float)setpoint_rms(feedback, 'y');
    orbit[6] = (float)given->missing;
    orbit[7] = (float)feedback->saturated;
    orbit[8] = (float)feedback->states.state;
    tell_excitation(feedback, orbit);
    tell_modes(feedback, 'x', command->stream[FEEDBACK_MODES_X]);
    tell_modes(feedback, 'y', command->stream[FEEDBACK_MODES_Y]);
}
