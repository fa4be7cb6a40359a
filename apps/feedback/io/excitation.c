// SPDX-License-Identifier: Apache-2.0
#include "excitation.h"

#include <math.h>

#include "settings.h"

/** The part and channel, or output, that settings ask to excite. */
static void excitation_aim(struct feedback *feedback, bool at_output, double number) {
    struct feedback_excitation_state *excitation = &feedback->loop.excitation;
    struct feedback_layout const *layout = &feedback->layout;
    uint32_t const wanted = number >= 0.0 && number < 1e6 ? (uint32_t)number : UINT32_MAX;
    uint32_t const output = at_output && wanted < layout->actuators ? layout->output_of[wanted] : UINT32_MAX;
    excitation->part = -1;
    excitation->at_output = at_output;
    for (uint32_t p = 0; p < layout->part_count; ++p) {
        struct feedback_part const *part = &layout->part[p];
        uint32_t const first = at_output ? part->first : part->channel;
        uint32_t const count = at_output ? part->columns : part->channels_most;
        uint32_t const it = at_output ? output : wanted;
        if (it == UINT32_MAX || it < first || it >= first + count)
            continue;
        excitation->part = (int32_t)p;
        excitation->number = at_output ? output : wanted - first;
    }
    if (excitation->part >= 0 && !at_output &&
        (feedback->loop.answer == NULL ||
         excitation->number >= feedback->loop.answer->controllers[excitation->part].channels))
        excitation->part = -1;
}

/** While the loop is not on, an actuator is excited about where it stands; afterwards it is put back there. */
static void excitation_inject_step(struct feedback *feedback) {
    struct feedback_excitation_state const *excitation = &feedback->loop.excitation;
    enum feedback_state const state = feedback->states.state;
    bool const injects = excitation->part >= 0 && excitation->at_output &&
                         feedback->excite.request.kind != FEEDBACK_QUIET &&
                         (state == FEEDBACK_OFF || state == FEEDBACK_READY) &&
                         (feedback->injected == UINT32_MAX || feedback->injected == excitation->number);
    if (injects) {
        feedback->injected = excitation->number;
        feedback->injection = feedback_injection_at(&feedback->loop);
    } else if (feedback->injected != UINT32_MAX) {
        double const reference = feedback->loop.setpoint[feedback->injected];
        if (feedback->injection == reference)
            feedback->injected = UINT32_MAX;
        feedback->injection = reference;
    }
}

void feedback_excitation_prepare(struct feedback *feedback, struct rm_application_setup const *setup,
                                 struct rm_step const *given) {
    struct feedback_excite_request const request = {
        .kind = (uint32_t)lrint(feedback_setting_of(setup, given, FEEDBACK_EXCITE)),
        .amplitude = feedback_setting_of(setup, given, FEEDBACK_EXCITE_AMPLITUDE),
        .low_hz = feedback_setting_of(setup, given, FEEDBACK_EXCITE_LOW),
        .high_hz = feedback_setting_of(setup, given, FEEDBACK_EXCITE_HIGH),
    };
    bool const was_quiet = feedback->excite.request.kind == FEEDBACK_QUIET;
    feedback_excite_ask(&feedback->excite, &request);
    feedback->loop.excitation.next = 0.0;
    if (request.kind == FEEDBACK_QUIET && was_quiet)
        feedback->loop.excitation.part = -1;
    else {
        excitation_aim(feedback, feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_EXCITE_AT)),
                       feedback_setting_of(setup, given, FEEDBACK_EXCITE_NUMBER));
        feedback->loop.excitation.next =
            feedback->loop.excitation.part >= 0 ? feedback_excite_next(&feedback->excite) : 0.0;
    }
    feedback->loop.excitation.value =
        feedback->loop.excitation.next; // what the next step is given, it also learns from
    excitation_inject_step(feedback);
}
