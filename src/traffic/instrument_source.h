// SPDX-License-Identifier: Apache-2.0
/** Instruments of a machine's configuration as a source of frames: right datagrams with right turn numbers, of one
 * instrument or of all.
 *
 * Turns belong to the clock, not to the sender: turn n is due at anchor + n · ticks_per_turn of the TSC, whatever
 * happened in between. So after a stall datagrams are sent late, with the turns that they are of, or their turns are
 * skipped; and one that is stopped and started goes on with the turn that is due then. Sending begins with that turn,
 * without a burst. */
#ifndef RM_TRAFFIC_INSTRUMENT_SOURCE_H
#define RM_TRAFFIC_INSTRUMENT_SOURCE_H

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "traffic/instrument_groups.h"
#include "traffic/source.h"

struct rm_instrument_plan {
    /** The machine's configuration, as a server reads it; its roles do not matter. */
    char const *path;
    struct rm_instrument_datagrams datagrams;
    /** The turn of the first start. RM_TURN_NONE: the turns that have gone since the beginning of TAI, as all senders
     * of a machine with a common clock would count them. */
    rm_turn first_turn;
    /** Revolutions per second; 0: the configuration's. */
    double turn_rate_hz;
    double tsc_hz;
};

/** Loads the configuration and makes the source. RM_E_SYSTEM, RM_E_CONFIG: the first error of the file, or what
 * rm_instrument_groups_make says. RM_E_ARGUMENT: a first turn from RM_TURN_END on. */
enum rm_code rm_instrument_source_make(struct rm_instrument_plan const *plan, struct rm_source **source,
                                       struct rm_error *error);

/** For what is told of it: its groups, and datagrams per second of all. */
struct rm_instrument_groups const *rm_instrument_source_groups(struct rm_source const *source);
double rm_instrument_source_packets_per_s(struct rm_source const *source);

#endif
