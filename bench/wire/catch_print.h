// SPDX-License-Identifier: Apache-2.0
/** What the receiver has to say, as members of its JSON object. */
#ifndef RM_BENCH_WIRE_CATCH_PRINT_H
#define RM_BENCH_WIRE_CATCH_PRINT_H

#include "catch_core.h"
#include "catch_link.h"

/** {"core": …, "loops": …, …} */
void rm_catch_print_core(struct rm_catch_core const *core);

/** {"link": …, "core": …, …, "instruments": […]} */
void rm_catch_print_link(struct rm_catch_link const *caught, double tsc_hz);

/** From the first to the last datagram that counted. */
double rm_catch_link_seconds(struct rm_catch_link const *caught, double tsc_hz);

#endif
