// SPDX-License-Identifier: Apache-2.0
#include "net/packet_sockets.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_bound_to(int fd, uint32_t interface_index) {
    struct sockaddr_ll address = {0};
    socklen_t length = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &length) == 0 && address.sll_family == AF_PACKET &&
           (uint32_t)address.sll_ifindex == interface_index;
}

uint32_t rm_packet_sockets_find(uint32_t interface_index, int sockets[RM_PACKET_SOCKETS_MOST]) {
    DIR *const files = opendir("/proc/self/fd");
    if (files == NULL)
        return 0;
    uint32_t count = 0;
    for (struct dirent *entry = readdir(files); entry != NULL && count < RM_PACKET_SOCKETS_MOST;
         entry = readdir(files)) {
        int const fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && is_bound_to(fd, interface_index))
            sockets[count++] = fd;
    }
    closedir(files);
    return count;
}

/** By a filter: PACKET_IGNORE_OUTGOING has no effect in a fan-out group, and the driver makes one of each device. */
int rm_packet_socket_ignore_outgoing(int socket) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0), // nothing of it
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),                                                    // all of it
    };
    struct sock_fprog const program = {.len = sizeof code / sizeof code[0], .filter = code};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 ? 0 : errno;
}

uint32_t rm_packet_socket_take_drops(int socket) {
    struct tpacket_stats stats = {0};
    socklen_t length = sizeof stats;
    return getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0 ? stats.tp_drops : 0;
}

int rm_packet_socket_open_sender(uint32_t interface_index) {
    int const fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); // protocol 0: it receives nothing
    struct sockaddr_ll const address = {.sll_family = AF_PACKET, .sll_ifindex = (int)interface_index};
    if (fd < 0)
        return fd;
    int const direct = 1;
    if (bind(fd, (struct sockaddr const *)&address, sizeof address) == 0 &&
        setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &direct, sizeof direct) == 0)
        return fd;
    int const why = errno;
    close(fd);
    errno = why;
    return -1;
}

uint32_t rm_packet_socket_send(int socket, struct rm_burst const *burst) {
    struct iovec frames[RM_BURST];
    struct mmsghdr messages[RM_BURST];
    for (uint32_t i = 0; i < burst->count; ++i) {
        frames[i] = (struct iovec){.iov_base = burst->data[i], .iov_len = burst->length[i]};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &frames[i], .msg_iovlen = 1}};
    }
    int const sent = sendmmsg(socket, messages, burst->count, MSG_DONTWAIT);
    return sent < 0 ? 0 : (uint32_t)sent;
}
