// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "calibration/table.h"
#include <ringmaster/parameter.h>

struct rm_calibrations {
    enum rm_calibrated apply;
    uint32_t count;
    struct rm_calibration_instrument *instrument; /**< as config->instrument */
    struct rm_calibration_compiled *compiled;     /**< the same */
    rm_planned_index *parameter;                  /**< the same; of calibrated ones */
};

static bool is_calibrated(struct rm_calibrations const *calibrations, uint32_t index) {
    return calibrations != NULL && calibrations->instrument[index].calibration.calibrated_lanes != 0;
}

static bool allocate_calibrations(struct rm_calibrations *made, uint32_t count) {
    made->count = count;
    made->instrument = calloc(count, sizeof *made->instrument);
    made->parameter = calloc(count, sizeof *made->parameter);
    made->compiled = rm_zeroed(count, sizeof *made->compiled);
    return made->instrument != NULL && made->parameter != NULL && made->compiled != NULL;
}

/** Bits are no numbers: a lane that is reduced bit by bit cannot become one in the stream. */
static enum rm_code check_reductions(struct rm_calibrations const *made, struct rm_config const *config,
                                     struct rm_error *error) {
    for (uint32_t i = 0; i < made->count; ++i)
        for (uint32_t lane = 0; lane < made->instrument[i].lane_count; ++lane) {
            struct rm_lane_info const *const info = &made->instrument[i].lane[lane];
            bool const bits = info->reduction == RM_REDUCE_OR || info->reduction == RM_REDUCE_AND;
            if (bits && rm_calibration_has_lane(&made->instrument[i].calibration, lane))
                return rm_fail(error, RM_E_CONFIG,
                               "%s:%u:1: lane %s of %s holds bits, which cannot be calibrated in the stream; expected "
                               "another reduction than or, and, or \"apply: reading\"",
                               config->calibration.path, made->instrument[i].line[lane], info->name,
                               made->instrument[i].name);
        }
    return RM_OK;
}

static enum rm_code load_calibrations(struct rm_calibrations *made, struct rm_config const *config,
                                      struct rm_error *error) {
    for (uint32_t i = 0; i < made->count; ++i)
        made->instrument[i] = (struct rm_calibration_instrument){.name = config->instrument[i].name,
                                                                 .lane = config->instrument[i].lane,
                                                                 .lane_count = config->instrument[i].lane_count};
    struct rm_error reason;
    enum rm_code const code = rm_calibration_load_csv(config->calibration.path, made->instrument, made->count, &reason);
    if (code == RM_E_SYSTEM)
        return rm_config_fail(config, error, "calibration.file", "%s", reason.text);
    if (code != RM_OK)
        return rm_fail(error, code, "%s", reason.text);
    for (uint32_t i = 0; i < made->count; ++i)
        rm_calibration_compile(&made->instrument[i].calibration, made->instrument[i].lane, &made->compiled[i]);
    return made->apply == RM_CALIBRATED_IN_STREAM ? check_reductions(made, config, error) : RM_OK;
}

enum rm_code rm_calibrations_load(struct rm_config const *config, struct rm_calibrations **calibrations,
                                  struct rm_error *error) {
    *calibrations = NULL;
    if (config->calibration.apply == RM_CALIBRATED_NOT)
        return RM_OK;
    struct rm_calibrations *const made = calloc(1, sizeof *made);
    if (made == NULL || !allocate_calibrations(made, config->instrument_count)) {
        rm_calibrations_free(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the calibrations of %u instruments",
                       config->instrument_count);
    }
    made->apply = config->calibration.apply;
    enum rm_code const code = load_calibrations(made, config, error);
    if (code == RM_OK)
        *calibrations = made;
    else
        rm_calibrations_free(made);
    return code;
}

void rm_calibrations_free(struct rm_calibrations *calibrations) {
    if (calibrations == NULL)
        return;
    free(calibrations->instrument);
    free(calibrations->compiled);
    free(calibrations->parameter);
    free(calibrations);
}

void rm_calibrations_state(struct rm_calibrations const *calibrations, uint32_t index, struct rm_stream *stream) {
    if (!is_calibrated(calibrations, index))
        return;
    struct rm_calibration_instrument const *const instrument = &calibrations->instrument[index];
    stream->calibrated = calibrations->apply;
    if (calibrations->apply != RM_CALIBRATED_IN_STREAM)
        return;
    for (uint32_t lane = 0; lane < instrument->lane_count; ++lane)
        if (rm_calibration_has_lane(&instrument->calibration, lane)) {
            stream->lane[lane].type = RM_LANE_F32;
            memcpy(stream->lane[lane].unit, instrument->unit[lane], RM_UNIT_BYTES);
        }
}

static void plan_units(struct rm_calibration_instrument const *instrument, struct rm_segment_plan *plan) {
    char text[RM_LANES * (RM_LANE_NAME_BYTES + 2 * RM_UNIT_BYTES)];
    size_t length = 0;
    for (uint32_t lane = 0; lane < instrument->lane_count; ++lane)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s\t%s\t%s\n", instrument->lane[lane].name,
                                   instrument->lane[lane].unit, instrument->unit[lane]);
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "calibration/%s/units", instrument->name);
    rm_plan_text(plan, name, "lane, unit as sent, unit once calibrated; a line each, tabs between", text);
}

/** FNV-1a of the values. Records that were calibrated by others must not be taken over: so it stands in the plan. */
static uint64_t hash_calibration(struct rm_calibration const *calibration) {
    uint64_t sum = 0xCBF29CE484222325ull;
    for (size_t i = 0; i < sizeof *calibration; ++i)
        sum = (sum ^ ((uint8_t const *)calibration)[i]) * 0x100000001B3ull;
    return sum;
}

static void describe_calibration(struct rm_calibrations const *calibrations, uint32_t index,
                                 char about[RM_DESCRIPTION_BYTES]) {
    static char const what[] = "from raw numbers to physical units";
    if (calibrations->apply == RM_CALIBRATED_IN_STREAM)
        snprintf(about, RM_DESCRIPTION_BYTES, "%s, applied in the stream; set %016" PRIx64, what,
                 hash_calibration(&calibrations->instrument[index].calibration));
    else
        snprintf(about, RM_DESCRIPTION_BYTES, "%s, to be applied in reading", what);
}

void rm_calibrations_plan(struct rm_calibrations *calibrations, struct rm_segment_plan *plan) {
    for (uint32_t i = 0; calibrations != NULL && i < calibrations->count; ++i) {
        if (!is_calibrated(calibrations, i))
            continue;
        char name[RM_NAME_BYTES], about[RM_DESCRIPTION_BYTES];
        snprintf(name, sizeof name, "calibration/%s", calibrations->instrument[i].name);
        describe_calibration(calibrations, i, about);
        calibrations->parameter[i] =
            rm_plan_parameter(plan, name, "", about, RM_ELEMENT_F64, RM_CALIBRATION_VALUES, NULL);
        plan_units(&calibrations->instrument[i], plan);
    }
}

void rm_calibrations_write(struct rm_calibrations const *calibrations, struct rm_segment const *segment,
                           struct rm_segment_plan const *plan) {
    for (uint32_t i = 0; calibrations != NULL && i < calibrations->count; ++i)
        if (is_calibrated(calibrations, i))
            rm_parameter_write(rm_segment_memory(segment, plan, calibrations->parameter[i]),
                               &calibrations->instrument[i].calibration, sizeof(struct rm_calibration), rm_stamp_now());
}

struct rm_calibration_compiled const *rm_calibrations_compiled(struct rm_calibrations const *calibrations,
                                                               uint32_t index) {
    bool const needed = is_calibrated(calibrations, index) && calibrations->apply == RM_CALIBRATED_IN_STREAM;
    return needed ? &calibrations->compiled[index] : NULL;
}
