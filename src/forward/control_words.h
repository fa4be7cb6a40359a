// SPDX-License-Identifier: Apache-2.0
/** Commands of the control side, each done under its lock: for this room's own files. */
#ifndef RM_FORWARD_CONTROL_WORDS_H
#define RM_FORWARD_CONTROL_WORDS_H

#include "forward/control_parts.h"

/** One command. It may take for granted that it holds the lock. */
typedef enum rm_code rm_control_word(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                     struct rm_error *error);

rm_control_word rm_control_route_via, rm_control_route_by, rm_control_route_drop, rm_control_route_del,
    rm_control_route_show, rm_control_route_get;

enum rm_code rm_control_find_interface(struct rm_control const *control, char const *name, uint32_t *interface,
                                       struct rm_error *error);
/** Whether `show` was said with json behind it; RM_E_ARGUMENT: with something else. */
enum rm_code rm_control_show_as(struct rm_arguments const *arguments, bool *json, struct rm_error *error);

#endif
