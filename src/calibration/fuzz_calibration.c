// SPDX-License-Identifier: Apache-2.0
/* libFuzzer target: whatever bytes a table of calibrations holds, loading it gives calibrations that can be used, or
 * one line of error. */
#include "calibration/compiled.h"
#include "calibration/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t bytes);

static void check_good(struct rm_calibration_instrument const *instrument) {
    if (!rm_calibration_is_good(&instrument->calibration))
        abort();
    struct rm_calibration_compiled compiled;
    rm_calibration_compile(&instrument->calibration, instrument->lane, &compiled);
    struct rm_record record = {.lane = {{1}, {2}, {3}}};
    double out[RM_LANES];
    rm_calibrate(&instrument->calibration, &record, instrument->lane, out);
    rm_calibrate_record(&compiled, &record);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t bytes) {
    struct rm_lane_info const lane[2][RM_LANES] = {
        {{.name = "x1", .unit = "nm", .type = RM_LANE_I32},
         {.name = "y1", .unit = "nm", .type = RM_LANE_I32},
         {.name = "sum1", .unit = "counts", .type = RM_LANE_F32}},
        {{.name = "loss1", .unit = "counts", .type = RM_LANE_I32},
         {.name = "xa", .unit = "nm", .type = RM_LANE_I32},
         {.name = "ya", .unit = "nm", .type = RM_LANE_I32}},
    };
    struct rm_calibration_instrument instruments[2] = {{.name = "bpm01", .lane = lane[0], .lane_count = 3},
                                                       {.name = "blm01", .lane = lane[1], .lane_count = 3}};
    int const file = memfd_create("calibration", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
        abort();
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_calibration_load_csv(path, instruments, 2, &error);
    if (code == RM_OK)
        for (int i = 0; i < 2; ++i)
            check_good(&instruments[i]);
    else if (error.code != code || error.text[0] == '\0' || strchr(error.text, '\n') != NULL)
        abort();
    close(file);
    return 0;
}
