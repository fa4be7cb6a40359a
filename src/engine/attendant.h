// SPDX-License-Identifier: Apache-2.0
/** The attendant: everything around setpoints and parameters that takes system calls. A thread of its own, on no core
 * of the engine, that sleeps on the doorbell of request.h:
 *
 *   - applications that come, go or die: it maps their segments, checks them, grants an epoch, and tells the transmit
 *     role by its mailbox; it unmaps what the role has let go;
 *   - requests: parameters of the server that may be set; a supply's setpoint, by the operator, through the guard;
 *   - SUPPLY/setpoint and SUPPLY/readback, for people and slow programs, ten times a second.
 *
 * It runs where there are chains, applications or writable parameters; it is on no datagram's way.
 */
#ifndef RM_ENGINE_ATTENDANT_H
#define RM_ENGINE_ATTENDANT_H

#include <ringmaster/error.h>

struct rm_attendant;
struct rm_server;

enum rm_code rm_attendant_start(struct rm_server *server, struct rm_attendant **attendant, struct rm_error *error);

/** Joins its thread; before the roles are freed. NULL is allowed. */
void rm_attendant_stop(struct rm_attendant *attendant);

#endif
