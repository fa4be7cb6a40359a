// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi_hash.h"
#include "base/fail.h"
#include "fabric/segment_check.h"
#include "fabric/segment_lock.h"

enum rm_code rm_workspace_path(char const *name, char path[PATH_MAX], struct rm_error *error) {
    char const *base = getenv("RINGMASTER_WORKSPACES");
    if (base == NULL || base[0] == '\0')
        base = "/dev/shm/ringmaster";
    int const length = strchr(name, '/') != NULL ? snprintf(path, PATH_MAX, "%s", name)
                                                 : snprintf(path, PATH_MAX, "%s/%s", base, name);
    bool const dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (name[0] == '\0' || dots || length >= PATH_MAX - RM_OWNER_BYTES - 16)
        return rm_fail(error, RM_E_ARGUMENT, "\"%s\" is no workspace name", name);
    return RM_OK;
}

void rm_segment_path(char path[PATH_MAX], char const *directory, char const *owner) {
    if (snprintf(path, PATH_MAX, "%s/%s.segment", directory, owner) >= PATH_MAX)
        path[0] = '\0';
}

bool rm_segment_whole(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->magic, memory_order_acquire) == RM_SEGMENT_MAGIC;
}

static enum rm_code half_made(char const *path, char const *directory, char const *owner, struct rm_error *error) {
    if (rm_segment_lock_held(directory, owner))
        return rm_fail(error, RM_E_HALF_MADE, "%s is being made just now; try again in a moment", path);
    return rm_fail(error, RM_E_HALF_MADE, "%s is half made: its owner ended while it started; start it again", path);
}

/** Checks of a reader, in the order in which each makes the next one possible. */
static enum rm_code check(char const *path, char const *directory, char const *owner,
                          struct rm_segment_header const *header, uint64_t bytes, struct rm_error *error) {
    if (!rm_segment_whole(header))
        return half_made(path, directory, owner, error);
    if (header->abi_version != RM_ABI_VERSION || header->layout_hash != RM_LAYOUT_HASH)
        return rm_fail(error, RM_E_VERSION,
                       "%s has ABI version %u (layout %016llx), this program has %u (%016llx): use programs of one "
                       "Ringmaster version",
                       path, header->abi_version, (unsigned long long)header->layout_hash, RM_ABI_VERSION,
                       (unsigned long long)RM_LAYOUT_HASH);
    char const *fault = rm_segment_fault(header, bytes);
    if (fault != NULL)
        return rm_fail(error, RM_E_HALF_MADE, "%s is damaged: %s; remove it and start its owner again", path, fault);
    return RM_OK;
}

enum rm_code rm_segment_map_readonly(char const *workspace_path, char const *owner, struct rm_mapped_segment *mapped,
                                     struct rm_error *error) {
    *mapped = (struct rm_mapped_segment){0};
    char path[PATH_MAX];
    rm_segment_path(path, workspace_path, owner);
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return rm_fail(error, RM_E_ABSENT, "%s does not exist: nothing runs under that name", path);
    if (file < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat status = {0};
    fstat(file, &status);
    uint64_t const bytes = (uint64_t)status.st_size;
    if (bytes < sizeof(struct rm_segment_header)) {
        close(file);
        return half_made(path, workspace_path, owner, error);
    }
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    mapped->header = memory == MAP_FAILED ? NULL : memory;
    mapped->bytes = bytes;
    int const reason = errno;
    close(file);
    if (mapped->header == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be mapped: %s", path, strerror(reason));
    enum rm_code const code = check(path, workspace_path, owner, mapped->header, bytes, error);
    if (code != RM_OK)
        rm_segment_unmap(mapped);
    else
        snprintf(mapped->owner, sizeof mapped->owner, "%s", owner);
    return code;
}

void rm_segment_unmap(struct rm_mapped_segment *mapped) {
    if (mapped->header != NULL)
        munmap((void *)(uintptr_t)mapped->header, mapped->bytes);
    mapped->header = NULL;
}
