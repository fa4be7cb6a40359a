// SPDX-License-Identifier: Apache-2.0
#include "net/memif_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/socket_path.h"

static int listen_at(char const *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int const fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr const *)&address, sizeof address) == 0 && listen(fd, 1) == 0)
        return fd;
    int const why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

int rm_memif_connect(char const *path) { return rm_socket_path_connect(path, SOCK_SEQPACKET); }

enum rm_code rm_memif_listen(char const *port_name, char const *path, int *listener, struct rm_error *error) {
    enum rm_code const code = rm_socket_path_clear(port_name, path, SOCK_SEQPACKET, "memif", error);
    if (code != RM_OK)
        return code;
    *listener = listen_at(path);
    if (*listener >= 0)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM,
                   "port '%s': cannot make its memif socket %s: %s; choose a path that this user "
                   "may write and where no other file is",
                   port_name, path, strerror(errno));
}
