// SPDX-License-Identifier: Apache-2.0
/** Ports in the test's hands, for the exception path: what waits in them, what was sent through them, and how much they
 * take. Buffers are on the heap and of exactly the size that net/port.h promises, and each must be given back. */
#ifndef RM_ENGINE_TEST_EXCEPTION_PATH_PORTS_H
#define RM_ENGINE_TEST_EXCEPTION_PATH_PORTS_H

#include "net/port.h"

enum { FAKE_FRAMES = 256, FAKE_BYTES = 9600, FAKE_SLOW_QUEUE = 3 };

struct fake_frame {
    uint32_t length;
    uint8_t byte[FAKE_BYTES];
};

/** Where a port is just now. */
enum fake_place {
    /** It is asked for buffers. */
    FAKE_RESERVES,
    /** It is offered frames, and has taken none. */
    FAKE_IS_OFFERED,
    /** It has taken them, and has not returned. */
    FAKE_HAS_TAKEN,
};

struct rm_port {
    /** Called at each of these places, unless it is NULL. It need not return. */
    void (*at)(enum fake_place place);
    /** The only queue that may be used. */
    uint16_t queue;
    /** Its MAC address is 02:00:00:00:00:01; else it has none. */
    bool has_mac;
    /** Buffers left for rm_port_reserve. */
    uint32_t room;
    /** Frames that rm_port_send takes at a time. */
    uint32_t takes;
    /** Buffers that were not given back. */
    int lent;

    uint32_t waiting_first, waiting_count, sent_count;
    struct fake_frame waiting[FAKE_FRAMES], sent[FAKE_FRAMES];
};

/** Makes a port with room for all frames. */
struct rm_port *fake_port_make(uint16_t queue);

/** Puts a copy of a frame where rm_port_receive finds it. */
void fake_port_push(struct rm_port *port, uint8_t const *frame, uint32_t length);

#endif
