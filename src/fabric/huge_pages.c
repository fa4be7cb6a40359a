// SPDX-License-Identifier: Apache-2.0
#include "fabric/huge_pages.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

static bool read_meminfo(struct rm_huge_pages *pages) {
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL)
        return false;
    char line[128];
    unsigned long long value = 0, free_pages = 0, kib = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "HugePages_Free: %llu", &value) == 1)
            free_pages = value;
        else if (sscanf(line, "Hugepagesize: %llu kB", &value) == 1)
            kib = value;
    }
    fclose(file);
    pages->page_bytes = kib * 1024;
    pages->free_bytes = free_pages * pages->page_bytes;
    return kib > 0;
}

/** True for a mount of the default page size: one that names no other. */
static bool mount_suits_pages(struct mntent *mount, uint64_t page_bytes) {
    if (strcmp(mount->mnt_type, "hugetlbfs") != 0)
        return false;
    char const *option = hasmntopt(mount, "pagesize");
    unsigned long long mib = 0;
    return option == NULL || sscanf(option, "pagesize=%lluM", &mib) != 1 || mib << 20 == page_bytes;
}

bool rm_huge_pages_find(struct rm_huge_pages *pages) {
    if (!read_meminfo(pages))
        return false;
    FILE *mounts = setmntent("/proc/mounts", "re");
    if (mounts == NULL)
        return false;
    bool found = false;
    for (struct mntent *mount; !found && (mount = getmntent(mounts)) != NULL;) {
        found = mount_suits_pages(mount, pages->page_bytes) && strlen(mount->mnt_dir) < sizeof pages->mount;
        if (found)
            strcpy(pages->mount, mount->mnt_dir);
    }
    endmntent(mounts);
    return found;
}
