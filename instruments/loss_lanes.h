// SPDX-License-Identifier: Apache-2.0
/** Beam loss at the instruments of a ring: loss monitors count it, interlocks tell of it, and sum signals are less.
 *
 * The channels of all loss monitors stand evenly around the ring, in their order. What is lost at a place is counted by
 * each channel with exp(−d / 5 m) of it, d being the way between them; the whole configured beam lost beside a channel
 * is 10^6 counts. What a monitor counts between two of its readings is in the next one. Beside that stands what
 * lifetime loses, `loss_counts` per turn for the configured current, as Poisson numbers, in proportion to the current,
 * and more of it near the narrowest apertures.
 *
 * An interlock raises flag 0 while beam is being lost. When more than RM_LOSS_TRIPS_AT of it was lost at once, permit 0
 * falls and flag 1 is raised, in the record of the turn of the loss, whose number is in the lane loss_turn; all that
 * stays until the beam is injected again.
 */
#ifndef RM_INSTRUMENTS_LOSS_LANES_H
#define RM_INSTRUMENTS_LOSS_LANES_H

#include <stdint.h>

#include "beam.h"
#include "beam_loss.h"
#include "machine.h"
#include "ring_config.h"

/** A channel of a loss monitor. */
struct rm_loss_channel {
    /** From the start of the lattice. */
    double s_m;
    /** Counts so far, those that were read, and the reading of turn `turn`. */
    double heard, read;
    int32_t last;
    rm_turn turn;
};

struct rm_loss_lanes {
    struct rm_ring_config const *ring;
    /** NULL: beam is not lost (the machine has no chamber). */
    struct rm_machine *machine;
    struct rm_beam_loss loss;
    double length_m;
    struct rm_loss_channel *channel;
    uint32_t channel_count;
    /** [instrument] its first channel, of a loss monitor. */
    uint32_t *first_channel;
    /** [instrument] of an interlock: the last turn that it has told of, and whether beam was lost since. */
    bool *losing;
    /** Fills of the machine that were taken. */
    uint64_t fills;
    struct rm_loss_clock {
        /** The turn of the last orbit. */
        rm_turn orbit_turn;
        uint64_t steps;
        /** The machine's time at its last step, and the turn of that. */
        double step_s;
        rm_turn step_turn;
    } clock;
};

/** Makes it, and leaves to it what the beam's kicks do to monitors and interlocks. All arguments stay in use. */
enum rm_code rm_loss_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine, struct rm_beam *beam,
                                struct rm_loss_lanes *lanes, struct rm_error *error);
void rm_loss_lanes_free(struct rm_loss_lanes *lanes);

/** The machine has made a step, before turn `turn`, at `time`. */
void rm_loss_lanes_step(struct rm_loss_lanes *lanes, rm_turn turn, double time);

/** The motion has made turn `turn`. */
void rm_loss_lanes_turn(struct rm_loss_lanes *lanes, rm_turn turn);

/** An injection before turn `turn`: charge in mA (negative: what is missing), amplitudes at mean √β. */
void rm_loss_lanes_inject(struct rm_loss_lanes *lanes, rm_turn turn, double ma, double x_m, double y_m, bool misfires);

/** Adds what monitors and interlocks among `count` instruments from `first` on have to tell at `turn` to `values`. */
void rm_loss_lanes_add(struct rm_loss_lanes *lanes, struct rm_beam *beam, union rm_lane const *values, rm_turn turn,
                       uint32_t first, uint32_t count);

#endif
