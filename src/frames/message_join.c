// SPDX-License-Identifier: Apache-2.0
#include "frames/message_join.h"

#include <string.h>

uint8_t const *rm_message_join(struct rm_message_join *join, enum rm_message_part part, uint16_t counter,
                               uint8_t const *bytes, uint32_t *length) {
    bool const begins = part == RM_PART_WHOLE || part == RM_PART_FIRST;
    bool const follows = join->open && counter == join->next;
    if (begins == join->open || (!begins && !follows))
        ++join->broken;
    join->open = false;
    if (part == RM_PART_WHOLE)
        return bytes;
    if (begins)
        join->length = 0;
    else if (!follows)
        return NULL;
    if (*length > join->capacity - join->length) {
        ++join->broken;
        return NULL;
    }
    if (*length != 0)
        memcpy(join->bytes + join->length, bytes, *length);
    join->length += *length;
    join->next = (uint16_t)(counter + 1);
    join->open = part != RM_PART_LAST;
    *length = join->length;
    return part == RM_PART_LAST ? join->bytes : NULL;
}
