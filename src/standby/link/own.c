// SPDX-License-Identifier: Apache-2.0
#include "standby/link/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Between two looks that make system calls. */
#define LOOK_NS 100000000ull
/** Between two searches for applications that are not there. */
#define SEARCH_NS 300000000ull

enum { STREAMS_MAX = 512 };

void rm_peer_own_make(struct rm_peer_own *own, struct rm_config const *config) {
    *own = (struct rm_peer_own){.config = config};
    for (uint32_t i = 1; i < config->application_count; ++i) // number 0 is the operator
        own->application[own->application_count++].name = config->application[i].name;
}

static void application_leave(struct rm_peer_own_application *application) {
    free(application->stream);
    free(application->stream_name);
    *application = (struct rm_peer_own_application){.name = application->name};
}

static void own_detach(struct rm_peer_own *own) {
    for (uint32_t i = 0; i < own->application_count; ++i)
        application_leave(&own->application[i]);
    rm_workspace_detach(own->workspace);
    own->workspace = NULL;
    own->state = NULL;
    memset(own->vector, 0, sizeof own->vector);
    memset(own->place, 0, sizeof own->place);
}

void rm_peer_own_free(struct rm_peer_own *own) { own_detach(own); }

/** An object's memory, where it has this kind; its segment's header lies before it. */
static void const *find(struct rm_workspace const *workspace, enum rm_object_kind kind, char const *name,
                        struct rm_object const **object) {
    void const *memory;
    return rm_workspace_find(workspace, kind, name, object, &memory, NULL) == RM_OK ? memory : NULL;
}

/** Adds the stream of this name. False: there is none. */
static bool application_add(struct rm_workspace const *workspace, struct rm_peer_own_application *application,
                            char const *stream) {
    char name[RM_NAME_BYTES];
    struct rm_stream_view view;
    snprintf(name, sizeof name, "%s/%s", application->name, stream);
    if (application->stream_count >= STREAMS_MAX || rm_workspace_stream(workspace, name, &view, NULL) != RM_OK)
        return false;
    uint32_t const i = application->stream_count++;
    application->stream[i] = view;
    snprintf(application->stream_name[i], sizeof application->stream_name[i], "%s", stream);
    return true;
}

static void application_find(struct rm_workspace const *workspace, struct rm_peer_own_application *application) {
    static char const *const numbered[] = {"missing", "sent", "unfinished"};
    struct rm_object const *object;
    char name[RM_NAME_BYTES];
    application->stream = calloc(STREAMS_MAX, sizeof *application->stream);
    application->stream_name = calloc(STREAMS_MAX, sizeof *application->stream_name);
    if (application->stream == NULL || application->stream_name == NULL ||
        !application_add(workspace, application, "decision")) {
        application_leave(application);
        return;
    }
    application_add(workspace, application, "settings_adopted");
    for (int kind = 0; kind < 3; ++kind) {
        char stream[RM_LANE_NAME_BYTES];
        uint32_t number = 0;
        do
            snprintf(stream, sizeof stream, "%s%u", numbered[kind], number++);
        while (application_add(workspace, application, stream));
    }
    snprintf(name, sizeof name, "stream/%s/decision", application->name);
    void const *const decision = find(workspace, RM_OBJECT_STREAM, name, &object);
    application->segment = (void const *)((uint8_t const *)decision - object->offset);
    snprintf(name, sizeof name, "state/%s", application->name);
    application->state = find(workspace, RM_OBJECT_STATE, name, &object);
    /* As checked when the workspace was attached; the owner may write anything later. */
    application->state_capacity = application->state == NULL ? 0 : application->state->capacity;
    snprintf(name, sizeof name, "%s/in_step", application->name);
    application->in_step = find(workspace, RM_OBJECT_PARAMETER, name, &object);
    snprintf(name, sizeof name, "counters/follow/%s", application->name);
    application->follow = find(workspace, RM_OBJECT_COUNTERS, name, &object);
}

/** True for a server of this configuration: it has a role, and vectors of all supplies. */
static bool own_find(struct rm_peer_own *own) {
    static char const *const vectors[] = {[RM_PEER_SENT] = "setpoints/sent", [RM_PEER_TARGETS] = "setpoints/targets"};
    struct rm_object const *object;
    own->state = find(own->workspace, RM_OBJECT_STANDBY_STATE, "standby/state", &object);
    for (int of = 0; of < RM_PEER_VECTORS; ++of) {
        own->vector[of] = find(own->workspace, RM_OBJECT_SETPOINTS, vectors[of], &object);
        if (own->vector[of] == NULL || own->vector[of]->actuator_count != own->config->supply_count)
            return false;
    }
    for (uint32_t i = 0; i < own->application_count; ++i)
        application_find(own->workspace, &own->application[i]);
    return own->state != NULL;
}

static bool own_attach(struct rm_peer_own *own) {
    if (rm_workspace_attach(own->config->workspace, 0, &own->workspace, NULL) != RM_OK) {
        own->workspace = NULL;
        return false;
    }
    own->generation = rm_workspace_generation(own->workspace);
    if (own_find(own))
        return true;
    own_detach(own);
    return false;
}

/** True when an application's segment is another one than what is mapped. */
static bool own_is_replaced(struct rm_peer_own const *own) {
    for (uint32_t i = 0; i < own->application_count; ++i) {
        struct rm_segment_header const *const segment = own->application[i].segment;
        if (segment != NULL && atomic_load_explicit(&segment->state, memory_order_acquire) == RM_SEGMENT_REPLACED)
            return true;
    }
    return false;
}

static bool own_lacks_some(struct rm_peer_own const *own) {
    for (uint32_t i = 0; i < own->application_count; ++i)
        if (own->application[i].stream_count == 0)
            return true;
    return false;
}

bool rm_peer_own_look(struct rm_peer_own *own, uint64_t now_ns) {
    bool const had_server = own->workspace != NULL;
    if (had_server && own->generation == rm_workspace_generation(own->workspace) && now_ns - own->looked_ns < LOOK_NS)
        return false;
    if (!had_server && now_ns - own->tried_ns < LOOK_NS)
        return false;
    own->looked_ns = now_ns;
    bool const is_whole = had_server && own->generation == rm_workspace_generation(own->workspace) &&
                          rm_workspace_alive(own->workspace) && rm_workspace_cut(own->workspace) == NULL &&
                          !own_is_replaced(own);
    if (is_whole && (!own_lacks_some(own) || now_ns - own->tried_ns < SEARCH_NS))
        return false;
    if (had_server)
        own_detach(own);
    own->tried_ns = now_ns;
    return own_attach(own) || had_server;
}
