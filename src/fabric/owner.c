// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/owner.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "fabric/owner_folder.h"
#include "fabric/owner_names.h"
#include "fabric/owner_parts.h"
#include "fabric/requester.h"
#include "fabric/segment_map.h"
#include "fabric/workspace_leave.h"

static enum rm_code owner_make(char const *workspace, char const *name, struct rm_owner **owner,
                               struct rm_error *error) {
    if (!rm_owner_name_good(name))
        return rm_fail(error, RM_E_ARGUMENT,
                       "\"%s\" is no name for an owner: 1 to %d bytes, no slash, no dot in front, not \"%s\"", name,
                       RM_OWNER_BYTES - 1, RM_REQUESTS_FOLDER);
    struct rm_owner *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the owner \"%s\"", name);
    enum rm_code const code = rm_workspace_path(workspace, made->workspace, error);
    if (code != RM_OK) {
        free(made);
        return code;
    }
    snprintf(made->name, sizeof made->name, "%s", name);
    made->requests = made->replies = RM_OWNER_NONE;
    *owner = made;
    return RM_OK;
}

enum rm_code rm_owner_new(char const *workspace, char const *name, struct rm_owner **owner, struct rm_error *error) {
    return owner_make(workspace, name, owner, error);
}

enum rm_code rm_owner_new_requester(char const *workspace, char const *name, struct rm_owner **owner,
                                    struct rm_error *error) {
    enum rm_code const code = owner_make(workspace, name, owner, error);
    if (code == RM_OK)
        (*owner)->requester = true;
    return code;
}

static rm_owner_index index_of_kind(struct rm_segment_plan const *plan, enum rm_object_kind kind) {
    for (size_t i = 0; i < plan->count; ++i)
        if (plan->planned[i].object.kind == kind)
            return i;
    return RM_OWNER_NONE;
}

enum rm_code rm_owner_borrow(char const *workspace, struct rm_segment_plan const *plan,
                             struct rm_segment const *segment, struct rm_owner **owner, struct rm_error *error) {
    enum rm_code const code = owner_make(workspace, segment->header->owner, owner, error);
    if (code != RM_OK)
        return code;
    (*owner)->plan = *plan;
    (*owner)->segment = *segment;
    (*owner)->requests = index_of_kind(plan, RM_OBJECT_REQUESTS);
    (*owner)->replies = index_of_kind(plan, RM_OBJECT_REPLIES);
    (*owner)->open = (*owner)->borrowed = true;
    return RM_OK;
}

rm_owner_index rm_owner_parameter(struct rm_owner *owner, struct rm_parameter_plan const *plan) {
    return rm_plan_full_parameter(&owner->plan, plan);
}

rm_owner_index rm_owner_group(struct rm_owner *owner, char const *name, char const *description) {
    return rm_plan_group(&owner->plan, name, description);
}

rm_owner_index rm_owner_setpoints(struct rm_owner *owner, char const *name, char const *description,
                                  size_t actuator_count) {
    return rm_plan_setpoints(&owner->plan, name, description, actuator_count);
}

rm_owner_index rm_owner_counters(struct rm_owner *owner, char const *name, char const *description, unsigned set,
                                 size_t count) {
    return rm_plan_counters(&owner->plan, name, description, (enum rm_counter_set_id)set, count);
}

rm_owner_index rm_owner_stream(struct rm_owner *owner, char const *name, char const *description,
                               struct rm_stream const *stream) {
    return rm_plan_stream(&owner->plan, name, description, stream);
}

rm_owner_index rm_owner_rows(struct rm_owner *owner, struct rm_rows_plan const *plan) {
    return rm_plan_rows(&owner->plan, plan);
}

rm_owner_index rm_owner_images(struct rm_owner *owner, struct rm_images_plan const *plan) {
    return rm_plan_images(&owner->plan, plan);
}

rm_owner_index rm_owner_histogram(struct rm_owner *owner, char const *name, char const *description, char const *unit) {
    return rm_plan_histogram(&owner->plan, name, description, unit);
}

rm_owner_index rm_owner_standby_orders(struct rm_owner *owner, char const *name, char const *description) {
    return rm_plan_standby_orders(&owner->plan, name, description);
}

rm_owner_index rm_owner_state(struct rm_owner *owner, char const *name, char const *description, uint64_t capacity) {
    return rm_plan_state(&owner->plan, name, description, capacity);
}

/** A requester's name is settled when it opens; so long its objects go by this one. */
static void name_object(struct rm_owner const *owner, char name[RM_NAME_BYTES], char const *what) {
    snprintf(name, RM_NAME_BYTES, "%s/%s", owner->name, what);
}

rm_owner_index rm_owner_requests(struct rm_owner *owner) {
    char name[RM_NAME_BYTES];
    name_object(owner, name, "requests");
    owner->requests = rm_plan_requests(&owner->plan, name, "what it asks of others");
    return owner->requests;
}

rm_owner_index rm_owner_replies(struct rm_owner *owner) {
    char name[RM_NAME_BYTES];
    name_object(owner, name, "replies");
    owner->replies = rm_plan_replies(&owner->plan, name, "what it answered to requests");
    return owner->replies;
}

/** One that stays counts itself, so none that readers would leave out stays. */
static enum rm_code check_owner_room(struct rm_owner const *owner, struct rm_error *error) {
    struct rm_owner_names names;
    rm_owner_names_list(&names, owner->workspace);
    size_t const count = names.count;
    rm_owner_names_free(&names);
    return count <= RM_OWNERS_MAX ? RM_OK
                                  : rm_fail(error, RM_E_NO_SPACE,
                                            "%s: has %d owners, as many as readers look at, so \"%s\" has no place; "
                                            "remove folders and segments of owners that are not needed",
                                            owner->workspace, RM_OWNERS_MAX, owner->name);
}

static enum rm_code open_to_stay(struct rm_owner *owner, struct rm_error *error) {
    enum rm_code code = rm_segment_open(owner->workspace, owner->name, &owner->plan, &owner->segment, error);
    if (code == RM_OK && !owner->segment.adopted) {
        code = check_owner_room(owner, error);
        if (code != RM_OK)
            rm_segment_remove(&owner->segment);
    }
    return code;
}

enum rm_code rm_owner_open(struct rm_owner *owner, struct rm_error *error) {
    enum rm_code code = rm_plan_check(&owner->plan, error);
    if (code == RM_OK && owner->open)
        code = rm_fail(error, RM_E_ARGUMENT, "\"%s\" is open already", owner->name);
    if (code == RM_OK)
        code = owner->requester ? rm_requester_open(owner, error) : open_to_stay(owner, error);
    if (code != RM_OK)
        return code;
    code = rm_owner_streams_open(owner, error);
    if (code != RM_OK) {
        rm_owner_streams_close(owner);
        rm_segment_close(&owner->segment);
        return code;
    }
    rm_segment_finish(&owner->segment);
    owner->open = true;
    return RM_OK;
}

void *rm_owner_memory(struct rm_owner const *owner, rm_owner_index index) {
    return owner->open && index < owner->plan.count ? rm_segment_memory(&owner->segment, &owner->plan, index) : NULL;
}

void *rm_owner_object(struct rm_owner const *owner, enum rm_object_kind kind, char const *name) {
    for (size_t i = 0; i < owner->plan.count; ++i)
        if (owner->plan.planned[i].object.kind == kind && strcmp(owner->plan.planned[i].object.name, name) == 0)
            return rm_owner_memory(owner, i);
    return NULL;
}

struct rm_parameter *rm_owner_find(struct rm_owner const *owner, char const *name) {
    return rm_owner_object(owner, RM_OBJECT_PARAMETER, name);
}

struct rm_segment_header const *rm_owner_header(struct rm_owner const *owner) {
    return owner->segment.header;
}

bool rm_owner_adopted(struct rm_owner const *owner) { return owner->segment.adopted; }

void rm_owner_close(struct rm_owner *owner) {
    if (owner == NULL)
        return;
    if (owner->borrowed) {
        free(owner);
        return;
    }
    rm_owner_streams_close(owner);
    if (owner->open && owner->requester)
        rm_segment_remove(&owner->segment);
    else if (owner->open)
        rm_segment_close(&owner->segment);
    if (owner->open)
        rm_workspace_leave(owner->workspace);
    rm_plan_free(&owner->plan);
    free(owner);
}
