// SPDX-License-Identifier: Apache-2.0
#include "net/socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"

enum rm_code rm_socket_path_check(struct rm_port_config const *config, char const *word, struct rm_error *error) {
    // A comma would end the driver's argument.
    if (memchr(config->socket_path, '\0', sizeof config->socket_path) == NULL || config->socket_path[0] != '/' ||
        strchr(config->socket_path, ',') != NULL)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': %s needs the absolute path of a socket, at most %d bytes and no comma, such as "
                       "/run/ringmaster/ring.sock",
                       config->name, word, RM_PORT_PATH_BYTES - 1);
    return RM_OK;
}

static struct sockaddr_un socket_address_of(char const *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

int rm_socket_path_connect(char const *path, int type) {
    struct sockaddr_un const address = socket_address_of(path);
    int const fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr const *)&address, sizeof address) == 0)
        return fd;
    int const why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

/** mkdir -p of the directory that `path` lies in. */
static int make_directory(char const *path) {
    struct sockaddr_un parts = socket_address_of(path);
    for (char *slash = strchr(parts.sun_path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(parts.sun_path, 0755) != 0 && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

/** Removes the socket that a dead server left; nothing that is not a socket. */
static void remove_stale(char const *path) {
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode))
        unlink(path);
}

enum rm_code rm_socket_path_clear(char const *port_name, char const *path, int type, char const *word,
                                  struct rm_error *error) {
    if (make_directory(path) != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "port '%s': cannot make the directory of its %s socket %s: %s; choose a path that this user may "
                       "write",
                       port_name, word, path, strerror(errno));
    int const other = rm_socket_path_connect(path, type);
    if (other >= 0) {
        close(other);
        return rm_fail(error, RM_E_BUSY,
                       "port '%s': another process serves the %s socket %s; stop it or choose another path", port_name,
                       word, path);
    }
    if (errno == ECONNREFUSED)
        remove_stale(path);
    return RM_OK;
}
