// SPDX-License-Identifier: Apache-2.0
/** What a service tells the service manager that started it. systemd's protocol (sd_notify(3)): datagrams of lines
 * NAME=VALUE to the Unix socket of $NOTIFY_SOCKET. Without that variable nothing is sent.
 *
 *     rm_notify_open     reads the environment
 *     rm_notify_send     "READY=1", "WATCHDOG=1", "STOPPING=1", "STATUS=84 instruments"
 *     rm_notify_close
 */
#ifndef RM_BASE_NOTIFY_H
#define RM_BASE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <ringmaster/error.h>

struct rm_notify {
    /** The manager restarts the service when it hears no WATCHDOG=1 for so long; 0: it does not wait for any. */
    uint64_t watchdog_ns;
    /** -1: there is no manager to tell. */
    int socket;
    socklen_t address_bytes;
    struct sockaddr_un address;
};

/** Takes $NOTIFY_SOCKET, and $WATCHDOG_USEC where $WATCHDOG_PID is this process or is not set. RM_E_ARGUMENT where a
 * variable is there and makes no sense, RM_E_SYSTEM where there is no socket: nothing is sent then. */
enum rm_code rm_notify_open(struct rm_notify *notify, struct rm_error *error);

/** Never blocks. False where the manager did not take it; true also where there is no manager. */
bool rm_notify_send(struct rm_notify const *notify, char const *lines);

void rm_notify_close(struct rm_notify *notify);

#endif
