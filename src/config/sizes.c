// SPDX-License-Identifier: Apache-2.0
#include "config/resolve.h"

#include <inttypes.h>

static uint64_t const LARGEST_RING = 1ull << 32; /* 256 GiB */

static enum rm_code check_power(struct rm_config const *config, struct rm_error *error, char const *key,
                                char const *unit, uint64_t value, uint64_t min, uint64_t max) {
    if (value >= min && value <= max && (value & (value - 1)) == 0)
        return RM_OK;
    return rm_config_fail(config, error, key,
                          "found %" PRIu64 ", expected a power of two from %" PRIu64 " to %" PRIu64 " %s", value, min,
                          max, unit);
}

static enum rm_code check_range(struct rm_config const *config, struct rm_error *error, char const *key,
                                char const *unit, uint32_t value, uint32_t min, uint32_t max) {
    if (value >= min && value <= max)
        return RM_OK;
    return rm_config_fail(config, error, key, "found %" PRIu32 ", expected %" PRIu32 " to %" PRIu32 " %s", value, min,
                          max, unit);
}

static enum rm_code resolve_buffers(struct rm_file_buffers const *written, struct rm_config *config,
                                    struct rm_error *error) {
    struct rm_config_buffers *const buffers = &config->buffers;
    *buffers = (struct rm_config_buffers){
        .turn_records = *written->turn_records,
        .fast_records = *written->fast_records,
    };
    enum rm_code const code =
        check_power(config, error, "buffers.turn_records", "records", buffers->turn_records, 1u << 14, LARGEST_RING);
    if (code != RM_OK)
        return code;
    return check_power(config, error, "buffers.fast_records", "records", buffers->fast_records, 1u << 10, LARGEST_RING);
}

static void take_turn_window(struct rm_file_turn_window const *written, struct rm_config *config) {
    config->turn_window = (struct rm_config_turn_window){
        .ahead_turns = *written->ahead_turns,
        .late_turns = *written->late_turns,
        .silence_turns = *written->silence_turns,
        .quorum = *written->quorum,
        .phase_turns = *written->phase_turns,
        .gap_turns = *written->gap_turns,
    };
}

static enum rm_code check_turn_window(struct rm_config const *config, struct rm_error *error) {
    struct rm_config_turn_window const *const window = &config->turn_window;
    enum rm_code code = check_range(config, error, "turn_window.ahead_turns", "turns", window->ahead_turns, 1, 4096);
    if (code == RM_OK)
        code = check_power(config, error, "turn_window.late_turns", "turns", window->late_turns, 64, 65536);
    if (code == RM_OK)
        code = check_range(config, error, "turn_window.silence_turns", "turns (late_turns at least)",
                           window->silence_turns, window->late_turns, 1u << 30);
    bool const knows_instruments = config->errors->count == 0;
    if (code == RM_OK && knows_instruments)
        code = check_range(config, error, "turn_window.quorum", "instruments (0: more than half)", window->quorum, 0,
                           config->instrument_count);
    if (code == RM_OK)
        code = check_range(config, error, "turn_window.gap_turns", "turns (late_turns at most)", window->gap_turns, 1,
                           window->late_turns);
    if (code == RM_OK)
        code = check_range(config, error, "turn_window.phase_turns", "turns", window->phase_turns, 1, 1u << 30);
    return code;
}

/* A late record must find its slot still in its lap, with the newest turns already above it. */
static enum rm_code check_span(struct rm_config const *config, struct rm_error *error) {
    struct rm_config_turn_window const *const window = &config->turn_window;
    uint64_t const span = 2ull * (window->ahead_turns + window->late_turns);
    if (span <= config->buffers.turn_records)
        return RM_OK;
    return rm_config_fail(config, error, "turn_window",
                          "ahead_turns + late_turns is %" PRIu32 ", expected at most half of buffers.turn_records "
                          "(%" PRIu64 ")",
                          window->ahead_turns + window->late_turns, config->buffers.turn_records);
}

enum rm_code rm_config_resolve_sizes(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error) {
    enum rm_code code = resolve_buffers(file->buffers, config, error);
    take_turn_window(file->turn_window, config);
    code = rm_code_first(code, check_turn_window(config, error));
    return code == RM_OK ? check_span(config, error) : code;
}
