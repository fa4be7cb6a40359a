// SPDX-License-Identifier: Apache-2.0
/** The application's beginning and end. */
#ifndef PREMORTEM_OPEN_H
#define PREMORTEM_OPEN_H

#include "premortem.h"

/** `open`, `close`, `length`, `first`, `init` and `accept` of the application. */
enum rm_code premortem_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error);
void premortem_close(void *memory);
uint32_t premortem_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index);
void premortem_first(struct rm_application_setup const *setup, uint32_t setting, double *values);
enum rm_code premortem_init(struct rm_application_setup const *setup, void *state, struct rm_error *error);
bool premortem_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                      struct rm_error *error);

#endif
