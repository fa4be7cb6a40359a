// SPDX-License-Identifier: Apache-2.0
/** The control thread of a virtual ring, so that the thread that sends makes no system call: it answers requests (a
 * knob of the machine, an event), tells what has happened, and publishes what the machine says of itself.
 *
 * OWNER/event takes the words of an event (ring_event.h), and then has those of the last one that was posted, with its
 * turn; OWNER/events counts those that have happened, OWNER/event_turn is the turn of the last, and OWNER/kick_turn that
 * of the last kick. A ring that has joined another follows the events of the beam that the other is given.
 */
#ifndef RM_INSTRUMENTS_RING_CONTROL_H
#define RM_INSTRUMENTS_RING_CONTROL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <ringmaster/owner.h>
#include <ringmaster/request.h>

#include "event_schedule.h"
#include "fabric/segment_file.h"
#include "fellows.h"
#include "machine_knobs.h"

/** Parameters of the events. */
enum rm_ring_event_parameter {
    RM_RING_EVENT_WORDS,
    RM_RING_EVENT_COUNT,
    RM_RING_EVENT_TURN,
    RM_RING_EVENT_KICK_TURN,
    RM_RING_EVENT_PARAMETERS
};

struct rm_ring_control {
    struct rm_ring_config const *ring;
    /** NULL: nothing happens to this ring (a replay). */
    struct rm_event_schedule *schedule;
    struct rm_knob_parameters knobs;
    /** "ring/event" and so on, and their parameters; NULL where nothing is shared. */
    char name[RM_RING_EVENT_PARAMETERS][RM_NAME_BYTES];
    rm_planned_index planned[RM_RING_EVENT_PARAMETERS];
    struct rm_parameter *parameter[RM_RING_EVENT_PARAMETERS];
    /** The words of the ring that was joined; or NULL. */
    struct rm_parameter const *followed;
    /** Its sequence when it was read last. */
    uint64_t followed_sequence;
    /** Events that have got a turn since the start, and those that have happened. */
    uint64_t planned_events, happened;

    struct rm_owner *owner;
    struct rm_inbox *inbox;
    atomic_bool ending;
    pthread_t thread;
    bool started;
};

/** Adds its parameters to the plan of a segment of `owner`. `machine` is NULL where there is none, or where its knobs
 * are another ring's. */
enum rm_code rm_ring_control_plan(struct rm_ring_control *control, struct rm_ring_config const *ring,
                                  struct rm_event_schedule *schedule, char const *owner, struct rm_machine *machine,
                                  struct rm_segment_plan *plan, struct rm_error *error);

/** Writes first values into the segment, which is open and not finished, and stays open. */
void rm_ring_control_place(struct rm_ring_control *control, struct rm_segment_plan const *plan,
                           struct rm_segment const *segment);

/** From now on it follows the knobs of another ring's machine; call it before it starts. What `fellows` has stays in
 * use. */
enum rm_code rm_ring_control_follow_knobs(struct rm_ring_control *control, struct rm_machine *machine,
                                          struct rm_fellows const *fellows, struct rm_error *error);

/** The same of events of the beam. */
void rm_ring_control_follow_events(struct rm_ring_control *control, struct rm_fellows const *fellows);

/** Starts the thread. `segment` is NULL where nothing is shared: then it only tells what has happened. */
enum rm_code rm_ring_control_start(struct rm_ring_control *control, struct rm_segment_plan const *plan,
                                   struct rm_segment const *segment, struct rm_error *error);

/** Ends the thread, when all that has happened was told. It may be called where none was started. */
void rm_ring_control_stop(struct rm_ring_control *control);

#endif
