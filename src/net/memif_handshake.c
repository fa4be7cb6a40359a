// SPDX-License-Identifier: Apache-2.0
#include "net/memif_handshake.h"

#include <unistd.h>

void rm_memif_channel_close(struct rm_memif_channel *channel) {
    for (uint16_t i = 0; i < channel->to_server_count; ++i)
        if (channel->to_server[i].bell >= 0)
            close(channel->to_server[i].bell);
    for (uint16_t i = 0; i < channel->to_client_count; ++i)
        if (channel->to_client[i].bell >= 0)
            close(channel->to_client[i].bell);
    rm_memif_regions_unmap(&channel->regions);
    channel->to_server_count = channel->to_client_count = 0;
}
