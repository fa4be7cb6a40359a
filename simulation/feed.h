// SPDX-License-Identifier: Apache-2.0
/** The inputs of an application in simulated time: what the ring's instruments read at each turn, as the records that
 * the server would make of their datagrams, decimated where the input's rate is, by the same decimators. Of inputs that
 * come more often than steps it keeps all that a step is given (host/host_runs.h).
 */
#ifndef RM_SIMULATION_FEED_H
#define RM_SIMULATION_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

#include "config/config.h"
#include "filter/decimator.h"
#include "host/host_runs.h"
#include "instruments/payload.h"
#include "plant.h"

enum {
    /** Most records by which an input may be ahead of the others: the delay of the sharp filters, and more. */
    RM_FEED_SLOTS = 32,

    RM_FEED_STAGES_MAX = RM_CONFIG_STAGES_MAX * RM_CONFIG_RATES_MAX,
};

struct rm_feed_input {
    /** Those of a step, and RM_FEED_SLOTS more. Index: (turn / period) mod `slots`. */
    struct rm_record *slot;
    uint32_t slots;
    /** The input as it is described to the application. */
    struct rm_stream stream;
    /** Name of the instrument in the server's configuration. */
    char name[RM_CONFIG_NAME_BYTES];
    /** Index of the ring's instrument. */
    uint32_t instrument;

    uint16_t status;
    /** Turns from one reading to the next. */
    uint32_t own_period;

    uint32_t lane_count;
    /** Its datagrams are of a described layout … */
    bool described;
    /** … whose lanes come from these lanes of its kind. */
    struct rm_lane_source source[RM_LANES];
    /** Number of its decimators; 0: records are used as they come. */
    uint32_t stage_count;

    struct rm_decimator *stage;
    bool dropped;
};

struct rm_feed {
    struct rm_feed_input *input;
    uint32_t count;
    /** Turns from one step of the application to the next. */
    uint32_t period;
    /** An input comes more often than steps: every turn is read. */
    bool has_runs;
    /** Turns that the slowest input needs. */
    uint32_t closing_turns;
    /** The next turn to be read. */
    rm_turn next;
};

/** Opens the inputs of an application. RM_E_CONFIG names an input that the ring does not send, or that cannot be
 * simulated. */
enum rm_code rm_feed_open(struct rm_config const *config, uint32_t application, struct rm_plant const *plant,
                          struct rm_feed *feed, struct rm_error *error);
void rm_feed_close(struct rm_feed *feed);

/** Lets time pass until all inputs of `turn` are there, and gives a record per input, and whether it is missing. The
 * record of a missing input stays as it is. RM_OK, or an error of the plant. */
enum rm_code rm_feed_gather(struct rm_feed *feed, struct rm_plant *plant, rm_turn turn, struct rm_record *record,
                            bool *missing, struct rm_error *error);

/** Fills the runs of the step of `turn`, whose inputs were gathered, with the records since the step before. */
void rm_feed_run(struct rm_feed const *feed, rm_turn turn, struct rm_host_runs *runs);

/** Does "drop" or "back" to an instrument. RM_E_NOT_FOUND. */
enum rm_code rm_feed_befall(struct rm_feed *feed, char const *what, char const *instrument, struct rm_error *error);

#endif
