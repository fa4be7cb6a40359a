// SPDX-License-Identifier: Apache-2.0
/** Applications: what a user writes.
 *
 * An application is a shared object that exports one constant of this name and type:
 *
 *     struct rm_application_code const ringmaster_application = {
 *         .abi_version = RM_ABI_VERSION, .state_bytes = sizeof(struct ramp),
 *         .settings = settings, .setting_count = RAMP_SETTINGS,
 *         .init = init, .step = step,
 *     };
 *
 * The host (`ringmaster-application`, a process of its own; or the server itself, on one of its cores) calls `init`
 * when the server has granted the application its supplies, then `step` once per cycle, always from one thread. A cycle
 * is one index of the inputs: the host waits until all inputs of a turn are there or its deadline has passed, and
 * calls. Where there are no inputs, the turn clock is what it waits for. Turns that passed during a step that took too
 * long are left out. The server's guard judges what the step wants (grant.h).
 *
 * A server that was restarted grants anew: then the state is zeroed, `init` is called again, and the first step is
 * given what was sent last, as the first of all. Settings stay.
 *
 * `step` is a function of its inputs, its settings and its state, and of nothing else: no clock, no file, no random
 * number without a seed. So a recording gives the same setpoints, bit by bit. It allocates nothing and calls no system.
 */
#ifndef RINGMASTER_APPLICATION_H
#define RINGMASTER_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/error.h>
#include <ringmaster/parameter.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

/** A number that people may change while it runs: the parameter APPLICATION/NAME, of unit, limits and first value; the
 * configuration's `settings` gives it another first value. */
struct rm_setting {
    char const *name;
    char const *unit;
    char const *description;
    double value;
    /** Control limits: what it may be set to. A pair of two zeros is no limit, as NaN is: so those that are not written
     * down are none. */
    struct rm_limits limits;
};

/** A number that the application tells: the parameter APPLICATION/NAME, written after each step that changes it. */
struct rm_reading {
    char const *name;
    char const *unit;
    char const *description;
};

/** What an application is given at init. It stays so until the next init. */
struct rm_application_setup {
    char const *name;
    double turn_rate_hz;   /**< nominal */
    uint64_t period_turns; /**< from one step to the next */
    uint32_t input_count;
    struct rm_stream const *const *input; /**< the streams, as configured: rate, lanes, group delay; NULL before init */
    char const *const *input_name;        /**< "bpm01/fast" */
    uint32_t actuator_count;
    char const *const *actuator_name; /**< "sr/ps/ch_s01_01" */
    double const *actuator_low, *actuator_high;
    double const *actuator_slew_per_step;
    double const *setting; /**< as the settings' list; at init their first values */
};

/** What a step is given. */
struct rm_step {
    rm_turn turn;                   /**< of the inputs; of the cycle where there are none */
    uint64_t steps;                 /**< called before, in this instance */
    struct rm_record const *record; /**< one per input. Of a missing one: its last, with its old turn */
    uint32_t missing;               /**< inputs that are */
    bool const *is_missing;         /**< which */
    double const *setting;          /**< now; they change between steps, those set at once in one step */
    double const *sent; /**< per actuator: what the guard sent last; at the first step where they stand. NaN while
                           nobody knows, because its chain does not answer */
};

/** What it gives. */
struct rm_wish {
    double *setpoint; /**< per actuator, in its unit; comes with the last wish, at the first step with `sent`, and with
                           `sent` where the last wish was no number */
    double *reading;  /**< as the readings' list; comes with what was told last */
};

enum rm_step_result {
    RM_STEP_SEND = 0,  /**< commit the setpoints */
    RM_STEP_QUIET = 1, /**< commit nothing: after some cycles the guard takes that as having stopped */
};

struct rm_application_code {
    uint32_t abi_version; /**< RM_ABI_VERSION */
    uint32_t reserved;
    size_t state_bytes; /**< zeroed before init */
    struct rm_setting const *settings;
    uint32_t setting_count;
    uint32_t reading_count;
    struct rm_reading const *readings;
    /** RM_OK, or an error that says what of the configuration does not fit. May be NULL. */
    enum rm_code (*init)(struct rm_application_setup const *setup, void *state, struct rm_error *error);
    enum rm_step_result (*step)(struct rm_application_setup const *setup, void *state, struct rm_step const *step,
                                struct rm_wish *wish);
    /** Judges settings that somebody asks for, beyond their limits: true, or false with a reason in `error`, which may
     * be NULL. `setting` are all of them, with the new ones in. It is asked before the first init too, about the first
     * settings; the state is zero then. May be NULL. */
    bool (*accept)(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error);
};

/** The name of the constant in the shared object. */
#define RM_APPLICATION_SYMBOL "ringmaster_application"

#endif
