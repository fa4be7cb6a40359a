// SPDX-License-Identifier: Apache-2.0
/** How the commands' thread has a port's core do something: for the parts of the generator that give orders. */
#ifndef RM_TRAFFIC_GENERATOR_ORDER_H
#define RM_TRAFFIC_GENERATOR_ORDER_H

#include "traffic/generator.h"

/** Has the port's core do what `*message` says, and gives back what that has left there. RM_E_SYSTEM: the core has not
 * turned for RM_MAILBOX_ANSWER_S, and will not do it any more. */
enum rm_code rm_generator_order(struct rm_generator_port *port, struct rm_generator_message *message,
                                struct rm_error *error);

/** RM_E_ARGUMENT: there is no port of that number. */
enum rm_code rm_generator_check_port(struct rm_generator const *generator, uint32_t port, struct rm_error *error);

#endif
