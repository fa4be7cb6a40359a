// SPDX-License-Identifier: Apache-2.0
/** What happens at given times of a simulation: a parameter is set, an instrument falls silent, a supply trips.
 *
 *     0.5:feedback/loop=1          a setting of the application; of an array NAME=VALUE sets all elements,
 *     0.5:feedback/bpm_mask[3]=0   and NAME[I]=VALUE one
 *     1.0:machine/mains=0          a knob of the virtual machine
 *     1.2:drop=bpm07               its datagrams are lost; back=bpm07 ends that
 *     1.2:freeze=bpm07             it sends the same again and again; back=bpm07 ends that too
 *     1.5:trip=sr/ps/cf_x_01       the supply goes off; reset=sr/ps/cf_x_01
 *     1.7:event=kick, x_um: 100    any event of the ring (instruments/ring_event.h), at the next turn
 *
 * A file has a list `events` of `{at: 0.5, set: feedback/loop=1}`.
 */
#ifndef RM_SIMULATION_EVENTS_H
#define RM_SIMULATION_EVENTS_H

#include <stdint.h>

#include <ringmaster/error.h>

struct rm_event {
    /** Seconds since the first cycle. */
    double at;
    /** For example "feedback/loop", "drop". */
    char *name;
    /** For example "1", "bpm07". */
    char *value;
    /** Order of events at the same time: that in which they were given. */
    uint32_t rank;
};

struct rm_events {
    struct rm_event *event;
    uint32_t count;
};

/** Adds the event "T:NAME=VALUE". RM_E_ARGUMENT. */
enum rm_code rm_events_add(struct rm_events *events, char const *text, struct rm_error *error);

/** Adds all events of a file. RM_E_CONFIG with the place. */
enum rm_code rm_events_load(struct rm_events *events, char const *path, struct rm_error *error);

/** Sorts the events by time; those at the same time keep their order. */
void rm_events_sort(struct rm_events *events);
void rm_events_free(struct rm_events *events);

#endif
