// SPDX-License-Identifier: Apache-2.0
/** One application and a virtual ring in lock-step.
 *
 * A cycle is one step of the application:
 *
 *     time passes to the turn of the cycle          the machine moves, setpoints that are under way arrive
 *     the inputs' records of that turn              arrive, in order or shuffled; or as they were recorded
 *     step                                          with what was sent last, as the chains have answered
 *     the vector                                    judged by the guard, sent, on its way for the latency
 *     prepare, and then work                        in one thread, so that nothing depends on the computer
 */
#ifndef RM_SIMULATION_SIMULATION_H
#define RM_SIMULATION_SIMULATION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "decisions.h"
#include "feed.h"
#include "host/host_program.h"
#include "options.h"
#include "plant.h"
#include "recording.h"
#include "replay.h"
#include "rows.h"
#include "sending.h"
#include "until.h"

struct rm_simulation {
    struct rm_simulate_options *options;
    struct rm_config *config;
    uint32_t application;
    struct rm_host_program *program;
    bool replays;
    struct rm_replay replay;
    struct rm_plant plant;
    struct rm_feed feed;
    /** Of an application that takes runs. */
    struct rm_host_runs runs;
    struct rm_sending sending;
    struct rm_recording recording;
    struct rm_simulation_decisions decisions;
    struct rm_simulation_rows rows;
    struct rm_simulation_until until;
    rm_turn first_turn;
    /** How many cycles are to be run. */
    uint64_t cycles;

    uint64_t done;
    uint32_t next_event;

    /** [input] the last record that came. */
    struct rm_record *record;

    bool *missing;
    /** Order of the arrivals. */
    uint32_t *order;
    /** Scratch for a row of currents, or of readings. */
    double *row;
    /** Records missed so far. */
    uint64_t missed;
    /** Steps so far that sent nothing. */
    uint64_t quiet;

    double wall_s;
};

/** Loads and makes all that is needed before the first cycle. The options' events get those of a replay. */
enum rm_code rm_simulation_open(struct rm_simulate_options *options, struct rm_simulation *simulation,
                                struct rm_error *error);

/** Runs until all cycles are done, the options' `until` is over, or `*stop`. */
enum rm_code rm_simulation_run(struct rm_simulation *simulation, volatile sig_atomic_t const *stop,
                               struct rm_error *error);

/** Frees all. */
void rm_simulation_close(struct rm_simulation *simulation);

static inline double rm_simulation_rate_hz(struct rm_simulation const *simulation) {
    return simulation->config->turn_rate_hz / (double)simulation->program->setup.period_turns;
}

#endif
