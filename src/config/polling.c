// SPDX-License-Identifier: Apache-2.0
#include "config/resolve.h"

enum { MOST_PACKETS = 32, LONGEST_WAIT_NS = 1000000 };

enum rm_code rm_config_resolve_polling(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error) {
    struct rm_file_polling const *const written = file->polling;
    struct rm_config_polling *const polling = &config->polling;
    *polling = (struct rm_config_polling){
        .target_packets = *written->target_packets,
        .longest_wait_ns = *written->longest_wait_ns,
        .naps = *written->naps,
    };
    if (polling->target_packets > MOST_PACKETS)
        return rm_config_fail(config, error, "polling.target_packets",
                              "found %u, expected 0 (never wait) to %d packets", polling->target_packets, MOST_PACKETS);
    if (polling->longest_wait_ns > LONGEST_WAIT_NS)
        return rm_config_fail(config, error, "polling.longest_wait_ns", "found %u, expected 0 to %d ns",
                              polling->longest_wait_ns, LONGEST_WAIT_NS);
    return RM_OK;
}
