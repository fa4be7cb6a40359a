// SPDX-License-Identifier: Apache-2.0
/** Words with three ports, "left", "right" (jumbo) and "a-b", and a generator that only notes what it is asked for. */
#ifndef RM_TRAFFIC_TEST_WORDS_RIG_H
#define RM_TRAFFIC_TEST_WORDS_RIG_H

#include "traffic/traffic_words.h"

enum { RIG_PORTS = 3, RIG_NOTED_BYTES = 512 };

struct words_rig {
    struct rm_traffic_words words;
    /** The last description of each port, and how many there were. */
    struct rm_traffic traffic[RIG_PORTS];
    uint32_t described;
    /** Of the last line. */
    char done[RIG_NOTED_BYTES];
    char *answer;
    struct rm_error error;
};

/** For cmocka. */
int rig_make(void **state);
int rig_free(void **state);

/** Runs a line. Its answer and error are in the rig until the next. */
enum rm_code rig_say(struct words_rig *rig, char const *line);

#endif
