// SPDX-License-Identifier: Apache-2.0
/** Prints the receiver's results, as members of its JSON object. */
#ifndef RM_BENCH_WIRE_RECEIVER_PRINT_H
#define RM_BENCH_WIRE_RECEIVER_PRINT_H

#include "receiver_core.h"
#include "receiver_link.h"

/** Prints {"core": …, "loops": …, …}. */
void rm_receiver_print_core(struct rm_receiver_core const *core);

/** Prints {"link": …, "core": …, …, "instruments": […]}. */
void rm_receiver_print_link(struct rm_receiver_link const *received, double tsc_hz);

/** Seconds from the first to the last datagram that counted. */
double rm_receiver_link_seconds(struct rm_receiver_link const *received, double tsc_hz);

#endif
