// SPDX-License-Identifier: Apache-2.0
/** What happens at given times of a simulation: somebody sets a parameter, an instrument falls silent, a supply trips.
 *
 *     0.5:feedback/loop=1          a setting of the application; of an array NAME=VALUE sets all elements,
 *     0.5:feedback/bpm_mask[3]=0   and NAME[I]=VALUE one
 *     1.0:machine/mains=0          a knob of the virtual machine
 *     1.2:drop=bpm07               its datagrams are lost; back=bpm07 ends that
 *     1.2:freeze=bpm07             it says the same again and again; back=bpm07 ends that too
 *     1.5:trip=sr/ps/cf_x_01       the supply goes off; reset=sr/ps/cf_x_01
 *
 * A file has a list `events` of `{at: 0.5, set: feedback/loop=1}`.
 */
#ifndef RM_SIMULATION_EVENTS_H
#define RM_SIMULATION_EVENTS_H

#include <stdint.h>

#include <ringmaster/error.h>

struct rm_event {
    /** s since the first cycle. */
    double at;
    /** "feedback/loop", "drop". */
    char *name;
    /** "1", "bpm07". */
    char *value;
    /** As given: of several at one time. */
    uint32_t rank;
};

struct rm_events {
    struct rm_event *event;
    uint32_t count;
};

/** Adds "T:NAME=VALUE". RM_E_ARGUMENT. */
enum rm_code rm_events_add(struct rm_events *events, char const *text, struct rm_error *error);

/** Adds all of a file. RM_E_CONFIG with the place. */
enum rm_code rm_events_load(struct rm_events *events, char const *path, struct rm_error *error);

/** By time, and of one time as given. */
void rm_events_sort(struct rm_events *events);
void rm_events_free(struct rm_events *events);

#endif
