// SPDX-License-Identifier: Apache-2.0
#include "net/memif_message.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES_MOST = 4 /**< room for more than there should be, so that they can be closed */ };

bool rm_memif_message_send(int socket, struct rm_memif_message const *message, int file) {
    struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof *message};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(sizeof file)] = {0};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (file >= 0) {
        header.msg_control = extra;
        header.msg_controllen = sizeof extra;
        struct cmsghdr *const carrier = CMSG_FIRSTHDR(&header);
        carrier->cmsg_level = SOL_SOCKET;
        carrier->cmsg_type = SCM_RIGHTS;
        carrier->cmsg_len = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(carrier), &file, sizeof file);
    }
    return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof *message;
}

/** Keeps the first file of one carrier, unless there is one already. */
static void take_files(struct cmsghdr *carrier, int *file) {
    size_t const bytes = carrier->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof *file <= bytes; at += sizeof *file) {
        int carried;
        memcpy(&carried, CMSG_DATA(carrier) + at, sizeof carried);
        if (*file < 0)
            *file = carried;
        else
            close(carried);
    }
}

bool rm_memif_message_receive(int socket, struct rm_memif_message *message, int *file) {
    struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(FILES_MOST * sizeof *file)];
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = extra, .msg_controllen = sizeof extra};
    *file = -1;
    ssize_t const length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length < 0)
        return false;
    for (struct cmsghdr *carrier = CMSG_FIRSTHDR(&header); carrier != NULL; carrier = CMSG_NXTHDR(&header, carrier))
        if (carrier->cmsg_level == SOL_SOCKET && carrier->cmsg_type == SCM_RIGHTS)
            take_files(carrier, file);
    if (length == sizeof *message && (header.msg_flags & MSG_TRUNC) == 0)
        return true;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return false;
}

void rm_memif_message_part(int socket, char const *reason) {
    struct rm_memif_message message = {.type = RM_MEMIF_DISCONNECT};
    snprintf(message.disconnect.reason, sizeof message.disconnect.reason, "%s", reason);
    (void)rm_memif_message_send(socket, &message, -1); // a peer that is gone needs no reason
}
