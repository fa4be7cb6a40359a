// SPDX-License-Identifier: Apache-2.0
#include "net/xdp_sockets.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/** The cookie of an AF_XDP socket; 0 for any other file. */
static uint64_t cookie_of(int fd) {
    int domain = 0;
    uint64_t cookie = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_XDP)
        return 0;
    length = sizeof cookie;
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

static bool xdp_sockets_have_cookie(struct rm_xdp_sockets const *sockets, uint64_t cookie) {
    for (uint32_t i = 0; i < sockets->count; ++i)
        if (sockets->cookie[i] == cookie)
            return true;
    return false;
}

void rm_xdp_sockets_find(struct rm_xdp_sockets *sockets) {
    sockets->count = 0;
    DIR *const files = opendir("/proc/self/fd");
    if (files == NULL)
        return;
    for (struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        uint64_t const cookie = entry->d_name[0] == '.' ? 0 : cookie_of(atoi(entry->d_name));
        if (cookie != 0 && sockets->count < RM_XDP_SOCKETS_MOST)
            sockets->cookie[sockets->count++] = cookie;
    }
    closedir(files);
}

void rm_xdp_sockets_without(struct rm_xdp_sockets *sockets, struct rm_xdp_sockets const *others) {
    uint32_t const all = sockets->count;
    sockets->count = 0;
    for (uint32_t i = 0; i < all; ++i)
        if (!xdp_sockets_have_cookie(others, sockets->cookie[i]))
            sockets->cookie[sockets->count++] = sockets->cookie[i];
}

void rm_xdp_sockets_close(struct rm_xdp_sockets const *sockets) {
    DIR *const files = opendir("/proc/self/fd");
    if (files == NULL)
        return;
    for (struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        int const fd = atoi(entry->d_name);
        uint64_t const cookie = entry->d_name[0] == '.' ? 0 : cookie_of(fd);
        if (cookie != 0 && xdp_sockets_have_cookie(sockets, cookie))
            close(fd);
    }
    closedir(files);
}
