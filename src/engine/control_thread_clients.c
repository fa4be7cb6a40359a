// SPDX-License-Identifier: Apache-2.0
/* Applications that come, go or die. */
#include "engine/control_thread_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/user.h"
#include "fabric/owner_folder.h"
#include "fabric/segment_lock.h"

static enum rm_code find_user(char const *name, uid_t *uid, struct rm_error *error) {
    struct rm_user user;
    struct rm_error reason;
    *uid = geteuid();
    if (name[0] == '\0')
        return RM_OK;
    if (rm_user_find(name, &user, &reason) != RM_OK)
        return rm_fail(error, reason.code, "applications: %s", reason.text);
    *uid = user.uid;
    return RM_OK;
}

enum rm_code rm_control_thread_make_folders(struct rm_control_thread *control_thread, struct rm_error *error) {
    struct rm_config const *const config = control_thread->setup.config;
    enum rm_code code = rm_workspace_folder(config->workspace, RM_REQUESTS_FOLDER, geteuid(), error);
    for (uint32_t i = 1; code == RM_OK && i < config->application_count; ++i) {
        struct rm_control_thread_client *const client = &control_thread->client[i];
        code = find_user(config->application[i].user, &client->uid, error);
        if (code == RM_OK)
            code = rm_workspace_folder(config->workspace, config->application[i].name, client->uid, error);
    }
    return code;
}

/** Writes a command. False while the transmit role has not taken the last one: later, then. */
static bool control_thread_post(struct rm_control_thread *control_thread, uint32_t application,
                                struct rm_transmit_command const *command) {
    struct rm_command_mailbox *const box = &control_thread->setup.mailbox[application];
    if (!rm_mailbox_is_free(&box->mailbox))
        return false;
    box->command = *command;
    rm_mailbox_post(&box->mailbox);
    return true;
}

bool rm_control_thread_find(struct rm_mapped_segment const *mapped, enum rm_object_kind kind, char const *name,
                            struct rm_object *found) {
    struct rm_segment_header const *const header = mapped->header;
    uint64_t const offset = header->directory_offset, count = header->object_count;
    if (offset > mapped->bytes || count > (mapped->bytes - offset) / sizeof *found)
        return false;
    uint8_t const *const directory = (uint8_t const *)header + offset;
    for (uint64_t i = 0; i < count; ++i) {
        memcpy(found, directory + i * sizeof *found, sizeof *found);
        if (found->kind == (uint32_t)kind && strncmp(found->name, name, sizeof found->name) == 0)
            return true;
    }
    return false;
}

void const *rm_control_thread_object(struct rm_mapped_segment const *mapped, enum rm_object_kind kind, char const *name,
                                     uint64_t bytes) {
    struct rm_object object;
    if (!rm_control_thread_find(mapped, kind, name, &object))
        return NULL;
    bool const inside =
        object.offset <= mapped->bytes && object.offset % RM_CACHE_LINE == 0 && bytes <= mapped->bytes - object.offset;
    return inside ? (uint8_t const *)mapped->header + object.offset : NULL;
}

struct rm_setpoints const *rm_control_thread_setpoints(struct rm_mapped_segment const *mapped, char const *name,
                                                       uint32_t actuators) {
    struct rm_setpoints head;
    struct rm_setpoints const *const memory =
        rm_control_thread_object(mapped, RM_OBJECT_SETPOINTS, name, rm_setpoints_bytes(actuators));
    if (memory == NULL)
        return NULL;
    memcpy(&head, memory, sizeof head);
    bool const good = head.vectors_offset == sizeof head && head.vector_bytes == rm_setpoint_vector_bytes(actuators) &&
                      head.actuator_count == actuators;
    return good ? memory : NULL;
}

/** An application's vectors. */
static struct rm_setpoints const *setpoints_of(struct rm_mapped_segment const *mapped,
                                               struct rm_config_application const *application) {
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "setpoints/%s", application->name);
    return rm_control_thread_setpoints(mapped, name, application->supply_count);
}

static void control_thread_welcome(struct rm_control_thread *control_thread, uint32_t application) {
    struct rm_control_thread_client *const client = &control_thread->client[application];
    struct rm_config_application const *const config = &control_thread->setup.config->application[application];
    struct rm_mapped_segment mapped;
    if (rm_segment_map_readonly(control_thread->workspace, config->name, &mapped, NULL) != RM_OK)
        return;
    bool const theirs = mapped.uid == client->uid && rm_control_thread_state_of(mapped.header) == RM_SEGMENT_LIVE;
    struct rm_transmit_command const command = {
        .setpoints = theirs ? setpoints_of(&mapped, config) : NULL,
        .vector_bytes = rm_setpoint_vector_bytes(config->supply_count),
        .grant_number = control_thread->setup.generation + control_thread->grants + 1,
        .instance = rm_control_thread_instance(mapped.header),
        .pid = atomic_load_explicit(&mapped.header->owner_pid, memory_order_relaxed),
    };
    if (command.setpoints == NULL || !control_thread_post(control_thread, application, &command)) {
        rm_segment_unmap(&mapped);
        return;
    }
    ++control_thread->grants;
    client->mapped = mapped;
    client->instance = command.instance;
    client->here = true;
}

static void take_leave(struct rm_control_thread *control_thread, uint32_t application) {
    struct rm_control_thread_client *const client = &control_thread->client[application];
    bool const in_order = rm_control_thread_state_of(client->mapped.header) == RM_SEGMENT_CLOSED;
    if (client->gone.header != NULL ||
        !control_thread_post(control_thread, application, &(struct rm_transmit_command){.died = !in_order}))
        return;
    client->gone = client->mapped;
    client->mapped = (struct rm_mapped_segment){0};
    client->here = false;
}

/** Unmaps what the transmit role uses no more: it has taken the command that said so, and no other was posted since. */
static void control_thread_let_go(struct rm_control_thread *control_thread, uint32_t application) {
    struct rm_control_thread_client *const client = &control_thread->client[application];
    if (client->gone.header != NULL && rm_mailbox_is_free(&control_thread->setup.mailbox[application].mailbox))
        rm_segment_unmap(&client->gone);
}

static void look_at(struct rm_control_thread *control_thread, uint32_t application) {
    struct rm_control_thread_client *const client = &control_thread->client[application];
    bool const alive =
        rm_segment_lock_tells(control_thread->workspace, control_thread->setup.config->application[application].name);
    control_thread_let_go(control_thread, application);
    if (client->here) {
        struct rm_segment_header const *const header = client->mapped.header;
        bool const same = rm_control_thread_instance(header) == client->instance &&
                          rm_control_thread_state_of(header) == RM_SEGMENT_LIVE;
        if (!alive || !same)
            take_leave(control_thread, application);
    } else if (alive) {
        control_thread_welcome(control_thread, application);
    }
}

void rm_control_thread_look_at_clients(struct rm_control_thread *control_thread) {
    for (uint32_t i = 1; control_thread->setup.mailbox != NULL && i < control_thread->setup.config->application_count;
         ++i)
        look_at(control_thread, i);
}

void rm_control_thread_free_clients(struct rm_control_thread *control_thread) {
    for (uint32_t i = 1; i < control_thread->setup.config->application_count; ++i) {
        rm_segment_unmap(&control_thread->client[i].mapped);
        rm_segment_unmap(&control_thread->client[i].gone);
    }
}
