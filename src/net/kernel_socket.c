// SPDX-License-Identifier: Apache-2.0
#include "net/kernel_socket.h"

#include <assert.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/zeroed.h"

enum {
    LEAST_BUFFER_BYTES = 2048,
    LINE_BYTES = 64,
    /** What the kernel may queue: 50 ms of 1 M small datagrams a second, and more. */
    RECEIVE_MEMORY_BYTES = 64 << 20,
    /** As the FPGA-to-PC measurements set it. */
    SEND_MEMORY_BYTES = 16 << 20,
};

static struct rm_kernel_socket *self_of(struct rm_port *port) { return (struct rm_kernel_socket *)port; }

/** Errors after which the same call may succeed. A UDP peer that refuses may be started later. */
static bool will_pass(int why) {
    return why == EAGAIN || why == EINTR || why == ENOBUFS || why == ENOMEM || why == ECONNREFUSED;
}

/** Keeps what people should hear of a direction's last call. A peer that refuses is heard of by either. */
static void note_result(struct rm_kernel_socket *self, _Atomic int *broken, bool good) {
    if (good)
        atomic_store_explicit(broken, 0, memory_order_relaxed);
    else if (errno == ECONNREFUSED)
        atomic_store_explicit(&self->is_deaf, true, memory_order_relaxed);
    else if (!will_pass(errno))
        atomic_store_explicit(broken, errno, memory_order_relaxed);
}

/** One datagram by the call that most programs use; for sockets whose datagrams all have one sender. */
static int receive_one(struct rm_kernel_socket *self, int flags) {
    ssize_t const length = recv(self->port.file, self->in.buffer, self->buffer_bytes, flags | MSG_TRUNC);
    if (length < 0)
        return -1;
    bool const cut = (size_t)length > self->buffer_bytes;
    self->in.header[0].msg_len = cut ? self->buffer_bytes : (unsigned)length;
    self->in.header[0].msg_hdr.msg_flags = cut ? MSG_TRUNC : 0;
    return 1;
}

/** A frame that was cut is found truncated when it is parsed; half of a payload may look like a shorter one. */
static uint32_t shown_length(struct rm_kernel_socket const *self, struct mmsghdr const *header) {
    bool const cut = (header->msg_hdr.msg_flags & MSG_TRUNC) != 0;
    return cut && self->port.ops->framing == RM_FRAMING_UDP ? RM_LENGTH_CUT : header->msg_len;
}

static bool takes_one(struct rm_kernel_socket const *self) {
    return self->batch == 1 && self->in.header[0].msg_hdr.msg_name == NULL;
}

static uint32_t receive_burst(struct rm_port *port, struct rm_burst *burst, bool sleep) {
    struct rm_kernel_socket *const self = self_of(port);
    int const flags = sleep ? MSG_WAITFORONE : MSG_DONTWAIT;
    int const count = takes_one(self) ? receive_one(self, sleep ? 0 : MSG_DONTWAIT)
                                      : recvmmsg(port->file, self->in.header, self->batch, flags, NULL);
    note_result(self, &self->broken_in, count > 0);
    if (count > 0)
        atomic_store_explicit(&self->is_deaf, false, memory_order_relaxed);
    for (uint32_t i = 0; (int)i < count; ++i) {
        burst->data[i] = self->in.buffer + (size_t)i * self->buffer_bytes;
        burst->length[i] = shown_length(self, &self->in.header[i]);
        burst->source_ipv4[i] = ntohl(self->source[i].sin_addr.s_addr);
        burst->checksum_good[i] = port->ops->framing == RM_FRAMING_UDP;
    }
    return count > 0 ? (uint32_t)count : 0;
}

uint32_t rm_kernel_socket_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    return receive_burst(port, burst, false);
}

uint32_t rm_kernel_socket_receive_sleeping(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    return receive_burst(port, burst, true);
}

void rm_kernel_socket_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port;
    (void)queue;
    (void)burst; // one burst is lent at a time: its buffers wait for the next call
}

uint32_t rm_kernel_socket_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    (void)queue;
    assert(count <= RM_BURST);
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = self_of(port)->out.buffer + (size_t)i * self_of(port)->buffer_bytes;
    return count;
}

/** Sends a batch of the burst's datagrams from `first` on. */
static int send_batch(struct rm_kernel_socket *self, struct rm_burst const *burst, uint32_t first) {
    uint32_t const rest = burst->count - first;
    uint32_t const count = rest < self->batch ? rest : self->batch;
    if (count == 1 && self->out.header[0].msg_hdr.msg_name == NULL)
        return send(self->port.file, burst->data[first], burst->length[first], MSG_DONTWAIT) < 0 ? -1 : 1;
    for (uint32_t i = 0; i < count; ++i) {
        assert(burst->length[first + i] > 0 && burst->length[first + i] <= self->buffer_bytes);
        self->out.part[i] = (struct iovec){.iov_base = burst->data[first + i], .iov_len = burst->length[first + i]};
    }
    return sendmmsg(self->port.file, self->out.header, count, MSG_DONTWAIT);
}

uint32_t rm_kernel_socket_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    struct rm_kernel_socket *const self = self_of(port);
    uint32_t gone = 0;
    int count = 1;
    while (gone < burst->count && count > 0) {
        count = send_batch(self, burst, gone);
        note_result(self, &self->broken_out, count > 0);
        if (count > 0)
            gone += (uint32_t)count;
        else if (!will_pass(errno))
            atomic_fetch_add_explicit(&self->refused, 1, memory_order_relaxed);
    }
    return gone;
}

static void note_missed(struct rm_kernel_socket *self, uint32_t count) {
    self->missed += count - self->missed_count;
    self->missed_count = count;
}

void rm_kernel_socket_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof memory;
    if (getsockopt(port->file, SOL_SOCKET, SO_MEMINFO, memory, &length) == 0)
        note_missed(self_of(port), memory[SK_MEMINFO_DROPS]);
    totals->missed = self_of(port)->missed;
    totals->refused = atomic_load_explicit(&self_of(port)->refused, memory_order_relaxed);
    totals->link_up = true;
}

enum rm_code rm_kernel_socket_check(struct rm_port *port, struct rm_error *error) {
    struct rm_kernel_socket *const self = self_of(port);
    int const out = atomic_exchange_explicit(&self->broken_out, 0, memory_order_relaxed);
    int const in = atomic_exchange_explicit(&self->broken_in, 0, memory_order_relaxed);
    int const why = out != 0 ? out : in;
    if (why == 0 && atomic_load_explicit(&self->is_deaf, memory_order_relaxed))
        return rm_fail(error, RM_E_ABSENT, "port '%s': no program listens at the peer's UDP port", port->name);
    if (why == 0)
        return RM_OK;
    if (why == EMSGSIZE)
        return rm_fail(error, RM_E_SYSTEM,
                       "port '%s': the datagrams do not fit the interface's MTU; send shorter ones, or `ip link set "
                       "INTERFACE mtu BYTES`",
                       port->name);
    return rm_fail(error, RM_E_SYSTEM,
                   "port '%s': the kernel refuses to send or receive: %s; `ip link` and `ip route` show whether an "
                   "interface is gone or off",
                   port->name, strerror(why));
}

void rm_kernel_socket_close(struct rm_port *port) {
    close(port->file);
    free(self_of(port)->in.buffer);
    free(self_of(port)->out.buffer);
}

/** As much memory as the system grants: without CAP_NET_ADMIN no more than net.core.rmem_max and wmem_max. */
static void ask_for_memory(int file, int forced, int granted, int bytes) {
    if (setsockopt(file, SOL_SOCKET, forced, &bytes, sizeof bytes) != 0)
        (void)setsockopt(file, SOL_SOCKET, granted, &bytes, sizeof bytes);
}

static bool make_messages(struct rm_socket_messages *messages, uint32_t bytes) {
    messages->buffer = rm_zeroed(RM_BURST, bytes); // and so no page fault while datagrams wait
    if (messages->buffer == NULL)
        return false;
    for (uint32_t i = 0; i < RM_BURST; ++i) {
        messages->part[i] = (struct iovec){messages->buffer + (size_t)i * bytes, bytes};
        messages->header[i].msg_hdr = (struct msghdr){.msg_iov = &messages->part[i], .msg_iovlen = 1};
    }
    return true;
}

/** Senders' addresses are asked for where datagrams come from many. */
static void name_peers(struct rm_kernel_socket *self, struct sockaddr_in const *peer) {
    if (peer == NULL)
        return;
    self->peer = *peer;
    for (uint32_t i = 0; i < RM_BURST; ++i) {
        self->in.header[i].msg_hdr.msg_name = &self->source[i];
        self->in.header[i].msg_hdr.msg_namelen = sizeof self->source[i];
        self->out.header[i].msg_hdr.msg_name = &self->peer;
        self->out.header[i].msg_hdr.msg_namelen = sizeof self->peer;
    }
}

static bool sleep_at_most(int file, uint64_t most_ns) {
    struct timeval const timeout = {.tv_usec = (suseconds_t)(most_ns / 1000)};
    return setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0;
}

enum rm_code rm_kernel_socket_check_config(struct rm_port_config const *config, struct rm_error *error) {
    if (config->queues != 1)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; a kernel socket is one", config->name,
                       config->queues);
    if (config->ring_slots != 0)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u ring slots; a kernel socket has no ring, write 0",
                       config->name, config->ring_slots);
    if (config->spread || config->exception_path)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': a kernel socket is one queue, beside which the kernel gives its own answers; it has "
                       "no software queues and no exception path",
                       config->name);
    return RM_OK;
}

static bool make_socket(struct rm_kernel_socket *self, int file, uint32_t longest, struct sockaddr_in const *peer,
                        struct rm_port_config const *config) {
    uint32_t const bytes = longest < LEAST_BUFFER_BYTES ? LEAST_BUFFER_BYTES : longest;
    self->port.file = file;
    self->batch = config->batch == 0 ? RM_BURST : config->batch;
    self->buffer_bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    ask_for_memory(file, SO_RCVBUFFORCE, SO_RCVBUF, RECEIVE_MEMORY_BYTES);
    ask_for_memory(file, SO_SNDBUFFORCE, SO_SNDBUF, SEND_MEMORY_BYTES);
    if (!make_messages(&self->in, self->buffer_bytes) || !make_messages(&self->out, self->buffer_bytes))
        return false;
    name_peers(self, peer);
    (void)sleep_at_most(file, RM_LONGEST_SLEEP_NS); // which no kernel refuses
    return true;
}

enum rm_code rm_kernel_socket_make(size_t bytes, struct rm_port_ops const *ops, int file, uint32_t longest,
                                   struct sockaddr_in const *peer, struct rm_port_config const *config,
                                   struct rm_port **port, struct rm_error *error) {
    struct rm_port *const made = rm_port_new(bytes, ops, config, error);
    if (made == NULL) {
        close(file);
        return RM_E_NO_SPACE;
    }
    if (make_socket(self_of(made), file, longest, peer, config)) {
        *port = made;
        return RM_OK;
    }
    rm_kernel_socket_close(made);
    rm_port_free(made);
    return rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for its buffers; free some memory", config->name);
}
