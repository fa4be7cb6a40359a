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
 * `application`). Its duty takes no lock, allocates nothing and calls no system. A thread beside it does what needs
 * system calls (attaching to the server, requests for settings): host_control_thread.h. The two threads communicate by
 * mailboxes.
 *
 * ## One cycle
 *  1. the turn that is due: of the inputs (host_inputs.h), or of the clock where there are none. Where the code has
 *     `arrive`, each record is handed to it when it comes;
 *  2. what was sent last, from the server's `setpoints/sent`: before the inputs, where the code has `arrive`;
 *  3. `step`, which writes its command right into the vector;
 *  4. the setpoint vector is committed, with the granted grant number and the turn;
 *  5. `prepare`; then streams, the decision record (host_decision.h), readings and counters.
 *
 * ## On two servers
 * While the server's role is not ACTIVE (ringmaster/standby.h) the host does not decide: it follows the decision records
 * of the other server's host (host_standby.h). A take-over is no new grant: it goes on from the last step.
 *
 * ## When it begins
 * When the server has granted a number to this instance, knows where its supplies stand (it does not wait for those
 * that are lost), and the clock runs. Then the state is zeroed, `init` is called, and the first command is what was
 * sent last: nothing moves by beginning. Another grant number (the server was restarted) is another beginning.
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

/** A first value for a setting that replaces the code's. */
struct rm_host_setting {
    char const *name;
    double value;
};

/** What the configuration says of one application. All of it is copied. */
struct rm_host_setup {
    /** Name or path of the workspace, as in rm_workspace_attach. */
    char const *workspace;
    /** Name of the application, and of its segment's owner. */
    char const *name;
    /** Its shared object: host_code.h. */
    char const *code;
    /** Nominal turn rate. */
    double turn_rate_hz;
    /** Turns from one step to the next. */
    uint64_t period_turns;
    /** Turns for which inputs are waited for after the clock expects them. */
    uint64_t deadline_turns;

    uint32_t input_count;
    /** Names of streams, "bpm01/fast", all of this period. */
    char const *const *input;

    uint32_t actuator_count;
    struct rm_host_actuator const *actuator;
    uint32_t setting_count;
    struct rm_host_setting const *setting;
    /** Where the index of a setting that the code does not take is written; or NULL. Used while the code is opened. */
    uint32_t *wrong_setting;
    /** Path of the application's own file, or NULL. */
    char const *configuration;
    /** Of two servers (ringmaster/standby.h): the name of the own one, and of the other. NULL: there is one. */
    char const *server, *peer;
    /** Settings begin with the configuration's values, also where the last instance was killed. */
    bool fresh;
    /** Called with a line for people, on the thread beside; NULL: not called. */
    void (*say)(void *context, char const *text);

    void *context;
};

struct rm_host;

/** Loads the code and opens the application's segment, in the workspace that the server has made. It does not wait:
 * the server may be away. RM_E_CONFIG when code and configuration do not fit, RM_E_BUSY when another process is this
 * application. */
enum rm_code rm_host_open(struct rm_host_setup const *setup, struct rm_host **host, struct rm_error *error);

/** Makes a step, if one is due. Returns the steps made. One thread calls it. */
uint32_t rm_host_duty(void *host, uint64_t tsc);

/** Time for which nothing will be due, as seen at `tsc`, so that the caller may sleep instead of spinning. */
uint64_t rm_host_idle_ns(struct rm_host const *host, uint64_t tsc);

/** Why it makes no more steps (`init` refused), or NULL. */
struct rm_error const *rm_host_failure(struct rm_host const *host);

/** Closes the segment in good order: the server sees an application that has stopped. No thread may be in the duty.
 * NULL is allowed. */
void rm_host_close(struct rm_host *host);

#endif
