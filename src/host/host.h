// SPDX-License-Identifier: Apache-2.0
/** The host of one application (ringmaster/application.h): gives it its inputs, takes its setpoints.
 *
 *     struct rm_host *host;
 *     if (rm_host_open(&setup, &host, &error) != RM_OK) …
 *     while (!ending)
 *         rm_host_duty(host, rm_tsc());       // a step, where one is due
 *     rm_host_close(host);
 *
 * It is the same host in a process of its own (src/engine/application_main.c) and on a core of the server (a role
 * `application`). Its duty takes no lock, allocates nothing and calls no system: what does so (attaching to the server,
 * requests for settings) is done by a thread beside it, host_control_thread.h, which the two tell each other by
 * mailboxes.
 *
 * ## One cycle
 *  1. the turn that is due: of the inputs (host_inputs.h), or of the clock where there are none. Where the code has
 *     `arrive`, each record is handed to it when it comes;
 *  2. what was sent last, from the server's `setpoints/sent`: before the inputs, where the code has `arrive`;
 *  3. `step`, which writes its command right into the vector;
 *  4. the setpoint vector is committed, with the granted grant number and the turn;
 *  5. `prepare`; then streams, readings and counters.
 *
 * ## When it begins
 * When the server has granted a number to this instance, knows where its supplies stand (those that are lost it does
 * not wait for), and the clock runs. Then
 * the state is zeroed, `init` is called, and the first command is what was sent last: nothing moves by beginning.
 * Another grant number (the server was restarted) is another beginning.
 */
#ifndef RM_HOST_HOST_H
#define RM_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

/** A supply that the application drives. */
struct rm_host_actuator {
    char const *name;
    char const *unit;
    double low, high;
    double slew_per_s;
};

/** Another first value for a setting. */
struct rm_host_setting {
    char const *name;
    double value;
};

/** What the configuration says of one application. All of it is copied. */
struct rm_host_setup {
    /** As in rm_workspace_attach. */
    char const *workspace;
    /** Of the application, and of its segment's owner. */
    char const *name;
    /** Its shared object: host_code.h. */
    char const *code;
    /** Nominal. */
    double turn_rate_hz;
    /** From one step to the next. */
    uint64_t period_turns;
    /** Inputs are waited for so long after the clock expects them. */
    uint64_t deadline_turns;

    uint32_t input_count;
    /** Streams, "bpm01/fast"; of this period. */
    char const *const *input;

    uint32_t actuator_count;
    struct rm_host_actuator const *actuator;
    uint32_t setting_count;
    struct rm_host_setting const *setting;
    /** Path of the application's own file, or NULL. */
    char const *configuration;
    /** Settings begin with these values, also where the last instance was killed. */
    bool fresh;
    /** A line for people, from the thread beside; or NULL. */
    void (*say)(void *context, char const *text);

    void *context;
};

struct rm_host;

/** Loads the code and opens the application's segment, in the workspace that the server has made. Waits for nobody: the
 * server may be away. RM_E_CONFIG when code and configuration do not fit, RM_E_BUSY when another process is this
 * application. */
enum rm_code rm_host_open(struct rm_host_setup const *setup, struct rm_host **host, struct rm_error *error);

/** One turn: a step, if one is due. Returns the steps made. For one thread. */
uint32_t rm_host_duty(void *host, uint64_t tsc);

/** How long nothing will be due, as seen at `tsc`: for who would rather sleep than spin. */
uint64_t rm_host_idle_ns(struct rm_host const *host, uint64_t tsc);

/** Why it steps no more (`init` refused), or NULL. */
struct rm_error const *rm_host_failure(struct rm_host const *host);

/** Closes the segment in good order: the server sees an application that has stopped. Nobody is in the duty. NULL is
 * allowed. */
void rm_host_close(struct rm_host *host);

#endif
