// SPDX-License-Identifier: Apache-2.0
#include "net/memif_socket.h"

#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/socket_path.h"

/** A memif 2.0 control message, as far as it is looked at: 128 bytes, native byte order. */
struct message {
    uint16_t type;
    uint16_t flags; /**< of ADD_RING: bit 0 tells client to server */
    uint8_t rest[124];
};

enum { ADD_RING = 5, CONNECTED = 7, DISCONNECT = 8, FLAG_C2S = 1 };

static int new_socket(void) { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); }

static struct sockaddr_un path_address(char const *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

/** As DPDK's driver makes it: the name without its terminating zero. */
static socklen_t abstract_address(char const *name, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int const length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int connect_to(struct sockaddr_un const *address, socklen_t length) {
    int const fd = new_socket();
    if (fd >= 0 && connect(fd, (struct sockaddr const *)address, length) == 0)
        return fd;
    int const why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

static int listen_at(struct sockaddr_un const *address, socklen_t length) {
    int const fd = new_socket();
    if (fd >= 0 && bind(fd, (struct sockaddr const *)address, length) == 0 && listen(fd, 1) == 0)
        return fd;
    int const why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

int rm_memif_connect(char const *path) { return rm_socket_path_connect(path, SOCK_SEQPACKET); }

int rm_memif_connect_abstract(char const *name) {
    struct sockaddr_un address;
    socklen_t const length = abstract_address(name, &address);
    return connect_to(&address, length);
}

int rm_memif_listen_abstract(char const *name) {
    struct sockaddr_un address;
    socklen_t const length = abstract_address(name, &address);
    return listen_at(&address, length);
}

enum rm_code rm_memif_listen(char const *port_name, char const *path, int *listener, struct rm_error *error) {
    enum rm_code const code = rm_socket_path_clear(port_name, path, SOCK_SEQPACKET, "memif", error);
    if (code != RM_OK)
        return code;
    struct sockaddr_un const address = path_address(path);
    *listener = listen_at(&address, sizeof address);
    if (*listener >= 0)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM,
                   "port '%s': cannot make its memif socket %s: %s; choose a path that this user "
                   "may write and where no other file is",
                   port_name, path, strerror(errno));
}

static enum rm_memif_message meaning(struct message const *message) {
    if (message->type != ADD_RING)
        return message->type == CONNECTED ? RM_MEMIF_CONNECTED : RM_MEMIF_OTHER;
    return (message->flags & FLAG_C2S) != 0 ? RM_MEMIF_ADD_C2S : RM_MEMIF_ADD_S2C;
}

/** The file that came with a message, or -1. */
static int carried_file(struct msghdr *header) {
    struct cmsghdr const *const extra = CMSG_FIRSTHDR(header);
    int file = -1;
    if (extra != NULL && extra->cmsg_level == SOL_SOCKET && extra->cmsg_type == SCM_RIGHTS)
        memcpy(&file, CMSG_DATA(extra), sizeof file);
    return file;
}

enum rm_memif_message rm_memif_pass(int from, int to) {
    struct message message;
    struct iovec part = {.iov_base = &message, .iov_len = sizeof message};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(sizeof(int))];
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = extra, .msg_controllen = sizeof extra};
    ssize_t const length = recvmsg(from, &header, MSG_CMSG_CLOEXEC);
    if (length < 0)
        return RM_MEMIF_END;

    int const file = carried_file(&header);
    bool passed = false;
    if (length == sizeof message && message.type != DISCONNECT) {
        header.msg_controllen = file >= 0 ? sizeof extra : 0;
        header.msg_flags = 0;
        passed = sendmsg(to, &header, MSG_NOSIGNAL) == sizeof message;
    }
    if (file >= 0)
        close(file);
    return passed ? meaning(&message) : RM_MEMIF_END;
}
