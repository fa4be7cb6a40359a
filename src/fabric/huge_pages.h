// SPDX-License-Identifier: Apache-2.0
/** Where shared memory on huge pages can be had. */
#ifndef RM_FABRIC_HUGE_PAGES_H
#define RM_FABRIC_HUGE_PAGES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct rm_huge_pages {
    /** Mount point of a hugetlbfs of the default page size. */
    char mount[PATH_MAX];

    uint64_t page_bytes;
    uint64_t free_bytes;
};

/** Looks at /proc/meminfo and /proc/mounts; false where there is no hugetlbfs. */
bool rm_huge_pages_find(struct rm_huge_pages *pages);

#endif
