// SPDX-License-Identifier: Apache-2.0
/** Frames of a known sender that differ from its last one: by their IPv4 identification, mostly. */
#include <string.h>

#include "engine/fast_path_frame.h"
#include "wire/internet_checksum.h"

/** What must be as it was. In rows: ethertype, version, length, fragments (the don't-fragment bit may be set),
 * protocol; source; UDP port and length; native header up to the id, which of what is described is not compared. */
static uint8_t const fixed[RM_FAST_PATH_BYTES] = {
    0xFF, 0xFF, 0xFF, 0,    0xFF, 0xFF, 0, 0, 0x3F, 0xFF, 0, 0xFF, 0, 0, //
    0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0, 0, 0,    0,                   //
    0xFF, 0xFF, 0xFF, 0xFF, 0,    0,                                     //
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

bool rm_fast_path_header_is_good(struct rm_fast_path *fast_path, uint8_t const *frame, uint32_t bytes,
                                 bool checksum_good) {
    uint8_t const *const found = frame + RM_FAST_PATH_AT;
    uint8_t wrong = 0;
    for (uint32_t i = 0; i < bytes; ++i)
        wrong |= (found[i] ^ fast_path->expected[i]) & fixed[i];
    if (wrong != 0)
        return false;
    bool const bare = rm_load_memory16(frame + RM_FAST_PATH_UDP_CHECKSUM) == 0;
    bool const expectable = bare && rm_ipv4_plain_header_sums_up(frame + RM_FAST_PATH_IPV4);
    /* Of what only the device has found good, the next is not to be taken for good unseen: with a checksum over its
     * lanes, or with a header that does not sum up. */
    if (expectable)
        memcpy(fast_path->expected, found, bytes);
    return expectable || checksum_good;
}
