// SPDX-License-Identifier: Apache-2.0
/** A follower: an application on a standby server, which makes each step of the active server's again while the
 * decision records come (ringmaster/standby.h).
 *
 *     struct rm_host_follow follow;
 *     rm_host_follow_open(&follow, &setup)
 *     … rm_host_program_restore (host_state_bytes.h), then rm_host_follow_begin behind that step;
 *       or nothing: then it begins with the first step of both processes
 *     each time that something may have come:
 *         switch (rm_host_follow_step(&follow, &told)) {
 *         case RM_FOLLOW_WAITING:    … nothing yet: a record, an input or a result of `work` is still to come
 *         case RM_FOLLOW_STEPPED:    … told.differs says whether it came to the same bits, told.setpoint what it wants
 *         case RM_FOLLOW_NEEDS_COPY: … told.text says what is missing here: it follows again from a copy of the state
 *         }
 *     rm_host_follow_close(&follow);
 *
 * It knows of no segment and no clock. The live host makes the step itself, between rm_host_follow_give and
 * rm_host_follow_judge: it commits the vector as it always does. Both are what rm_host_follow_step is made of.
 *
 * A follower may lead at any time between two calls: its program has made the step before `obey.next`, and nothing of
 * the next one.
 */
#ifndef RM_HOST_HOST_FOLLOW_H
#define RM_HOST_HOST_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "host/host_obey.h"

enum rm_host_followed {
    RM_FOLLOW_WAITING,
    RM_FOLLOW_STEPPED,
    RM_FOLLOW_NEEDS_COPY,
};

struct rm_host_follow {
    /** Its first members, up to `missing`, are set by the caller before it is opened. The source gives the peer's
     * decision streams, and inputs of the own server. */
    struct rm_host_obey obey;

    /* Its own. */

    struct rm_obey_step step;
    /** [actuator] the last command, where rm_host_follow_step made the step. */
    double *setpoint;
    /** The program has a state that it may go on from: it was restored, or has stepped. */
    bool has_state;

    /** Turn of the step that was waited for last. */
    rm_turn waited;

    /* Numbers so far: steps, those of them that came to other bits, and those whose record was there before all that
     * they need was. */
    uint64_t followed, differences, waits;
};

/** False without memory; what there is then, rm_host_follow_close gives back. */
bool rm_host_follow_open(struct rm_host_follow *follow);
void rm_host_follow_close(struct rm_host_follow *follow);

/** The program was restored behind the step of `turn`, with settings of this generation. */
void rm_host_follow_begin(struct rm_host_follow *follow, rm_turn turn, uint32_t generation);

/** Gives the program the next step. STEPPED: it is to be made now, and `follow->step` has its record. `told` is valid
 * until rm_host_follow_judge. */
enum rm_host_followed rm_host_follow_give(struct rm_host_follow *follow, struct rm_host_replayed *told);

/** The step was made, and so was its decision record: compares. True when it came to the same bits. */
bool rm_host_follow_judge(struct rm_host_follow *follow);

/** All of it, in simulated time. */
enum rm_host_followed rm_host_follow_step(struct rm_host_follow *follow, struct rm_host_replayed *told);

#endif
