// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: bytes are a script of fragments, played against a model (test_reassembly_model.h), and then frames
 * as they are, each behind its length. Aborts when the model disagrees, when a verdict is none of the room's own, or
 * when what came out whole cannot be read to its end. */
#include <stdlib.h>
#include <string.h>

#include "wire/reassembly.h"
#include "wire/test_reassembly_model.h"

enum { SLOTS = 4, LONGEST = 2048 };

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void require(bool held) {
    if (!held)
        abort();
}

static bool own(enum rm_port_counter verdict) {
    return verdict == RM_PORT_DECODED || verdict == RM_PORT_NOT_IPV4 || verdict == RM_PORT_NOT_UDP ||
           verdict == RM_PORT_FRAGMENT || verdict == RM_PORT_TRUNCATED || verdict == RM_PORT_BAD_IP_HEADER ||
           verdict == RM_PORT_BAD_UDP_CHECKSUM || verdict == RM_PORT_UNFINISHED_CHECKSUM ||
           verdict == RM_PORT_BAD_FRAGMENT;
}

static void put_raw(struct rm_reassembly *reassembly, uint8_t const *bytes, uint32_t length, uint64_t tsc) {
    uint8_t *const frame = malloc(length != 0 ? length : 1); /* exact, for the sanitizer */
    require(frame != NULL);
    memcpy(frame, bytes, length);
    struct rm_datagram datagram;
    enum rm_port_counter const verdict = rm_reassembly_put(reassembly, frame, length, tsc, &datagram);
    free(frame);
    require(own(verdict));
    if (verdict != RM_PORT_DECODED)
        return;
    require(datagram.length <= LONGEST - RM_UDP_BYTES);
    uint8_t *const copy = malloc(datagram.length + 1ul);
    require(copy != NULL);
    memcpy(copy, datagram.payload, datagram.length);
    free(copy);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct model_seen seen = {0};
    require(model_play(data, size, &seen) == NULL);
    struct rm_reassembly *const reassembly = rm_reassembly_new(SLOTS, LONGEST, 8);
    require(reassembly != NULL);
    for (uint64_t tsc = 0; size > 0; ++tsc) {
        uint32_t const length = data[0] < size - 1 ? data[0] : (uint32_t)size - 1;
        put_raw(reassembly, data + 1, length, tsc);
        data += 1 + length;
        size -= 1 + length;
    }
    rm_reassembly_expire(reassembly, 100);
    rm_reassembly_free(reassembly);
    return 0;
}
