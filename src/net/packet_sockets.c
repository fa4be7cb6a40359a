// SPDX-License-Identifier: Apache-2.0
#include "net/packet_sockets.h"

#include <dirent.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

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

int rm_packet_socket_ignore_outgoing(int socket) {
    int const yes = 1;
    return setsockopt(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) == 0 ? 0 : errno;
}

uint32_t rm_packet_socket_take_drops(int socket) {
    struct tpacket_stats stats = {0};
    socklen_t length = sizeof stats;
    return getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0 ? stats.tp_drops : 0;
}
