// SPDX-License-Identifier: Apache-2.0
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

enum rm_code rm_mapped_file_open(char const *path, struct rm_mapped_file *file, struct rm_error *error) {
    struct stat status;
    *file = (struct rm_mapped_file){.path = path};
    int const handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0 || fstat(handle, &status) != 0) {
        enum rm_code const code = errno == ENOENT ? RM_E_NOT_FOUND : RM_E_SYSTEM;
        rm_fail(error, code, "%s: %s", path, strerror(errno));
        if (handle >= 0)
            close(handle);
        return code;
    }
    file->bytes = (uint64_t)status.st_size;
    void *const data = file->bytes > 0 ? mmap(NULL, file->bytes, PROT_READ, MAP_SHARED, handle, 0) : NULL;
    int const why = errno;
    close(handle);
    if (data == MAP_FAILED)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be mapped: %s", path, strerror(why));
    file->data = data;
    return RM_OK;
}

void rm_mapped_file_close(struct rm_mapped_file *file) {
    if (file->data != NULL)
        munmap((void *)(uintptr_t)file->data, file->bytes);
    file->data = NULL;
}
