// SPDX-License-Identifier: Apache-2.0
#include "base/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

enum { NS_PER_US = 1000 };

/** A number of digits alone, above 0; 0 for any other text. */
static uint64_t notify_number(char const *text) {
    if (text[0] < '0' || text[0] > '9')
        return 0;
    char *end;
    errno = 0;
    unsigned long long const number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' ? number : 0;
}

static enum rm_code notify_watchdog(struct rm_notify *notify, struct rm_error *error) {
    char const *const period = getenv("WATCHDOG_USEC"), *const process = getenv("WATCHDOG_PID");
    if (period == NULL || (process != NULL && notify_number(process) != (uint64_t)getpid()))
        return RM_OK;
    uint64_t const period_us = notify_number(period);
    if (period_us == 0 || period_us > UINT64_MAX / NS_PER_US)
        return rm_fail(error, RM_E_ARGUMENT, "$WATCHDOG_USEC is \"%s\", expected a number of microseconds", period);
    notify->watchdog_ns = period_us * NS_PER_US;
    return RM_OK;
}

/** A path, or a name that begins with '@' and lies in no folder. */
static enum rm_code notify_address(struct rm_notify *notify, char const *name, struct rm_error *error) {
    size_t const length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof notify->address.sun_path)
        return rm_fail(error, RM_E_ARGUMENT,
                       "$NOTIFY_SOCKET is \"%s\", expected a path or @name of at most %zu characters", name,
                       sizeof notify->address.sun_path - 1);
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, name, length);
    if (name[0] == '@')
        notify->address.sun_path[0] = '\0';
    notify->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return RM_OK;
}

enum rm_code rm_notify_open(struct rm_notify *notify, struct rm_error *error) {
    *notify = (struct rm_notify){.socket = -1};
    char const *const name = getenv("NOTIFY_SOCKET");
    if (name == NULL || name[0] == '\0')
        return RM_OK;
    enum rm_code code = notify_address(notify, name, error);
    if (code == RM_OK)
        code = notify_watchdog(notify, error);
    if (code != RM_OK)
        return code;
    notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (notify->socket < 0)
        return rm_fail(error, RM_E_SYSTEM, "no socket to tell the service manager by: %s", strerror(errno));
    return RM_OK;
}

bool rm_notify_send(struct rm_notify const *notify, char const *lines) {
    if (notify->socket < 0)
        return true;
    size_t const length = strlen(lines);
    return sendto(notify->socket, lines, length, MSG_NOSIGNAL, (struct sockaddr const *)&notify->address,
                  notify->address_bytes) == (ssize_t)length;
}

void rm_notify_close(struct rm_notify *notify) {
    if (notify->socket >= 0)
        close(notify->socket);
    notify->socket = -1;
}
