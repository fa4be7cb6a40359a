// SPDX-License-Identifier: Apache-2.0
/** What a generator's port does beside its traffic: ARP and ping, captures, and traffic that is not described but read:
 * captures replayed, and instruments.
 *
 * The first part is for the polling core, the second for the commands' thread. */
#ifndef RM_TRAFFIC_GENERATOR_BESIDE_H
#define RM_TRAFFIC_GENERATOR_BESIDE_H

#include <ringmaster/record.h>

#include "capture/capture.h"
#include "traffic/generator.h"

/* ── the polling core ── */

/** A new description was taken: answers from now on for the address that it says, or for none. */
void rm_generator_answer_for(struct rm_generator_port *port, struct rm_traffic const *traffic);

/** Takes a received burst: captures it, and answers ARP requests and pings. */
void rm_generator_hear(struct rm_generator_port *port, struct rm_burst const *burst, uint64_t tsc);

/** Sends what was asked for and is due. Returns frames. */
uint32_t rm_generator_ask_due(struct rm_generator_port *port, uint64_t tsc);

/* ── the commands' thread ── */

/** What ARP and ping are to ask. The address that asks is the source of the port's first template, and the target that
 * one's destination, unless `target_ipv4` is another than 0. RM_E_ARGUMENT: the description is IPv6, or there is none.
 * Other errors are those of rm_arp_ping_ask. */
enum rm_code rm_generator_ask(struct rm_generator *generator, uint32_t port, struct rm_arp_ping_request const *request,
                              struct rm_error *error);
void rm_generator_asked(struct rm_generator const *generator, uint32_t port, struct rm_arp_ping_result *result);

/** Captures what comes and what is sent into a new file from now on; ends the capture of before, if there is one. NULL
 * ends it alone. RM_E_ARGUMENT: another port is captured into this file. `counts`, unless NULL, are those of the one that has ended. */
enum rm_code rm_generator_capture(struct rm_generator *generator, uint32_t port, char const *path,
                                  struct rm_capture_counts *counts, struct rm_error *error);
/** The file that is written, "" where there is none, and what is in it. */
char const *rm_generator_captured(struct rm_generator const *generator, uint32_t port,
                                  struct rm_capture_counts *counts);

/** When no core turns the port: closes its capture, if there is one. */
void rm_generator_end_capture(struct rm_generator_port *port);

/** Sends the frames of a capture instead of the description's, with its gaps scaled by `speed`, or at the description's
 * pace where that is 0; so often, or without end where that is 0. rm_generator_source_words tells what was read, and how
 * many frames were refused. */
enum rm_code rm_generator_replay(struct rm_generator *generator, uint32_t port, char const *path, double speed,
                                 uint64_t laps, struct rm_error *error);

/** Sends datagrams of instruments of a machine's configuration instead, to the destination of the first template:
 * instrument_source.h. */
enum rm_code rm_generator_send_instruments(struct rm_generator *generator, uint32_t port, char const *path,
                                           char const *pattern, rm_turn first_turn, struct rm_error *error);

#endif
