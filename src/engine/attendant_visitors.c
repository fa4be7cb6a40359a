// SPDX-License-Identifier: Apache-2.0
/* Applications that come, go or die. */
#include "engine/attendant_state.h"

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

enum rm_code rm_attendant_make_folders(struct rm_attendant *attendant, struct rm_error *error) {
    struct rm_config const *const config = attendant->setup.config;
    enum rm_code code = rm_workspace_folder(config->workspace, RM_REQUESTS_FOLDER, geteuid(), error);
    for (uint32_t i = 1; code == RM_OK && i < config->application_count; ++i) {
        struct rm_attendant_visitor *const visitor = &attendant->visitor[i];
        code = find_user(config->application[i].user, &visitor->uid, error);
        if (code == RM_OK)
            code = rm_workspace_folder(config->workspace, config->application[i].name, visitor->uid, error);
    }
    return code;
}

static uint64_t instance_of(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->epoch, memory_order_relaxed);
}

static uint32_t state_of(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->state, memory_order_acquire);
}

/** Writes a letter. False while the transmit role has not taken the last one: later, then. */
static bool post(struct rm_attendant *attendant, uint32_t application, struct rm_transmit_letter const *letter) {
    struct rm_transmit_mailbox *const mailbox = &attendant->setup.mailbox[application];
    uint64_t const posted = atomic_load_explicit(&mailbox->posted, memory_order_relaxed);
    if (atomic_load_explicit(&mailbox->taken, memory_order_acquire) != posted)
        return false;
    mailbox->letter = *letter;
    atomic_store_explicit(&mailbox->posted, posted + 1, memory_order_release);
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

/** The application's rows, if they are as the configuration says and lie wholly in its segment, with the bytes of a
 * row; else NULL. All numbers are copied before they are judged. */
static struct rm_setpoints const *check_setpoints(struct rm_mapped_segment const *mapped, char const *application,
                                                  uint32_t actuators, uint64_t *row_bytes) {
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
    *row_bytes = rm_setpoint_row_bytes(actuators);
    bool const good =
        head.rows_offset == sizeof head && head.row_bytes == *row_bytes && head.actuator_count == actuators;
    return good ? (struct rm_setpoints const *)memory : NULL;
}

static void welcome(struct rm_attendant *attendant, uint32_t application) {
    struct rm_attendant_visitor *const visitor = &attendant->visitor[application];
    struct rm_config_application const *const config = &attendant->setup.config->application[application];
    struct rm_mapped_segment mapped;
    if (rm_segment_map_readonly(attendant->workspace, config->name, &mapped, NULL) != RM_OK)
        return;
    uint64_t row_bytes = 0;
    bool const theirs = mapped.uid == visitor->uid && state_of(mapped.header) == RM_SEGMENT_LIVE;
    struct rm_transmit_letter const letter = {
        .setpoints = theirs ? check_setpoints(&mapped, config->name, config->supply_count, &row_bytes) : NULL,
        .row_bytes = row_bytes,
        .epoch = attendant->setup.epoch + attendant->grants + 1,
        .instance = instance_of(mapped.header),
        .pid = atomic_load_explicit(&mapped.header->owner_pid, memory_order_relaxed),
    };
    if (letter.setpoints == NULL || !post(attendant, application, &letter)) {
        rm_segment_unmap(&mapped);
        return;
    }
    ++attendant->grants;
    visitor->mapped = mapped;
    visitor->instance = letter.instance;
    visitor->here = true;
}

static void take_leave(struct rm_attendant *attendant, uint32_t application) {
    struct rm_attendant_visitor *const visitor = &attendant->visitor[application];
    bool const in_order = state_of(visitor->mapped.header) == RM_SEGMENT_CLOSED;
    if (visitor->gone.header != NULL || !post(attendant, application, &(struct rm_transmit_letter){.died = !in_order}))
        return;
    visitor->gone = visitor->mapped;
    visitor->gone_letter = atomic_load_explicit(&attendant->setup.mailbox[application].posted, memory_order_relaxed);
    visitor->mapped = (struct rm_mapped_segment){0};
    visitor->here = false;
}

/** Unmaps what the transmit role uses no more. */
static void let_go(struct rm_attendant *attendant, uint32_t application) {
    struct rm_attendant_visitor *const visitor = &attendant->visitor[application];
    struct rm_transmit_mailbox *const mailbox = &attendant->setup.mailbox[application];
    if (visitor->gone.header != NULL &&
        atomic_load_explicit(&mailbox->taken, memory_order_acquire) >= visitor->gone_letter)
        rm_segment_unmap(&visitor->gone);
}

static void look_at(struct rm_attendant *attendant, uint32_t application) {
    struct rm_attendant_visitor *const visitor = &attendant->visitor[application];
    bool const alive =
        rm_segment_lock_held(attendant->workspace, attendant->setup.config->application[application].name);
    let_go(attendant, application);
    if (visitor->here) {
        struct rm_segment_header const *const header = visitor->mapped.header;
        bool const same = instance_of(header) == visitor->instance && state_of(header) == RM_SEGMENT_LIVE;
        if (!alive || !same)
            take_leave(attendant, application);
    } else if (alive) {
        welcome(attendant, application);
    }
}

void rm_attendant_look_at_visitors(struct rm_attendant *attendant) {
    for (uint32_t i = 1; attendant->setup.mailbox != NULL && i < attendant->setup.config->application_count; ++i)
        look_at(attendant, i);
}

void rm_attendant_free_visitors(struct rm_attendant *attendant) {
    for (uint32_t i = 1; i < attendant->setup.config->application_count; ++i) {
        rm_segment_unmap(&attendant->visitor[i].mapped);
        rm_segment_unmap(&attendant->visitor[i].gone);
    }
}
