// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/calibration.h>

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

enum rm_code rm_instrument_calibration(struct rm_workspace const *workspace, char const *instrument,
                                       struct rm_calibration *calibration, struct rm_error *error) {
    char name[RM_NAME_BYTES + 32];
    snprintf(name, sizeof name, "calibration/%s", instrument);
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(workspace, RM_OBJECT_PARAMETER, name, &object, &memory, error);
    if (code != RM_OK)
        return code;
    struct rm_parameter_reading reading;
    size_t const bytes = rm_parameter_read(memory, calibration, sizeof *calibration, &reading);
    if (bytes != sizeof *calibration || object->element_type != RM_ELEMENT_F64 || !rm_calibration_is_good(calibration))
        return rm_fail(error, RM_E_VERSION,
                       "parameter \"%s\" is no calibration of version %d, which is %d finite doubles: use the library "
                       "that came with the server",
                       name, RM_CALIBRATION_VERSION, RM_CALIBRATION_VALUES);
    return RM_OK;
}

/** Takes the third column of the line of each lane, "LANE\tR\tU\n". */
static void read_units(char const *text, size_t length, struct rm_stream const *stream, char (*unit)[RM_UNIT_BYTES]) {
    char const *const end = text + length;
    while (text < end) {
        char const *const newline = memchr(text, '\n', (size_t)(end - text));
        size_t const line_bytes = (size_t)((newline != NULL ? newline : end) - text);
        char line[RM_LANE_NAME_BYTES + 2 * RM_UNIT_BYTES] = "";
        memcpy(line, text, line_bytes < sizeof line ? line_bytes : sizeof line - 1);
        char *const raw = strchr(line, '\t');
        char *const physical = raw != NULL ? strchr(raw + 1, '\t') : NULL;
        for (uint32_t i = 0; physical != NULL && i < RM_LANES; ++i)
            if (strnlen(stream->lane[i].name, RM_LANE_NAME_BYTES) == (size_t)(raw - line) &&
                memcmp(stream->lane[i].name, line, (size_t)(raw - line)) == 0)
                snprintf(unit[i], RM_UNIT_BYTES, "%.*s", RM_UNIT_BYTES - 1, physical + 1);
        text += line_bytes + 1;
    }
}

static enum rm_code find_units(struct rm_workspace const *workspace, char const *instrument,
                               struct rm_stream const *stream, struct rm_calibrated_stream *calibration,
                               struct rm_error *error) {
    char name[RM_NAME_BYTES + 32];
    snprintf(name, sizeof name, "calibration/%s/units", instrument);
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(workspace, RM_OBJECT_TEXT, name, &object, &memory, error);
    if (code == RM_OK)
        read_units(memory, object->bytes, stream, calibration->unit);
    return code;
}

enum rm_code rm_stream_calibration(struct rm_workspace const *workspace, char const *stream,
                                   struct rm_calibrated_stream *calibration, struct rm_error *error) {
    struct rm_stream_view view;
    enum rm_code code = rm_workspace_stream(workspace, stream, &view, error);
    if (code != RM_OK)
        return code;
    struct rm_stream const *header = view.header;
    *calibration = (struct rm_calibrated_stream){.stated = (enum rm_calibrated)header->calibrated};
    rm_calibration_identity(&calibration->calibration, header->lane, header->lane_count);
    for (uint32_t i = 0; i < RM_LANES; ++i)
        memcpy(calibration->unit[i], header->lane[i].unit, RM_UNIT_BYTES - 1);
    if (header->calibrated != RM_CALIBRATED_IN_READING)
        return RM_OK;
    char instrument[RM_NAME_BYTES];
    snprintf(instrument, sizeof instrument, "%.*s", (int)strcspn(stream, "/"), stream);
    code = rm_instrument_calibration(workspace, instrument, &calibration->calibration, error);
    return code == RM_OK ? find_units(workspace, instrument, header, calibration, error) : code;
}
