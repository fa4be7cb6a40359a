// SPDX-License-Identifier: Apache-2.0
#include "link_socket.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"

enum {
    SOCKET_MEMORY_BYTES = 16 << 20, /**< as the FPGA-to-PC measurements set it */
    LONGEST_SLEEP_US = 100 * 1000,
    LONGEST_SLEEP_NS = LONGEST_SLEEP_US * 1000,
};

static struct rm_socket_link *socket_link_of(struct rm_link *link) { return (struct rm_socket_link *)link; }

/** Errors after which the same call may succeed. A UDP peer that refuses may be started later. */
static bool will_pass(int why) {
    return why == EAGAIN || why == EINTR || why == ENOBUFS || why == ENOMEM || why == ECONNREFUSED;
}

static int socket_send_refused(struct rm_socket_link *socket) {
    if (!will_pass(errno) || errno == ECONNREFUSED)
        socket->broken = errno;
    return 0;
}

static uint32_t show_datagram(struct rm_socket_link *socket, struct rm_burst *burst, uint32_t i, size_t length) {
    socket->broken = 0;
    burst->data[i] = socket->in + i * (size_t)socket->buffer_bytes;
    burst->length[i] = length > socket->buffer_bytes ? 0 : (uint32_t)length; // a longer one is cut: none of it counts
    burst->checksum_good[i] = true;                                          // virtual links leave it out, cards verify
    return i + 1;
}

static uint32_t receive_one(struct rm_socket_link *socket, struct rm_burst *burst, int flags) {
    ssize_t const length = recv(socket->link.file, socket->in, socket->buffer_bytes, flags | MSG_TRUNC);
    return length < 0 ? (uint32_t)socket_send_refused(socket) : show_datagram(socket, burst, 0, (size_t)length);
}

static uint32_t receive_batch(struct rm_socket_link *socket, struct rm_burst *burst, int flags) {
    struct mmsghdr messages[RM_BURST] = {0};
    struct iovec parts[RM_BURST];
    for (uint32_t i = 0; i < socket->link.config.batch; ++i) {
        parts[i] = (struct iovec){socket->in + i * (size_t)socket->buffer_bytes, socket->buffer_bytes};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int const count = recvmmsg(socket->link.file, messages, socket->link.config.batch, flags | MSG_WAITFORONE, NULL);
    if (count < 0)
        return (uint32_t)socket_send_refused(socket);
    for (uint32_t i = 0; (int)i < count; ++i)
        show_datagram(socket, burst, i, messages[i].msg_hdr.msg_flags & MSG_TRUNC ? SIZE_MAX : messages[i].msg_len);
    return (uint32_t)count;
}

/** A whole sleep is the receiving call's own, as in most programs; a short one needs a call before it, because the
 * kernel rounds a socket's own timeout up to its timer's tick. */
uint32_t rm_socket_link_receive(struct rm_link *link, struct rm_burst *burst, uint64_t wait_ns) {
    struct rm_socket_link *const socket = socket_link_of(link);
    if (link->config.spin)
        wait_ns = 0;
    if (wait_ns != 0 && wait_ns != RM_LINK_WAIT) {
        struct pollfd file = {.fd = link->file, .events = POLLIN};
        struct timespec const time = {.tv_nsec = (long)(wait_ns < LONGEST_SLEEP_NS ? wait_ns : LONGEST_SLEEP_NS)};
        if (ppoll(&file, 1, &time, NULL) <= 0) {
            burst->count = 0;
            return 0;
        }
    }
    int const flags = wait_ns == RM_LINK_WAIT ? 0 : MSG_DONTWAIT;
    burst->count = link->config.batch > 1 ? receive_batch(socket, burst, flags) : receive_one(socket, burst, flags);
    return burst->count;
}

void rm_socket_link_release(struct rm_link *link, struct rm_burst *burst) {
    (void)link;
    (void)burst; // one burst is lent at a time: its buffers wait for the next call
}

uint32_t rm_socket_link_reserve(struct rm_link *link, struct rm_burst *burst, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = socket_link_of(link)->out + i * (size_t)socket_link_of(link)->buffer_bytes;
    return count;
}

static int send_batch(struct rm_socket_link *socket, struct rm_burst const *burst, uint32_t first) {
    struct mmsghdr messages[RM_BURST] = {0};
    struct iovec parts[RM_BURST];
    uint32_t const rest = burst->count - first;
    uint32_t const count = rest < socket->link.config.batch ? rest : socket->link.config.batch;
    for (uint32_t i = 0; i < count; ++i) {
        parts[i] = (struct iovec){burst->data[first + i], burst->length[first + i]};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    return sendmmsg(socket->link.file, messages, count, MSG_DONTWAIT);
}

static int send_some(struct rm_socket_link *socket, struct rm_burst const *burst, uint32_t first) {
    if (socket->link.config.batch > 1)
        return send_batch(socket, burst, first);
    return send(socket->link.file, burst->data[first], burst->length[first], MSG_DONTWAIT) < 0 ? -1 : 1;
}

/** The buffers of those gone move behind the others: each belongs to the link all the time. */
static void drop_first(struct rm_burst *burst, uint32_t gone) {
    burst->count -= gone;
    memmove(burst->data, burst->data + gone, burst->count * sizeof burst->data[0]);
    memmove(burst->length, burst->length + gone, burst->count * sizeof burst->length[0]);
}

uint32_t rm_socket_link_send(struct rm_link *link, struct rm_burst *burst) {
    struct rm_socket_link *const socket = socket_link_of(link);
    uint32_t gone = 0;
    while (gone < burst->count) {
        int const sent = send_some(socket, burst, gone);
        if (sent > 0) {
            gone += (uint32_t)sent;
            continue;
        }
        bool const passes = will_pass(errno);
        (void)socket_send_refused(socket);
        if (passes)
            break;
        ++socket->unsent;
        ++gone;
    }
    drop_first(burst, gone);
    return gone;
}

void rm_socket_link_totals(struct rm_link *link, struct rm_link_statistics *totals) {
    struct rm_socket_link *const socket = socket_link_of(link);
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof memory;
    if (getsockopt(link->file, SOL_SOCKET, SO_MEMINFO, memory, &length) == 0) {
        socket->missed += memory[SK_MEMINFO_DROPS] - socket->missed_count;
        socket->missed_count = memory[SK_MEMINFO_DROPS];
    }
    totals->missed = socket->missed;
    totals->unsent = socket->unsent;
}

enum rm_code rm_socket_link_check(struct rm_link *link, struct rm_error *error) {
    int const why = socket_link_of(link)->broken;
    if (why == 0)
        return RM_OK;
    if (why == ECONNREFUSED)
        return rm_fail(error, RM_E_ABSENT, "link %s: no program listens at the peer's UDP port", link->config.text);
    if (why == EMSGSIZE)
        return rm_fail(error, RM_E_SYSTEM,
                       "link %s: the datagrams do not fit the interface's MTU; send shorter ones, or `ip link set "
                       "INTERFACE mtu %u`",
                       link->config.text, link->config.mtu);
    return rm_fail(error, RM_E_SYSTEM,
                   "link %s: the kernel refuses to send or receive: %s; the interface is gone or switched off, `ip "
                   "link` shows it",
                   link->config.text, strerror(why));
}

void rm_socket_link_close(struct rm_link *link) {
    close(link->file);
    free(socket_link_of(link)->in);
    free(socket_link_of(link)->out);
}

/** As much memory as the system grants: without CAP_NET_ADMIN no more than net.core.rmem_max and wmem_max. */
static void ask_for_memory(int file) {
    int const bytes = SOCKET_MEMORY_BYTES;
    if (setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(file, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(file, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(file, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

enum rm_code rm_socket_link_new(struct rm_link_config const *config, struct rm_link_ops const *ops, int file,
                                uint32_t longest, struct rm_link **link, struct rm_error *error) {
    struct rm_link *const made = rm_link_new(sizeof(struct rm_socket_link), ops, config, error);
    if (made == NULL) {
        close(file);
        return RM_E_NO_SPACE;
    }
    struct rm_socket_link *const socket = socket_link_of(made);
    made->file = file;
    socket->buffer_bytes = (longest + 63) / 64 * 64;
    socket->in = aligned_alloc(64, (size_t)RM_BURST * socket->buffer_bytes);
    socket->out = aligned_alloc(64, (size_t)RM_BURST * socket->buffer_bytes);
    struct timeval const timeout = {.tv_usec = LONGEST_SLEEP_US};
    bool const has_timeout = setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0;
    if (socket->in == NULL || socket->out == NULL || !has_timeout) {
        rm_socket_link_close(made);
        free(made);
        return rm_fail(error, RM_E_NO_SPACE, "link %s: no memory for its buffers; free some memory", config->text);
    }
    memset(socket->in, 0, (size_t)RM_BURST * socket->buffer_bytes);
    memset(socket->out, 0, (size_t)RM_BURST * socket->buffer_bytes);
    ask_for_memory(file);
    *link = made;
    return RM_OK;
}
