// SPDX-License-Identifier: Apache-2.0
/** Publishing the clock (ringmaster/clock.h). For its one writer. */
#ifndef RM_FABRIC_CLOCK_WRITER_H
#define RM_FABRIC_CLOCK_WRITER_H

#include <ringmaster/clock.h>

void rm_clock_publish(struct rm_clock *clock, struct rm_clock_reading const *reading);

#endif
