// SPDX-License-Identifier: Apache-2.0
/** The control thread: everything around setpoints and parameters that takes system calls. A thread of its own, on no
 * core of the engine where there is another, that sleeps on the doorbell of request.h:
 *
 *   - applications that come, go or die: it maps their segments, checks them, grants a number, and tells the transmit
 *     role by its mailbox; it unmaps what the role has let go;
 *   - requests: parameters of the server that may be set; a supply's setpoint, by the operator, through the guard;
 *   - `ringmaster-standby`, where this is one of two servers: its segment is mapped and checked as an application's;
 *   - the highest term, which it writes to a file when it has grown;
 *   - SUPPLY/setpoint and SUPPLY/readback, for people and slow programs, ten times a second.
 *
 * It runs where there are chains, applications or writable parameters; it is on no datagram's way.
 *
 * The control thread must withstand all that an application's user may do to its segment. A segment counts only if its
 * file is that user's, if it lies whole and sound in its place, and if its setpoints are where and as many as the
 * configuration says. A process that cuts the file afterwards harms itself: <ringmaster/truncation.h>.
 */
#ifndef RM_ENGINE_CONTROL_THREAD_H
#define RM_ENGINE_CONTROL_THREAD_H

#include <time.h>

#include <ringmaster/error.h>
#include <ringmaster/owner.h>
#include <ringmaster/parameter.h>
#include <ringmaster/setpoint.h>

#include "config/config.h"
#include "engine/transmit.h"

struct rm_control_thread;

/** All that it points to must outlive the control thread. */
struct rm_control_thread_setup {
    struct rm_config const *config;
    /** Generation of the server; numbers that it grants begin above. */
    uint64_t generation;
    /** The server's segment, which has a replies object. */
    struct rm_owner *owner;
    /** [application] the transmit role's mailboxes; NULL without chains. */
    struct rm_command_mailbox *mailbox;
    /** The transmit role's operator command; NULL without chains. */
    struct rm_operator_put *put;
    /** CPU clock of the thread that runs the transmit role: pthread_getcpuclockid. */
    clockid_t transmit_time;
    /** "setpoints/sent". */
    struct rm_setpoints const *sent;

    struct rm_transmit_chain const *chain;
    /** The transmit role's mailbox of what is here of the other server, and "standby/state"; NULL: it is alone. */
    struct rm_peer_mailbox *peer;
    struct rm_standby_state const *standby_state;
    /** The transmit role's highest term, which is kept in the file of the configuration; NULL without chains. */
    _Atomic uint32_t const *highest_term;
    /** Highest term that the file had. */
    uint32_t saved_term;
    /** Counters of the set "standby"; NULL where there are none. */
    rm_counter *standby_counters;
    /** [supply] "SUPPLY/setpoint". */
    struct rm_parameter *const *setpoint;
    /** [supply] "SUPPLY/readback". */
    struct rm_parameter *const *readback;
};

/** Marks parameters that have no time yet as unknown, before readers see the segment: the zero of fresh memory must
 * not be taken for a current. What has a time was known to the server before this one. */
void rm_control_thread_show_nothing(struct rm_parameter *const *parameter, uint32_t count);

/** Makes the folders of the applications and of requesters in the workspace, then starts. `setup` is copied. */
enum rm_code rm_control_thread_start(struct rm_control_thread_setup const *setup,
                                     struct rm_control_thread **control_thread, struct rm_error *error);

/** The transmit role has moved to a thread with this CPU clock. Any thread may call it. */
void rm_control_thread_follow(struct rm_control_thread *control_thread, clockid_t transmit_time);

/** Joins its thread, and unmaps all. Call it after the roles have stopped, and before they are freed. NULL is allowed.
 */
void rm_control_thread_stop(struct rm_control_thread *control_thread);

#endif
