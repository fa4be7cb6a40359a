// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/tune.h>

#include <math.h>
#include <string.h>

#include <ringmaster/errors.h>

static enum rm_code find_tune_lane(struct rm_stream const *stream, char const *input, char const *name, uint32_t *lane,
                                   struct rm_error *error) {
    for (uint32_t i = 0; i < RM_LANES; ++i)
        if (stream->lane[i].type != RM_LANE_UNUSED && strcmp(stream->lane[i].name, name) == 0) {
            *lane = i;
            return RM_OK;
        }
    return rm_fail(error, RM_E_CONFIG,
                   "the input %s has no lane \"%s\", expected a stream as that of the application "
                   "tune",
                   input, name);
}

enum rm_code rm_tune_find(struct rm_application_setup const *setup, char const *stream, struct rm_tune_input *found,
                          struct rm_error *error) {
    enum { LANES = 4 };
    static char const *const names[LANES][RM_TUNE_PLANES] = {
        {"tune_x", "tune_y"}, {"sigma_x", "sigma_y"}, {"amplitude_x", "amplitude_y"}, {"quality_x", "quality_y"}};
    uint32_t *const lanes[LANES] = {found->tune, found->sigma, found->amplitude, found->quality};
    found->input = 0;
    while (found->input < setup->input_count && strcmp(setup->input_name[found->input], stream) != 0)
        ++found->input;
    if (found->input == setup->input_count)
        return rm_fail(error, RM_E_CONFIG,
                       "%s is not among the %u inputs, expected it in the server's configuration: "
                       "inputs: [%s]",
                       stream, setup->input_count, stream);
    enum rm_code code = RM_OK;
    for (int what = 0; what < LANES; ++what)
        for (int plane = 0; plane < RM_TUNE_PLANES && code == RM_OK; ++plane)
            code = find_tune_lane(setup->input[found->input], stream, names[what][plane], &lanes[what][plane], error);
    return code;
}

bool rm_tune_read(struct rm_application_setup const *setup, struct rm_step const *step,
                  struct rm_tune_input const *input, struct rm_tune *tune) {
    struct rm_record const *const record = &step->record[input->input];
    struct rm_stream const *const stream = setup->input[input->input];
    if (step->is_missing[input->input])
        return false;
    tune->turn = record->turn;
    for (int plane = 0; plane < RM_TUNE_PLANES; ++plane) {
        double const quality = rm_lane_value(stream, record, input->quality[plane]);
        tune->tune[plane] = rm_lane_value(stream, record, input->tune[plane]);
        tune->sigma[plane] = rm_lane_value(stream, record, input->sigma[plane]);
        tune->amplitude[plane] = rm_lane_value(stream, record, input->amplitude[plane]);
        tune->quality[plane] = quality >= 0.0 && quality < 0x1p32 ? (uint32_t)quality : (uint32_t)RM_TUNE_NO_PEAK;
    }
    return true;
}
