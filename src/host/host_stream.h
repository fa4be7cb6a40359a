// SPDX-License-Identifier: Apache-2.0
/** A stream of an application as those that read it see it: period, lanes, units. */
#ifndef RM_HOST_HOST_STREAM_H
#define RM_HOST_HOST_STREAM_H

#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/stream.h>

/** Of an application that is stepped every `period_turns`. What depends on its ring (capacity, slots) is 0. */
struct rm_stream rm_host_stream_describe(struct rm_application_stream const *it, uint64_t period_turns);

#endif
