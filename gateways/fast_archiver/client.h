// SPDX-License-Identifier: Apache-2.0
/** One connection, from its first byte to its close. The loop owns it until its line is read; then a subscription stays
 * with the loop, and all else is answered by a thread of its own, which may wait for the client and for the disk. */
#ifndef FA_CLIENT_H
#define FA_CLIENT_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "command.h"
#include "live.h"

enum {
    /** Bytes that are put together before they are sent. */
    FA_SEND_BYTES = 65536,
    /** How long a client may take for its command, and to take what is sent. */
    FA_COMMAND_NS = 1000 * 1000 * 1000,
    FA_SEND_TIMEOUT_S = 10,
};

enum fa_client_state {
    /** No connection. */
    FA_CLIENT_FREE,
    /** Its line has not come. */
    FA_CLIENT_SPEAKS,
    /** Frames go to it. */
    FA_CLIENT_SUBSCRIBED,
    /** A thread answers it, and closes it in the end. */
    FA_CLIENT_ANSWERED,
};

/** What the loop knows of a subscription. */
struct fa_sending {
    struct fa_subscription wants;
    enum fa_rate rate;
    struct fa_ids *stretch;
    unsigned stretch_count, id_count;
    /** Number of the frame that is sent next, and the gaps there were when it began. */
    uint64_t at, gaps;
    /** Frames in a block. */
    uint64_t block;
    /** Bytes that wait: from `sent` to `bytes`. Allocated. */
    char *buffer;
    size_t bytes, sent;
    /** Since when the client takes nothing; 0: it takes. */
    uint64_t stalled_ns;
};

struct fa_client {
    /** enum fa_client_state. It changes under the server's lock alone. */
    _Atomic int state;
    int socket;
    struct sockaddr_in peer;
    struct timespec since;
    uint64_t accepted_ns;
    /** When frames were last sent, or tried to be. */
    uint64_t stepped_ns;
    char line[FA_LINE_BYTES];
    size_t line_bytes;
    struct fa_sending sending;
    /** Whether the loop is told when the socket takes bytes again. */
    bool waits;
};

#endif
