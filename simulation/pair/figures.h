// SPDX-License-Identifier: Apache-2.0
/** What a pair's run came to, for programs and for people. */
#ifndef RM_SIMULATION_PAIR_FIGURES_H
#define RM_SIMULATION_PAIR_FIGURES_H

#include <stdio.h>

#include "pair.h"

/** One JSON object. */
void rm_pair_figures_json(struct rm_pair *pair, double wall_s, FILE *out);

/** A few lines. */
void rm_pair_figures_say(struct rm_pair *pair, double wall_s, FILE *out);

/** Says on standard error how a pair stands that does not come to rest. */
void rm_pair_say_unsettled(struct rm_pair const *pair);

/** Says on standard error how a step of the standby differs from that of the active server. */
void rm_pair_say_difference(struct rm_pair const *pair, struct rm_pair_server const *server);

#endif
