// SPDX-License-Identifier: Apache-2.0
/** For tests of applications: another process that goes on from a copy of the state (host/host_state_bytes.h). For
 * cmocka: what goes wrong fails the test that runs. */
#ifndef RM_HOST_TEST_COPIED_H
#define RM_HOST_TEST_COPIED_H

#include <stdlib.h>
#include <string.h>

#include "host/host_decision.h"
#include "host/host_state_bytes.h"

/** Opens the application once more, and restores it behind the last step of `from`, whose records were `record` [input].
 * It has the same inputs, and what was sent. */
static inline struct rm_host_program *copied(struct rm_host_program *from, struct rm_record const *record) {
    struct rm_host_decisions leads = {.put = NULL}, follows = {.put = NULL};
    struct rm_host_program *program = NULL;
    struct rm_host_state_place place;
    struct rm_error error;
    size_t const room = rm_host_state_room(from), inputs = from->setup.input_count;
    void *const bytes = malloc(room);
    struct rm_record *const came = aligned_alloc(_Alignof(struct rm_record), (inputs + 1) * sizeof *came);
    if (rm_host_program_open(&from->setup, &program, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(rm_host_state_can_be_saved(from, &error), RM_OK);
    assert_true(rm_host_decisions_open(&leads, from) && rm_host_decisions_open(&follows, program));
    assert_true(bytes != NULL && came != NULL);
    memcpy(leads.journal.stepped, from->setting, from->setting_values * sizeof(double));
    for (uint32_t i = 0; i < inputs; ++i)
        program->input[i] = from->input[i];
    size_t const used = rm_host_state_save(from, &leads, record, bytes, room);
    assert_true(used > 0);
    if (rm_host_state_restore(program, &follows, came, bytes, used, &place, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(came, record, inputs * sizeof *came);
    memcpy(program->sent, from->sent, from->setup.actuator_count * sizeof(double));
    rm_host_decisions_close(&leads);
    rm_host_decisions_close(&follows);
    free(came);
    free(bytes);
    return program;
}

/** Both told and commanded the same in the last step. */
static inline void assert_as_copied(struct rm_host_program const *from, struct rm_host_program const *copy) {
    struct rm_application_code const *code = from->code.it;
    assert_int_equal(from->steps, copy->steps);
    assert_memory_equal(from->command.setpoint, copy->command.setpoint, from->setup.actuator_count * sizeof(double));
    assert_memory_equal(from->stream, copy->stream, code->stream_count * sizeof *from->stream);
    for (uint32_t i = 0; i < code->reading_count; ++i)
        if (!code->readings[i].is_of_computer)
            assert_memory_equal(from->reading + from->reading_at[i], copy->reading + copy->reading_at[i],
                                from->reading_length[i] * sizeof(double));
}

#endif
