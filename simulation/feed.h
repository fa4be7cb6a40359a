// SPDX-License-Identifier: Apache-2.0
/** The inputs of an application in simulated time: what the ring's instruments read at each turn, as the records that
 * the server would make of their datagrams, decimated where the input's rate is, by the same decimators.
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
#include "instruments/payload.h"
#include "plant.h"

enum {
    /** Records that an input may be ahead of the others: the sharp filters' delay, and more. */
    RM_FEED_SLOTS = 32,

    RM_FEED_STAGES_MAX = RM_CONFIG_STAGES_MAX * RM_CONFIG_RATES_MAX,
};

struct rm_feed_input {
    /** by (turn / period) mod RM_FEED_SLOTS. */
    struct rm_record slot[RM_FEED_SLOTS];
    /** What the application is told of it. */
    struct rm_stream stream;
    /** Of the instrument in the server's configuration. */
    char name[RM_CONFIG_NAME_BYTES];
    /** The ring's. */
    uint32_t instrument;

    uint16_t status;
    /** Turns from one reading to the next. */
    uint32_t own_period;

    uint32_t lane_count;
    /** Its datagrams are of a described layout … */
    bool described;
    /** … whose lanes come from these of its kind's. */
    struct rm_lane_source source[RM_LANES];
    /** Of its decimators; 0: as it comes. */
    uint32_t stage_count;

    struct rm_decimator *stage;
    bool dropped, frozen;
    union rm_lane frozen_at[RM_LANES];
};

struct rm_feed {
    struct rm_feed_input *input;
    uint32_t count;
    /** The application's. */
    uint32_t period;
    /** Of the slowest input. */
    uint32_t closing_turns;
    /** The next turn to be read, where all turns are. */
    rm_turn next;
};

/** RM_E_CONFIG names an input that the ring does not send, or that cannot be simulated. */
enum rm_code rm_feed_open(struct rm_config const *config, uint32_t application, struct rm_plant const *plant,
                          struct rm_feed *feed, struct rm_error *error);
void rm_feed_close(struct rm_feed *feed);

/** Lets time pass until all inputs of `turn` are there, and gives them: a record per input, and whether it is missing.
 * Of a missing one the record stays as it is. Returns how many are. */
enum rm_code rm_feed_gather(struct rm_feed *feed, struct rm_plant *plant, rm_turn turn, struct rm_record *record,
                            bool *missing, struct rm_error *error);

/** "drop", "freeze" or "back" for an instrument. RM_E_NOT_FOUND. */
enum rm_code rm_feed_befall(struct rm_feed *feed, char const *what, char const *instrument, struct rm_error *error);

#endif
