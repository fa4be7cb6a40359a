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
 * long are left out. The server's guard judges what the step wants (grant.h). Inputs come once per step, or in runs:
 * each turn of a BPM, for a step every 576 turns (`takes_runs`); then a step that was left out loses no turn.
 *
 * A server that was restarted grants anew: then the state is zeroed, `init` is called again, and the first step is
 * given what was sent last, as the first of all. Settings stay; permissions do not. `ringmaster check` calls `open` and
 * `init` too, without a server and without a step: so they look and prepare, and start nothing.
 *
 * `step` is a function of its inputs, its settings and its state, and of nothing else: no clock, no file, no random
 * number without a seed. So a recording gives the same setpoints, bit by bit. It allocates nothing and calls no system.
 *
 * ## Latency-critical applications
 * Most applications are `init` and `step`. One that has little time between its last input and its setpoints shares its
 * work out:
 *
 *     arrive    each record as it comes, in whatever order: add it up. What it makes must not depend on the order
 *     step      after the last one, or at the deadline: only what could not be done before
 *     (the setpoint vector is committed)
 *     prepare   everything that can be computed before the next cycle; also what people want to see
 *     work      beside all that, on another thread, some hundred times a second: what takes long, or calls the system
 *
 * `arrive`, `step` and `prepare` run on one thread, in this order. `work` runs while they do: it may only touch
 * `memory`, and tells the others what it has made by atomics in there.
 *
 * ## Replay
 * What decides beside the inputs is on record too: each step leaves a decision record (decision.h), and a replay obeys
 * it. When a result of `work` is ready depends on the computer. So an application whose `work` makes results counts
 * what it hands over, in struct rm_exchange, and goes no further than it is allowed to.
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
    /** Control limits: the range that a request must keep, for each element of an array. A pair of two zeros is no
     * limit, as NaN is: limits that are not written down do not exist. */
    struct rm_limits limits;
    /** The setting has as many elements as `length` returns. `first` gives their first values; the configuration
     * cannot. */
    bool is_array;
    /** It allows the application to act ("enable"): 0 is off, which the code accepts beside all other settings. Only a
     * request switches it on, and only for one grant: it is 0 when a process of the application begins, and becomes 0
     * when the server that granted has ended or grants anew (enum rm_withdrawal). No file gives or keeps it. */
    bool is_permission;
};

/** Why the host set a permission to 0 that was on: the parameter APPLICATION/withdrawn, which is 0 again as soon as
 * a person gives a permission. Only of an application that has permissions. */
enum rm_withdrawal {
    /** The permissions stand as they were given. */
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
    /** The reading has as many elements as `length` returns. */
    bool is_array;
    /** It tells of the computer, such as the time that a computation took, and not of the inputs. A replay does not
     * compare it. */
    bool is_of_computer;
    /** Alarm limits, by which the parameter has its severity, and display limits. Control limits bind requests, and a
     * reading takes none. A pair of two zeros is no limit, as NaN is. */
    struct rm_limits limits;
};

/** A stream that the application writes: NAME/STREAM in its own segment, one record per step under the step's turn, of
 * its period. Its lanes are f32. Where a record is of turns before that, `delay` of the code says so. */
struct rm_application_stream {
    char const *name;
    char const *description;
    struct {
        /** Name of the lane. NULL ends the list: the lanes before this one are all. */
        char const *name;

        char const *unit;
    } lane[RM_LANES];
};

/** Rows that the application writes, such as spectra: NAME/ROWS, a row ring in its own segment (rows.h). */
struct rm_application_rows {
    char const *name;
    char const *description;
};

/** What `shape` says of rows. */
struct rm_rows_shape {
    /** Values of a row. 0: this configuration has no such rows. */
    uint32_t width;
    /** Newest rows that readers can rely on, 1 at least. */
    uint32_t depth;
    /** Steps from one row to the next, 1 at least. Rows have the turns that are multiples of as many periods. */
    uint32_t period_steps;
    /** Of the values. Texts are NULL, or stay where they are until `close`. */
    char const *unit;
    /** What the values are at, as struct rm_rows has it. */
    double axis_first, axis_step;
    char const *axis_name, *axis_unit;
    /** Turns from what a row is of, such as the middle of a window, to the step that gives it. */
    double delay_turns;
};

/** A row that a step gives. */
struct rm_row {
    /** Its values, as many as it is wide. NULL in a step that gives no such row. They come with those told last, and
     * after init with NaN. */
    float *value;
    /** 0 where it is to be trusted, else bits of the application's own. */
    uint32_t quality;
};

/** What an application is given at init. It stays so until the next init. */
struct rm_application_setup {
    /** Name of the application in the configuration. */
    char const *name;
    /** Nominal rate of the turns, from the configuration. */
    double turn_rate_hz;
    /** Turns from one step to the next. */
    uint64_t period_turns;

    uint32_t input_count;
    /** The heads of the input streams: rate, lanes, group delay. NULL before init. */
    struct rm_stream const *const *input;
    /** Names of the input streams: "bpm01/fast". */
    char const *const *input_name;

    uint32_t actuator_count;
    /** Names of the supplies, in the order of the setpoints: "sr/ps/ch_s01_01". */
    char const *const *actuator_name;
    /** Range of each actuator, in the actuator's unit. */
    double const *actuator_low, *actuator_high;
    /** Largest change of each actuator from one step to the next, in the actuator's unit. */
    double const *actuator_slew_per_step;
    /** Values of the settings, one after the other in the order of `settings`, arrays whole. At init they are the first
     * values. */
    double const *setting;
    /** Index in `setting`, or in `reading`, of the first element of each setting and of each reading. */
    uint32_t const *setting_at, *reading_at;
    /** Elements of each setting and of each reading: 1, or the length of the array. */
    uint32_t const *setting_length, *reading_length;
    /** Path of the application's own file: `configuration` of the server's configuration. NULL without one. */
    char const *configuration;
    /** The memory that `open` returned. NULL without `open`. */
    void *memory;
    /** Name or path of the workspace, as in rm_workspace_attach: for `work`, which may ask others for what they own
     * (request.h). NULL where there is none: in simulated time. */
    char const *workspace;
};

/** How far an application's steps and its `work` have come with each other: two numbers of the application's own, which
 * begin with 0 at `open` and only grow. */
struct rm_exchange {
    /** Questions, or whatever is left for `work` to take. */
    uint64_t asked;
    /** Results of `work` that the steps have taken over, those that failed included. */
    uint64_t adopted;
};

enum {
    /** Most steps whose records one step is given. Records before that are lost, and counted ("lost"); so are those
     * that the input's ring has overwritten. */
    RM_RUN_STEPS_MAX = 64,
};

/** The records of one input that a step is given: one for each period of its stream, oldest first. Those that are not
 * there have turn RM_TURN_NONE; record i of n is of turn `turn` - (n - 1 - i) periods. */
struct rm_run {
    struct rm_record const *record;
    uint64_t count;
};

/** What a step is given. All of it is valid during the call only, and the step does not change it. */
struct rm_step {
    /** Turn of the inputs. Without inputs, the turn of the cycle. */
    rm_turn turn;
    /** Steps of this instance before this one. */
    uint64_t steps;
    /** One record per input. Of an input that is missing it is the last one that came, with its old turn. */
    struct rm_record const *record;
    /** Number of inputs that are missing. */
    uint32_t missing;
    /** Whether each input is missing. */
    bool const *is_missing;
    /** Present values of the settings, as in rm_application_setup. They change between two steps only; settings that
     * are set in one group change in the same step. */
    double const *setting;
    /** What the guard sent last, per actuator, in its unit. At the first step it is where the supplies stand. NaN where
     * that is not known, because the chain does not answer. These are values of f32, as datagrams carry them. */
    double const *sent;
    /** The exchange may have come so far at the end of this step's `prepare`, and no further. As long as it runs on a
     * machine there is no limit (UINT64_MAX). In a replay it is what was on record, and the step comes just so far:
     * `work` has run by then. */
    struct rm_exchange allowed;
    /** Of a code with `takes_runs`, per input: its records since the last step that was made. */
    struct rm_run const *run;
    /** Turns that each run spans, and `turn` is the last of them: period_turns; that for each step which was skipped
     * too, up to RM_RUN_STEPS_MAX of them in all. */
    uint64_t run_turns;
};

/** What a step gives. Each array comes filled with the values named below, so a step writes only what changes. */
struct rm_command {
    /** Setpoint per actuator, in its unit. It comes with the step's last command; at the first step, and where the last
     * command was no number, with `sent`. */
    double *setpoint;
    /** Values of the readings, one after the other in the order of `readings`, arrays whole. They come with what was
     * told last, and after init with zeros. */
    double *reading;
    /** One record of each stream. It comes with what was told last, and after init with zeros. */
    float (*stream)[RM_LANES];
    /** One row of each of `rows`. */
    struct rm_row *row;
    /** How far the exchange has come. It comes with what was told last; an application without results of `work`
     * leaves it alone. `step` and `prepare` may write it. */
    struct rm_exchange exchange;
};

enum rm_step_result {
    /** The host commits the setpoints. */
    RM_STEP_SEND = 0,
    /** The host commits nothing. After `watchdog_cycles` such cycles the guard takes the application as stopped. */
    RM_STEP_QUIET = 1,
};

/** The application: the one constant that the shared object exports. */
struct rm_application_code {
    /** RM_ABI_VERSION of the headers that the application was built with. The host refuses another one. */
    uint32_t abi_version;
    /** 1: inputs may have several records in a step, and each step is given all since the one before, also where steps
     * between the two were skipped (`run` of struct rm_step). Then there is no `arrive`. 0: inputs have the application's own period. */
    uint32_t takes_runs;
    /** Bytes of the state. The host allocates it, and zeroes it before each init. Another server goes on from a copy of
     * these bytes: so they are numbers, or `unpack` sets its pointers right. */
    size_t state_bytes;

    struct rm_setting const *settings;
    uint32_t setting_count;
    uint32_t reading_count;
    struct rm_reading const *readings;
    /** Prepares the state. Returns RM_OK, or an error that says what of the configuration does not fit. May be NULL. */
    enum rm_code (*init)(struct rm_application_setup const *setup, void *state, struct rm_error *error);
    /** Computes one cycle. The hot path: it takes no lock, allocates nothing, and calls no system. */
    enum rm_step_result (*step)(struct rm_application_setup const *setup, void *state, struct rm_step const *step,

                                struct rm_command *command);
    /** Judges settings that a request asks for, beyond their limits. Returns true, or false with a reason in `error`,
     * which may be NULL. `setting` has all settings, the new ones included. It is called before the first init too,
     * with the first settings and a state of zeros. May be NULL. */
    bool (*accept)(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error);

    /* All members below may be NULL. */

    struct rm_application_stream const *streams;
    uint32_t stream_count;
    uint32_t row_count;
    struct rm_application_rows const *rows;
    /** Says what rows there are. `*shape` is zero before. Called after `open`. */
    void (*shape)(struct rm_application_setup const *setup, uint32_t rows, struct rm_rows_shape *shape);
    /** Reads the application's own configuration, and allocates. Called once in the life of the host, before all other
     * calls, while the server may still be absent. The setup has names and counts, but neither streams nor settings. */
    enum rm_code (*open)(struct rm_application_setup const *setup, void **memory, struct rm_error *error);
    /** Frees what `open` allocated. Called once, last. */
    void (*close)(void *memory);
    /** Returns the number of elements, at least 1, of an array among the settings or among the readings. Called after
     * `open`. */
    uint32_t (*length)(struct rm_application_setup const *setup, bool is_reading, uint32_t index);
    /** Writes the first values of a setting that is an array. Without it every element is the setting's `value`. */
    void (*first)(struct rm_application_setup const *setup, uint32_t setting, double *values);
    /** Turns from what a record of a stream is of, such as the middle of a window, to its turn, which is the step's: 0 or
     * more. It becomes the stream's group delay. Called after `open`. Without it records are of their turn. */
    double (*delay)(struct rm_application_setup const *setup, uint32_t stream);
    /** Takes the record of an input when it comes. Its turn is that of the next step. The host calls it at most once
     * for one input and turn; inputs that do not come are in the step's `is_missing`. */
    void (*arrive)(struct rm_application_setup const *setup, void *state, uint32_t input,
                   struct rm_record const *record);
    /** Computes ahead for the next cycle, after the step's setpoint vector was committed. It is given the same `step`.
     * The command's setpoints are gone by then; readings, streams and rows are shown afterwards. */
    void (*prepare)(struct rm_application_setup const *setup, void *state, struct rm_step const *step,
                    struct rm_command *command);
    /** Runs on the thread beside, between `open` and `close`, also while there is no state. It touches nothing but
     * `setup->memory`. */
    void (*work)(struct rm_application_setup const *setup);
    /** Writes what steps see of `memory` and change there, between two steps, so that another server can go on from
     * there (docs/applications.md#7-on-two-servers). Returns the bytes, at most `capacity`. With `bytes` NULL it writes
     * nothing, and returns the most that it will ever need. `work` may be running. An application with `open` and
     * without it cannot be followed. One whose memory stays as `open` made it has nothing to write, and returns 0. */
    size_t (*pack)(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity);
    /** Takes over what `pack` wrote on another server, after `init`, and after the state's bytes were copied: a pointer
     * in there is set right. No step and no `work` runs meanwhile. Returns RM_OK, or an error that says what does not fit;
     * then `init`, or another `unpack`, comes next. */
    enum rm_code (*unpack)(struct rm_application_setup const *setup, void *state, void const *bytes, size_t count,
                           struct rm_error *error);
};

/** The name of the constant in the shared object. */
#define RM_APPLICATION_SYMBOL "ringmaster_application"

#endif
