// SPDX-License-Identifier: Apache-2.0
#include "archive.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/timebase.h"
#include "config/config.h"
#include "engine/application_setup.h"
#include "recorded_archive.h"
#include "recorded_folder.h"

static enum rm_code archive_open(struct rm_simulate_options const *options, struct rm_config const *config,
                                 struct rm_recorded_source const *recorded, struct rm_host_replay **replay,
                                 struct rm_error *error) {
    uint32_t application;
    struct rm_host_setup setup;
    struct rm_error reason;
    enum rm_code code = rm_application_find(config, options->application, &application, error);
    if (code != RM_OK)
        return code;
    code = rm_application_setup_make(config, application, &setup, &reason);
    if (code == RM_OK) {
        code = rm_host_replay_open(&setup, recorded, replay, &reason);
        rm_application_setup_free(&setup);
    }
    return code == RM_OK ? RM_OK : rm_fail(error, code, "application \"%s\": %s", options->application, reason.text);
}

static enum rm_code archive_run(struct rm_simulate_options const *options, struct rm_host_replay *replay,
                                volatile sig_atomic_t const *stop, struct rm_archive_result *result,
                                struct rm_error *error) {
    uint64_t const begun = rm_monotonic_ns();
    enum rm_code code = RM_OK;
    while (!*stop && (options->cycles == 0 || result->same < options->cycles)) {
        struct rm_host_replayed step;
        code = rm_host_replay_step(replay, &step, error);
        if (code != RM_OK)
            break;
        result->differs = step;
        if (step.differs != RM_REPLAY_SAME)
            break;
        result->first_turn = result->same == 0 ? step.turn : result->first_turn;
        result->last_turn = step.turn;
        result->grants += step.step == 0;
        ++result->same;
    }
    result->wall_s = (double)(rm_monotonic_ns() - begun) * 1e-9;
    return code == RM_E_ABSENT ? RM_OK : code;
}

enum rm_code rm_archive_replay(struct rm_simulate_options const *options, volatile sig_atomic_t const *stop,
                               struct rm_archive_result *result, struct rm_error *error) {
    struct rm_config *config = NULL;
    struct rm_recorded_archive *archive = NULL;
    struct rm_recorded_folder *folder = NULL;
    bool const is_archive = rm_recorded_archive_is(options->archive);
    struct rm_host_replay *replay = NULL;
    *result = (struct rm_archive_result){.same = 0};
    enum rm_code code = rm_config_load(options->files.config, &config, error);
    if (code == RM_OK)
        code = is_archive ? rm_recorded_archive_open(options->archive, &archive, error)
                          : rm_recorded_folder_open(options->archive, &folder, error);
    struct rm_recorded_source const recorded =
        is_archive ? rm_recorded_archive_source(archive) : rm_recorded_folder_source(folder);
    if (code == RM_OK)
        code = archive_open(options, config, &recorded, &replay, error);
    if (code == RM_OK) {
        result->turn_rate_hz = config->turn_rate_hz;
        code = archive_run(options, replay, stop, result, error);
    }
    rm_host_replay_close(replay);
    rm_recorded_folder_close(folder);
    rm_recorded_archive_close(archive);
    rm_config_free(config);
    return code;
}

static double archive_seconds(struct rm_archive_result const *result) {
    return (double)(result->last_turn - result->first_turn) / result->turn_rate_hz;
}

static double archive_times(struct rm_archive_result const *result) {
    return result->wall_s > 0 ? archive_seconds(result) / result->wall_s : 0;
}

static void archive_print_json(struct rm_simulate_options const *options, struct rm_archive_result const *result) {
    bool const differs = result->differs.differs != RM_REPLAY_SAME;
    printf("{\n  \"application\": ");
    rm_json_text(stdout, options->application);
    printf(",\n  \"archive\": ");
    rm_json_text(stdout, options->archive);
    printf(",\n  \"steps_same\": %llu,\n  \"grants\": %llu,\n  \"first_turn\": %llu,\n  \"last_turn\": %llu,\n",
           (unsigned long long)result->same, (unsigned long long)result->grants, (unsigned long long)result->first_turn,
           (unsigned long long)result->last_turn);
    printf("  \"seconds\": %.9g,\n  \"wall_s\": %.6g,\n  \"times_real_time\": %.6g,\n  \"differs\": ",
           archive_seconds(result), result->wall_s, archive_times(result));
    if (!differs) {
        printf("null\n}\n");
        return;
    }
    printf("{\"turn\": %llu, \"step\": %llu, \"what\": \"%s\", \"text\": ", (unsigned long long)result->differs.turn,
           (unsigned long long)result->differs.step, rm_replay_difference_text(result->differs.differs));
    rm_json_text(stdout, result->differs.text);
    printf("}\n}\n");
}

void rm_archive_tell(struct rm_simulate_options const *options, struct rm_archive_result const *result) {
    if (options->json) {
        archive_print_json(options, result);
        return;
    }
    double const times = archive_times(result);
    printf(
        "%llu steps of %s were the same to the bit, %.6g s of turns %llu to %llu, in %.3g s: %.3g times as %s as real "
        "time\n",
        (unsigned long long)result->same, options->application, archive_seconds(result),
        (unsigned long long)result->first_turn, (unsigned long long)result->last_turn, result->wall_s,
        times >= 1 ? times : 1 / times, times >= 1 ? "fast" : "slow");
}
