// SPDX-License-Identifier: Apache-2.0
#include "live.h"

#include <sys/timex.h>

#include <ringmaster/errors.h>
#include <ringmaster/parameter.h>

enum { LOOK_NS = 250 * 1000 * 1000 };

static void live_find_clock(struct fa_live *live) {
    struct rm_object const *object;
    void const *memory = NULL;
    live->clock = NULL;
    live->turn_rate_hz = 0;
    if (rm_workspace_find(live->workspace, RM_OBJECT_CLOCK, "clock", &object, &memory, NULL) == RM_OK)
        live->clock = memory;
    if (rm_workspace_find(live->workspace, RM_OBJECT_PARAMETER, "server/turn_rate_hz", &object, &memory, NULL) == RM_OK)
        live->turn_rate_hz = rm_parameter_read_f64(memory);
}

static enum rm_code live_open(struct fa_live *live) {
    struct fa_file const *file = live->file;
    live_find_clock(live);
    if (live->clock == NULL)
        return rm_fail(&live->error, RM_E_NOT_FOUND, "workspace %s has no clock", file->workspace);
    enum rm_code code = fa_frames_open(&live->frames[FA_RATE_FULL], live->workspace, file, file->rate,
                                       live->turn_rate_hz, &live->error);
    live->has_rate[FA_RATE_FULL] = code == RM_OK;
    if (code != RM_OK || file->decimated == NULL)
        return code;
    code = fa_frames_open(&live->frames[FA_RATE_DECIMATED], live->workspace, file, file->decimated, live->turn_rate_hz,
                          &live->error);
    live->has_rate[FA_RATE_DECIMATED] = code == RM_OK;
    if (code == RM_OK && live->frames[FA_RATE_DECIMATED].period % live->frames[FA_RATE_FULL].period != 0)
        return rm_fail(&live->error, RM_E_CONFIG, "the period of */%s is no multiple of that of */%s", file->decimated,
                       file->rate);
    return code;
}

void fa_live_close(struct fa_live *live) {
    for (unsigned rate = 0; rate < FA_RATES; ++rate) {
        fa_frames_close(&live->frames[rate]);
        live->has_rate[rate] = false;
    }
    rm_workspace_detach(live->workspace);
    live->workspace = NULL;
    live->reading.anchored = false;
}

static bool live_attach(struct fa_live *live) {
    live->error.code = RM_OK;
    if (rm_workspace_attach(live->file->workspace, 0, &live->workspace, &live->error) != RM_OK)
        return false;
    live->generation = rm_workspace_generation(live->workspace);
    if (live_open(live) == RM_OK)
        return true;
    fa_live_close(live);
    return false;
}

static void live_read_clock(struct fa_live *live) {
    struct rm_clock_reading reading;
    struct timex state = {.modes = 0};
    if (live->workspace != NULL && rm_clock_look(live->clock, &reading))
        live->reading = reading;
    live->tai_minus_utc_s = adjtimex(&state) >= 0 ? state.tai : 0;
}

void fa_live_look(struct fa_live *live, uint64_t now_ns, bool *changed) {
    *changed = false;
    if (live->looked_ns != 0 && now_ns - live->looked_ns < LOOK_NS)
        return;
    live->looked_ns = now_ns;
    if (live->workspace == NULL) {
        enum rm_code const before = live->error.code;
        *changed = live_attach(live) || live->error.code != before;
    } else if (!rm_workspace_alive(live->workspace) || rm_workspace_cut(live->workspace) != NULL ||
               rm_workspace_generation(live->workspace) != live->generation) {
        fa_live_close(live);
        *changed = true;
    }
    live_read_clock(live);
}

double fa_live_rate_hz(struct fa_live const *live, enum fa_rate rate) {
    if (live->workspace == NULL || !live->has_rate[rate])
        return 0;
    bool const is_measured = live->reading.anchored && live->reading.supported && live->reading.ticks_per_turn > 0;
    double const turn_rate_hz = is_measured ? live->reading.tsc_hz / live->reading.ticks_per_turn : live->turn_rate_hz;
    return turn_rate_hz / (double)live->frames[rate].period;
}

uint64_t fa_live_utc_us(struct fa_live const *live, rm_turn turn) {
    uint64_t const tai_ns = rm_clock_tai_ns(&live->reading, rm_clock_tsc(&live->reading, turn));
    return fa_utc_us(tai_ns, live->tai_minus_utc_s);
}
