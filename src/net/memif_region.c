// SPDX-License-Identifier: Apache-2.0
#include "net/memif_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASTRAY_BYTES = 1 << 16, PAGE_BYTES = 4096 };

static uint64_t address_space_of(uint64_t bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + ASTRAY_BYTES;
}

/** Maps the file with readable zeros behind it; false with errno. */
static bool add_memif_region(struct rm_memif_regions *regions, int file, uint64_t bytes) {
    uint64_t const space = address_space_of(bytes);
    void *const base = mmap(NULL, space, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
        munmap(base, space);
        return false;
    }
    regions->region[regions->count++] = (struct rm_memif_region){.base = base, .bytes = bytes};
    return true;
}

int rm_memif_regions_make(struct rm_memif_regions *regions, uint64_t bytes) {
    int const file = memfd_create("ringmaster-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
        add_memif_region(regions, file, bytes))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

char const *rm_memif_regions_map(struct rm_memif_regions *regions, int file, uint64_t bytes) {
    struct stat status;
    if (regions->count == RM_MEMIF_REGIONS_MAX)
        return "too many regions";
    int const seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        return "a region's file must be sealed against shrinking";
    if (bytes == 0 || bytes > RM_MEMIF_REGION_BYTES_MAX || fstat(file, &status) != 0 ||
        bytes > (uint64_t)status.st_size)
        return "a region is larger than its file, or than 4 GiB";
    return add_memif_region(regions, file, bytes) ? NULL : "a region cannot be mapped";
}

void rm_memif_regions_unmap(struct rm_memif_regions *regions) {
    for (uint32_t i = 0; i < regions->count; ++i)
        munmap(regions->region[i].base, address_space_of(regions->region[i].bytes));
    regions->count = 0;
}
