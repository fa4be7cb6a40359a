// SPDX-License-Identifier: Apache-2.0
/** The writers' side of standby.h: the transmit role's, and that of `ringmaster-standby`. */
#ifndef RM_FABRIC_STANDBY_WRITER_H
#define RM_FABRIC_STANDBY_WRITER_H

#include <ringmaster/standby.h>

/** Publishes the reading as a whole. No system call, no wait. */
void rm_standby_state_publish(struct rm_standby_state *state, struct rm_standby_state_reading const *reading);
void rm_standby_orders_publish(struct rm_standby_orders *orders, struct rm_standby_orders_reading const *reading);

#endif
