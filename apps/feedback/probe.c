// SPDX-License-Identifier: Apache-2.0
#include "probe.h"

#include <math.h>

#include "settings.h"

/** The part and channel, or output, that settings ask to excite. */
static void aim(struct feedback *feedback, bool at_output, double number) {
    struct feedback_probe *probe = &feedback->loop.probe;
    struct feedback_layout const *layout = &feedback->layout;
    uint32_t const wanted = number >= 0.0 && number < 1e6 ? (uint32_t)number : UINT32_MAX;
    uint32_t const output = at_output && wanted < layout->actuators ? layout->output_of[wanted] : UINT32_MAX;
    probe->part = -1;
    probe->at_output = at_output;
    for (uint32_t p = 0; p < layout->part_count; ++p) {
        struct feedback_part const *part = &layout->part[p];
        uint32_t const first = at_output ? part->first : part->channel;
        uint32_t const count = at_output ? part->columns : part->channels_most;
        uint32_t const it = at_output ? output : wanted;
        if (it == UINT32_MAX || it < first || it >= first + count)
            continue;
        probe->part = (int32_t)p;
        probe->number = at_output ? output : wanted - first;
    }
    if (probe->part >= 0 && !at_output &&
        (feedback->loop.answer == NULL || probe->number >= feedback->loop.answer->bank[probe->part].channels))
        probe->part = -1;
}

/** While the loop is not on, an actuator is excited about where it stands; afterwards it is put back there. */
static void poke(struct feedback *feedback) {
    struct feedback_probe const *probe = &feedback->loop.probe;
    enum feedback_state const state = feedback->states.state;
    bool const pokes = probe->part >= 0 && probe->at_output && feedback->excite.wish.kind != FEEDBACK_QUIET &&
                       (state == FEEDBACK_OFF || state == FEEDBACK_READY) &&
                       (feedback->poked == UINT32_MAX || feedback->poked == probe->number);
    if (pokes) {
        feedback->poked = probe->number;
        feedback->poke = feedback_poke_at(&feedback->loop);
    } else if (feedback->poked != UINT32_MAX) {
        double const home = feedback->loop.setpoint[feedback->poked];
        if (feedback->poke == home)
            feedback->poked = UINT32_MAX;
        feedback->poke = home;
    }
}

void feedback_probe_prepare(struct feedback *feedback, struct rm_application_setup const *setup,
                            struct rm_step const *given) {
    struct feedback_excite_wish const wish = {
        .kind = (uint32_t)lrint(feedback_setting_of(setup, given, FEEDBACK_EXCITE)),
        .amplitude = feedback_setting_of(setup, given, FEEDBACK_EXCITE_AMPLITUDE),
        .low_hz = feedback_setting_of(setup, given, FEEDBACK_EXCITE_LOW),
        .high_hz = feedback_setting_of(setup, given, FEEDBACK_EXCITE_HIGH),
    };
    bool const was_quiet = feedback->excite.wish.kind == FEEDBACK_QUIET;
    feedback_excite_ask(&feedback->excite, &wish);
    feedback->loop.probe.next = 0.0;
    if (wish.kind == FEEDBACK_QUIET && was_quiet)
        feedback->loop.probe.part = -1;
    else {
        aim(feedback, feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_EXCITE_AT)),
            feedback_setting_of(setup, given, FEEDBACK_EXCITE_NUMBER));
        feedback->loop.probe.next = feedback->loop.probe.part >= 0 ? feedback_excite_next(&feedback->excite) : 0.0;
    }
    feedback->loop.probe.value = feedback->loop.probe.next; // what the next step is given, it also learns from
    poke(feedback);
}
