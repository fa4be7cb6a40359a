// SPDX-License-Identifier: Apache-2.0
/** The remarks of `ringmaster check`, and the parts that make them. */
#ifndef RM_CONFIG_REMARKS_H
#define RM_CONFIG_REMARKS_H

#include <stdio.h>

#include "config/config.h"

/** Lines under a heading, which is printed before the first of them. */
struct rm_config_remarks {
    FILE *out;
    uint32_t count;
};

void rm_config_remark(struct rm_config_remarks *remarks, char const *format, ...) __attribute__((format(printf, 2, 3)));

/** Remarks on lanes that share bytes, on counters that do not go together, and on datagrams that their port cannot
 * receive. */
void rm_config_remark_datagrams(struct rm_config const *config, struct rm_config_remarks *remarks);

#endif
