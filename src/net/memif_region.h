// SPDX-License-Identifier: Apache-2.0
/** Memory that both ends of a memif link have mapped: the client makes it, the server maps what it was given.
 *
 * Behind a region that was given, as much address space is mapped, empty, as a length field of 16 bits can lead a
 * reader astray. A thread that reads a frame where it lies reads memory that a hostile peer may change between two
 * looks. It may get a wrong record that way, but no fault.
 */
#ifndef RM_NET_MEMIF_REGION_H
#define RM_NET_MEMIF_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RM_MEMIF_REGIONS_MAX = 16 };

/** Largest size of a region: the reach of a descriptor's 32 bits. */
#define RM_MEMIF_REGION_BYTES_MAX (UINT64_C(1) << 32)

struct rm_memif_region {
    uint8_t *base;
    uint64_t bytes;
};

struct rm_memif_regions {
    uint32_t count;
    struct rm_memif_region region[RM_MEMIF_REGIONS_MAX];
};

/** Makes region 0, zeroed, of a file that can change its size no more; returns the file for the peer, or -1. */
int rm_memif_regions_make(struct rm_memif_regions *regions, uint64_t bytes);

/** Maps the next region from a peer's file, which may be closed then. NULL, or what is wrong with it: a file that can
 * shrink would end the process that reads it. */
char const *rm_memif_regions_map(struct rm_memif_regions *regions, int file, uint64_t bytes);

void rm_memif_regions_unmap(struct rm_memif_regions *regions);

/** Where `length` bytes at `offset` of region `index` lie; NULL when they are not all inside. */
static inline uint8_t *rm_memif_regions_at(struct rm_memif_regions const *regions, uint32_t index, uint64_t offset,
                                           uint64_t length) {
    if (index >= regions->count || offset + length > regions->region[index].bytes)
        return NULL;
    return regions->region[index].base + offset;
}

#endif
