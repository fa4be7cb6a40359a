// SPDX-License-Identifier: Apache-2.0
#include "standby/link/segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITABLE = RM_PARAMETER_WRITABLE };

/** What people see and set. A number above `control_most` is refused. */
static struct {
    char const *name, *unit, *description;
    unsigned flags;
    double control_most, major_low;
} const PARAMETERS[RM_PEER_PARAMETERS] = {
    [RM_PEER_PARAMETER_ROLE] =
        {"standby/role", "", "of this server: 0 maintenance, 1 joining, 2 ready, 3 active, 4 fault, -1 it is not there",
         0, NAN, NAN},
    [RM_PEER_PARAMETER_PEER_ROLE] = {"standby/peer_role", "", "the same of the other server; -1: it is not heard", 0,
                                     NAN, NAN},
    [RM_PEER_PARAMETER_READY] = {"standby/ready", "", "1 while one server is active and the other one could take over",
                                 0, NAN, 0.5},
    [RM_PEER_PARAMETER_TERM] = {"standby/term", "", "under which this server sends, or sent last", 0, NAN, NAN},
    [RM_PEER_PARAMETER_PEER_TERM] = {"standby/peer_term", "", "the same of the other server", 0, NAN, NAN},
    [RM_PEER_PARAMETER_LAG] = {"standby/lag_cycles", "cycles",
                               "by which the other server's setpoints are here behind this server's newest cycle", 0,
                               NAN, NAN},
    [RM_PEER_PARAMETER_DIFFERENCES] = {"standby/differences", "",
                                       "steps of applications here that came to other bits than the other server's", 0,
                                       NAN, NAN},
    [RM_PEER_PARAMETER_ROUND_TRIP] = {"standby/round_trip", "s", "of the link, there and back, as it was last", 0, NAN,
                                      NAN},
    [RM_PEER_PARAMETER_SWITCH] = {"standby/switch", "",
                                  "put 1 to switch to the other server soon, or the turn; it has what was agreed",
                                  WRITABLE, 4e18, NAN},
    [RM_PEER_PARAMETER_HOLD] = {"standby/hold", "",
                                "1 holds this server: it neither sends nor takes over; not while it is active",
                                WRITABLE, 1, NAN},
    [RM_PEER_PARAMETER_ACKNOWLEDGE] = {"standby/acknowledge", "",
                                       "put 1 to acknowledge an automatic take-over; it has how many were", WRITABLE,
                                       4e18, NAN},
};

static struct rm_limits limits_of(double control_low, double control_high, double major_low) {
    return (struct rm_limits){NAN, NAN, control_low, control_high, NAN, NAN, major_low, NAN, 0.0};
}

static rm_owner_index parameter_add(struct rm_owner *owner, int index) {
    bool const is_writable = (PARAMETERS[index].flags & WRITABLE) != 0;
    struct rm_limits const limits =
        limits_of(is_writable ? 0.0 : NAN, PARAMETERS[index].control_most, PARAMETERS[index].major_low);
    return rm_owner_parameter(owner, &(struct rm_parameter_plan){.name = PARAMETERS[index].name,
                                                                 .unit = PARAMETERS[index].unit,
                                                                 .description = PARAMETERS[index].description,
                                                                 .type = RM_ELEMENT_F64,
                                                                 .rows = 1,
                                                                 .limits = &limits,
                                                                 .flags = PARAMETERS[index].flags});
}

/** Handles of what was added, until the segment is open. */
struct added {
    rm_owner_index orders, vector[RM_PEER_VECTORS], counters, parameter[RM_PEER_PARAMETERS], why;
    rm_owner_index state[RM_PEER_APPLICATIONS], followed[RM_PEER_APPLICATIONS];
};

static void application_add(struct rm_peer_segment *segment, struct rm_peer_own_application const *application,
                            uint32_t i, struct added *added) {
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "peer/followed/%s", application->name);
    added->followed[i] = rm_owner_parameter(
        segment->owner, &(struct rm_parameter_plan){.name = name,
                                                    .description = "turn of the newest step that the other server has "
                                                                   "made after this one; -1: none",
                                                    .type = RM_ELEMENT_I64,
                                                    .rows = 1});
    segment->application[i].stream = calloc(application->stream_count + 1u, sizeof(rm_owner_index));
    segment->application[i].stream_count = segment->application[i].stream == NULL ? 0 : application->stream_count;
    for (uint32_t s = 0; s < segment->application[i].stream_count; ++s) {
        snprintf(name, sizeof name, "peer/%s/%s", application->name, application->stream_name[s]);
        segment->application[i].stream[s] =
            rm_owner_stream(segment->owner, name, "decision record of the other server", application->stream[s].header);
    }
    if (application->state == NULL)
        return;
    snprintf(name, sizeof name, "peer/state/%s", application->name);
    added->state[i] = rm_owner_state(segment->owner, name, "state of the other server's", application->state_capacity);
    segment->application[i].state_capacity = application->state_capacity;
}

static struct added objects_add(struct rm_peer_segment *segment, struct rm_peer_own const *own) {
    struct rm_owner *const owner = segment->owner;
    uint32_t const supplies = own->config->supply_count;
    struct added added;
    added.orders = rm_owner_standby_orders(owner, "standby/orders", "what the link tells the transmit role");
    added.vector[RM_PEER_SENT] =
        rm_owner_setpoints(owner, "peer/setpoints/sent", "what the other server sent last", supplies);
    added.vector[RM_PEER_TARGETS] =
        rm_owner_setpoints(owner, "peer/setpoints/targets", "where the other server's supplies go", supplies);
    added.counters =
        rm_owner_counters(owner, "counters/link", "datagrams of the link", RM_COUNTER_SET_LINK, RM_LINK_COUNTERS);
    for (int i = 0; i < RM_PEER_PARAMETERS; ++i)
        added.parameter[i] = parameter_add(owner, i);
    added.why = rm_owner_parameter(
        owner,
        &(struct rm_parameter_plan){.name = "standby/why",
                                    .unit = "utf-8",
                                    .description = "why there is no standby that could take over; empty: there is one",
                                    .type = RM_ELEMENT_U8,
                                    .rows = RM_PEER_WHY_BYTES});
    for (uint32_t i = 0; i < own->application_count; ++i)
        application_add(segment, &own->application[i], i, &added);
    rm_owner_requests(owner);
    rm_owner_replies(owner);
    return added;
}

/** Finds the memory of all that was added. */
static void objects_find(struct rm_peer_segment *segment, struct rm_peer_own const *own, struct added const *added) {
    struct rm_owner *const owner = segment->owner;
    segment->orders = rm_owner_memory(owner, added->orders);
    segment->counters = rm_owner_memory(owner, added->counters);
    segment->why = rm_owner_memory(owner, added->why);
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        segment->vector[of] = rm_owner_memory(owner, added->vector[of]);
    for (int i = 0; i < RM_PEER_PARAMETERS; ++i) {
        segment->parameter[i] = rm_owner_memory(owner, added->parameter[i]);
        segment->shown[i] = NAN; // is shown, whatever it is
    }
    for (uint32_t i = 0; i < own->application_count; ++i) {
        if (segment->application[i].state_capacity > 0)
            segment->application[i].state = rm_owner_memory(owner, added->state[i]);
        segment->application[i].followed = rm_owner_memory(owner, added->followed[i]);
        segment->application[i].shown = RM_TURN_END;
    }
    segment->why_shown[0] = segment->why_said[0] = '?';
}

enum rm_code rm_peer_segment_open(struct rm_peer_segment *segment, struct rm_peer_own const *own,
                                  struct rm_error *error) {
    *segment = (struct rm_peer_segment){.owner = NULL};
    enum rm_code code = rm_owner_new(own->config->workspace, "standby", &segment->owner, error);
    if (code != RM_OK)
        return code;
    struct added const added = objects_add(segment, own);
    code = rm_owner_open(segment->owner, error);
    if (code == RM_OK)
        code = rm_inbox_new(segment->owner, &segment->inbox, error);
    if (code == RM_OK)
        objects_find(segment, own, &added);
    return code;
}

void rm_peer_segment_close(struct rm_peer_segment *segment) {
    if (segment->inbox != NULL)
        rm_inbox_free(segment->inbox);
    rm_owner_close(segment->owner);
    for (uint32_t i = 0; i < RM_PEER_APPLICATIONS; ++i)
        free(segment->application[i].stream);
    *segment = (struct rm_peer_segment){.owner = NULL};
}

bool rm_peer_segment_fits(struct rm_peer_segment const *segment, struct rm_peer_own const *own) {
    for (uint32_t i = 0; i < own->application_count; ++i) {
        struct rm_peer_own_application const *const application = &own->application[i];
        bool const is_here = application->stream_count > 0;
        if (is_here && (application->stream_count != segment->application[i].stream_count ||
                        application->state_capacity != segment->application[i].state_capacity))
            return false;
    }
    return true;
}
