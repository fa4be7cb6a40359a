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

static uint64_t instance_of(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->generation, memory_order_relaxed);
}

static uint32_t state_of(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->state, memory_order_acquire);
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

/** Copies what the directory says of the application's setpoints, once: this memory may change at any time. */
static bool find_setpoints(struct rm_mapped_segment const *mapped, char const *application, struct rm_object *found) {
    char wanted[RM_NAME_BYTES];
    snprintf(wanted, sizeof wanted, "setpoints/%s", application);
    struct rm_segment_header const *const header = mapped->header;
    uint64_t const offset = header->directory_offset, count = header->object_count;
    if (offset > mapped->bytes || count > (mapped->bytes - offset) / sizeof *found)
        return false;
    uint8_t const *const directory = (uint8_t const *)header + offset;
    for (uint64_t i = 0; i < count; ++i) {
        memcpy(found, directory + i * sizeof *found, sizeof *found);
        if (found->kind == RM_OBJECT_SETPOINTS && strncmp(found->name, wanted, sizeof wanted) == 0)
            return true;
    }
    return false;
}

/** The application's vectors, if they are as the configuration says and lie wholly in its segment, with the bytes of a
 * vector; else NULL. All numbers are copied before they are judged. */
static struct rm_setpoints const *check_setpoints(struct rm_mapped_segment const *mapped, char const *application,
                                                  uint32_t actuators, uint64_t *vector_bytes) {
    struct rm_object object;
    struct rm_setpoints head;
    if (!find_setpoints(mapped, application, &object))
        return NULL;
    uint64_t const wanted = rm_setpoints_bytes(actuators);
    bool const inside =
        object.offset <= mapped->bytes && object.offset % RM_CACHE_LINE == 0 && wanted <= mapped->bytes - object.offset;
    if (!inside)
        return NULL;
    uint8_t const *const memory = (uint8_t const *)mapped->header + object.offset;
    memcpy(&head, memory, sizeof head);
    *vector_bytes = rm_setpoint_vector_bytes(actuators);
    bool const good =
        head.vectors_offset == sizeof head && head.vector_bytes == *vector_bytes && head.actuator_count == actuators;
    return good ? (struct rm_setpoints const *)memory : NULL;
}

static void control_thread_welcome(struct rm_control_thread *control_thread, uint32_t application) {
    struct rm_control_thread_client *const client = &control_thread->client[application];
    struct rm_config_application const *const config = &control_thread->setup.config->application[application];
    struct rm_mapped_segment mapped;
    if (rm_segment_map_readonly(control_thread->workspace, config->name, &mapped, NULL) != RM_OK)
        return;
    uint64_t vector_bytes = 0;
    bool const theirs = mapped.uid == client->uid && state_of(mapped.header) == RM_SEGMENT_LIVE;
    struct rm_transmit_command const command = {
        .setpoints = theirs ? check_setpoints(&mapped, config->name, config->supply_count, &vector_bytes) : NULL,
        .vector_bytes = vector_bytes,
        .grant_number = control_thread->setup.generation + control_thread->grants + 1,
        .instance = instance_of(mapped.header),
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
    bool const in_order = state_of(client->mapped.header) == RM_SEGMENT_CLOSED;
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
        bool const same = instance_of(header) == client->instance && state_of(header) == RM_SEGMENT_LIVE;
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
