// SPDX-License-Identifier: Apache-2.0
#include "fellows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "fabric/segment_find.h"
#include "fabric/segment_lock.h"

static double const SAME_RATE = 1e-9; /**< relative */

static void name_owner(uint32_t place, char owner[RM_OWNER_BYTES]) {
    if (place == 0)
        strcpy(owner, "ring");
    else
        snprintf(owner, RM_OWNER_BYTES, "ring-%u", place + 1);
}

static enum rm_code add_fellow(struct rm_fellows *fellows, char const *path, char const *owner,
                               struct rm_error *error) {
    enum rm_code const code = rm_segment_map_readonly(path, owner, &fellows->ring[fellows->count], error);
    fellows->count += code == RM_OK;
    fellows->begins = fellows->begins || code == RM_E_ABSENT || code == RM_E_HALF_MADE;
    return code == RM_E_ABSENT || code == RM_E_HALF_MADE ? RM_OK : code;
}

enum rm_code rm_fellows_open(char const *workspace, struct rm_fellows *fellows, struct rm_error *error) {
    char path[PATH_MAX];
    *fellows = (struct rm_fellows){.owner = "ring"};
    if (workspace[0] == '\0')
        return RM_OK;
    enum rm_code code = rm_workspace_path(workspace, path, error);
    bool named = false;
    for (uint32_t place = 0; place < RM_FELLOWS_MAX && code == RM_OK; ++place) {
        char owner[RM_OWNER_BYTES];
        name_owner(place, owner);
        bool const lives = rm_segment_lock_held(path, owner);
        if (lives)
            code = add_fellow(fellows, path, owner, error);
        if (!lives && !named) {
            strcpy(fellows->owner, owner);
            named = true;
        }
    }
    if (code == RM_OK && !named)
        code = rm_fail(error, RM_E_BUSY, "%s: %d rings run in this workspace, expected fewer; stop one", workspace,
                       RM_FELLOWS_MAX);
    if (code != RM_OK)
        rm_fellows_close(fellows);
    return code;
}

void rm_fellows_close(struct rm_fellows *fellows) {
    for (uint32_t f = 0; f < fellows->count; ++f)
        rm_segment_unmap(&fellows->ring[f]);
    fellows->count = 0;
}

static enum rm_code check_fellow_name(struct rm_fellows const *fellows, char const *set, char const *what,
                                      char const *name, struct rm_error *error) {
    char object[RM_NAME_BYTES];
    void const *memory;
    snprintf(object, sizeof object, "counters/%s/%s", set, name);
    for (uint32_t f = 0; f < fellows->count; ++f)
        if (rm_segment_find(&fellows->ring[f], RM_OBJECT_COUNTERS, object, 0, &memory) != NULL)
            return rm_fail(
                error, RM_E_BUSY,
                "%s \"%s\": process %llu, owner \"%s\" of this workspace, has one of this name and is alive; "
                "rings that share a workspace have each its own, so rename it or stop the other ring",
                what, name, (unsigned long long)fellows->ring[f].header->owner_pid, fellows->ring[f].owner);
    return RM_OK;
}

enum rm_code rm_fellows_check_names(struct rm_fellows const *fellows, struct rm_ring_config const *ring,
                                    struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t g = 0; g < ring->group_count && code == RM_OK; ++g)
        code = check_fellow_name(fellows, "sender", "instrument", ring->groups[g].name, error);
    for (uint32_t c = 0; c < ring->supplies.chain_count && code == RM_OK; ++c)
        code = check_fellow_name(fellows, "supply", "chain", ring->supplies.chains[c].name, error);
    return code;
}

static struct rm_parameter const *find_parameter(struct rm_mapped_segment const *ring, char const *name) {
    void const *memory = NULL;
    return rm_segment_find(ring, RM_OBJECT_PARAMETER, name, 0, &memory) == NULL ? NULL : memory;
}

/** A parameter OWNER/NAME of a ring; NULL where it has none. */
static struct rm_parameter const *parameter_of(struct rm_mapped_segment const *ring, char const *name) {
    char full[RM_NAME_BYTES];
    snprintf(full, sizeof full, "%s/%s", ring->owner, name);
    return find_parameter(ring, full);
}

/** False where the ring has no turns, as one of supplies only. */
static bool read_time(struct rm_mapped_segment const *ring, struct rm_ring_time *time, double *turn_rate_hz) {
    struct rm_parameter const *zero = parameter_of(ring, "turn_zero"), *ticks = parameter_of(ring, "ticks_per_turn"),
                              *rate = parameter_of(ring, "turn_rate_hz");
    struct rm_parameter_reading reading;
    uint64_t pair[2];
    if (zero == NULL || ticks == NULL || rate == NULL ||
        rm_parameter_read(zero, pair, sizeof pair, &reading) != sizeof pair)
        return false;
    *time = (struct rm_ring_time){pair[0], pair[1], rm_parameter_read_f64(ticks)};
    *turn_rate_hz = rm_parameter_read_f64(rate);
    return true;
}

static enum rm_code check_time(struct rm_mapped_segment const *ring, struct rm_ring_config const *own,
                               struct rm_ring_time const *time, double its_hz, double own_hz, struct rm_error *error) {
    unsigned long long const pid = ring->header->owner_pid;
    if (!(time->ticks_per_turn > 0))
        return rm_fail(error, RM_E_CONFIG,
                       "process %llu, owner \"%s\" of this workspace, sends unpaced or in lock-step, and so shares no "
                       "time; stop it, or choose another workspace name",
                       pid, ring->owner);
    if (own->lock_step.period_turns != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "lock_step: process %llu, owner \"%s\", is a ring of this workspace already, expected to be "
                       "alone: the time of a ring in lock-step cannot be shared",
                       pid, ring->owner);
    if (!(fabs(its_hz / own_hz - 1) < SAME_RATE))
        return rm_fail(error, RM_E_CONFIG,
                       "turn_rate_hz: found %g, expected %g, that of process %llu, owner \"%s\" of this workspace, as "
                       "they share their turns",
                       own_hz, its_hz, pid, ring->owner);
    return RM_OK;
}

enum rm_code rm_fellows_time(struct rm_fellows const *fellows, struct rm_ring_config const *ring, double turn_rate_hz,
                             enum rm_fellows_time_source *answer, struct rm_ring_time *time, struct rm_error *error) {
    *answer = fellows->begins ? RM_FELLOWS_WAIT : RM_FELLOWS_NO_TIME;
    for (uint32_t f = 0; f < fellows->count; ++f) {
        struct rm_ring_time its;
        double its_hz;
        if (!read_time(&fellows->ring[f], &its, &its_hz))
            continue;
        if (its.first_turn == RM_TURN_NONE) {
            *answer = RM_FELLOWS_WAIT;
            continue;
        }
        *answer = RM_FELLOWS_TIME;
        *time = its;
        return check_time(&fellows->ring[f], ring, &its, its_hz, turn_rate_hz, error);
    }
    return RM_OK;
}

struct rm_parameter const *rm_fellows_parameter(struct rm_fellows const *fellows, char const *name) {
    struct rm_parameter const *found = NULL;
    for (uint32_t f = 0; f < fellows->count && found == NULL; ++f)
        found = find_parameter(&fellows->ring[f], name);
    return found;
}
