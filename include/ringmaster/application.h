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
 * given what was sent last, as the first of all. Settings stay; permissions do not. `ringmaster check` calls `open` and
 * `init` too, without a server and without a step: so they look and prepare, and start nothing.
 *
 * `step` is a function of its inputs, its settings and its state, and of nothing else: no clock, no file, no random
 * number without a seed. So a recording gives the same setpoints, bit by bit. It allocates nothing and calls no system.
 *
 * ## For those in a hurry
 * Most applications are `init` and `step`. One that has little time between its last input and its setpoints shares its
 * work out:
 *
 *     arrive    each record as it comes, in whatever order: add it up. What it makes must not depend on the order
 *     step      after the last one, or at the deadline: only what could not be done before
 *     (the row is committed)
 *     prepare   everything that can be computed before the next cycle; also what people want to see
 *     work      beside all that, on another thread, some hundred times a second: what takes long, or calls the system
 *
 * `arrive`, `step` and `prepare` run on one thread, in this order. `work` runs while they do: it may only touch
 * `memory`, and tells the others what it has made by atomics in there.
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
    /** Control limits: what it may be set to, each element of an array. A pair of two zeros is no limit, as NaN is: so
     * those that are not written down are none. */
    struct rm_limits limits;
    /** Of as many elements as `length` says; `first` gives their first values. No configuration does. */
    bool is_array;
    /** It allows the application to act ("enable"): 0 is off, which the code accepts beside all other settings. Only a
     * request switches it on, and only for one grant: it is 0 when a process of the application begins, and becomes 0
     * when the server that granted has ended or grants anew (enum rm_withdrawal). No file gives or keeps it. */
    bool is_permission;
};

/** Why the host set a permission to 0 that was on: the parameter APPLICATION/withdrawn, which is 0 again as soon as
 * somebody gives a permission. Only of an application that has permissions. */
enum rm_withdrawal {
    RM_WITHDRAWN_NOT = 0,
    /** The last process of the application ended without closing its segment. */
    RM_WITHDRAWN_DIED = 1,
    /** The server ended, in whatever way, or granted anew. */
    RM_WITHDRAWN_SERVER = 2,
};

/** A number that the application tells: the parameter APPLICATION/NAME, written after each step that changes it. */
struct rm_reading {
    char const *name;
    char const *unit;
    char const *description;
    /** Of as many elements as `length` says. */
    bool is_array;
};

/** A stream that the application writes: NAME/STREAM in its own segment, one record per step under the step's turn, of
 * its period. Its lanes are f32. */
struct rm_application_stream {
    char const *name;
    char const *description;
    struct {
        /** NULL: the lanes before this one are all. */
        char const *name;

        char const *unit;
    } lane[RM_LANES];
};

/** What an application is given at init. It stays so until the next init. */
struct rm_application_setup {
    char const *name;
    /** Nominal. */
    double turn_rate_hz;
    /** From one step to the next. */
    uint64_t period_turns;

    uint32_t input_count;
    /** The streams, as configured: rate, lanes, group delay; NULL before init. */
    struct rm_stream const *const *input;
    /** "bpm01/fast" */
    char const *const *input_name;

    uint32_t actuator_count;
    /** "sr/ps/ch_s01_01" */
    char const *const *actuator_name;

    double const *actuator_low, *actuator_high;
    double const *actuator_slew_per_step;
    /** One after the other as in the settings' list, arrays whole; at init their first values. */
    double const *setting;
    /** Of each in its list, where it begins in `setting`, `reading`. */
    uint32_t const *setting_at, *reading_at;
    /** 1, or as many as an array has. */
    uint32_t const *setting_length, *reading_length;
    /** Path of the application's own file, or NULL: the configuration's `configuration`. */
    char const *configuration;
    /** As `open` left it. */
    void *memory;
};

/** What a step is given. */
struct rm_step {
    /** Of the inputs; of the cycle where there are none. */
    rm_turn turn;
    /** Called before, in this instance. */
    uint64_t steps;
    /** One per input. Of a missing one: its last, with its old turn. */
    struct rm_record const *record;
    /** Inputs that are. */
    uint32_t missing;
    /** Which. */
    bool const *is_missing;
    /** Now; they change between steps, those set at once in one step. */
    double const *setting;
    /** Per actuator: what the guard sent last; at the first step where they stand. NaN while nobody knows, because its
     * chain does not answer. */
    double const *sent;
};

/** What it gives. */
struct rm_wish {
    /** Per actuator, in its unit; comes with the last wish, at the first step with `sent`, and with `sent` where the
     * last wish was no number. */
    double *setpoint;
    /** One after the other as in the readings' list, arrays whole; comes with what was told last. */
    double *reading;
    /** Of each stream, one record; comes with what was told last. */
    float (*stream)[RM_LANES];
};

enum rm_step_result {
    /** Commit the setpoints. */
    RM_STEP_SEND = 0,
    /** Commit nothing: after some cycles the guard takes that as having stopped. */
    RM_STEP_QUIET = 1,
};

struct rm_application_code {
    /** RM_ABI_VERSION */
    uint32_t abi_version;

    uint32_t reserved;
    /** Zeroed before init. */
    size_t state_bytes;

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

    /* All of these may be NULL. */

    struct rm_application_stream const *streams;
    uint32_t stream_count;
    /** Once in the life of the host, before all else, and before the server is there: reads what is the application's
     * own configuration, and allocates. Names and counts of the setup are there, streams and settings not. */
    enum rm_code (*open)(struct rm_application_setup const *setup, void **memory, struct rm_error *error);
    void (*close)(void *memory);
    /** After `open`: elements of an array among the settings, or among the readings; at least 1. */
    uint32_t (*length)(struct rm_application_setup const *setup, bool is_reading, uint32_t index);
    /** First values of a setting that is an array. Without it all are the setting's `value`. */
    void (*first)(struct rm_application_setup const *setup, uint32_t setting, double *values);
    /** A record of an input has come, of the turn whose step is next. Never twice for one input and turn. Inputs that
     * do not come are not told of here, but by the step's `is_missing`. */
    void (*arrive)(struct rm_application_setup const *setup, void *state, uint32_t input,
                   struct rm_record const *record);
    /** After the step's row was committed, with the same `step`. The wish's setpoints are gone already; readings and
     * streams are shown afterwards. */
    void (*prepare)(struct rm_application_setup const *setup, void *state, struct rm_step const *step,
                    struct rm_wish *wish);
    /** On the thread beside. Touches nothing but `setup->memory`. Between `open` and `close`, also while there is no
     * state. */
    void (*work)(struct rm_application_setup const *setup);
};

/** The name of the constant in the shared object. */
#define RM_APPLICATION_SYMBOL "ringmaster_application"

#endif
