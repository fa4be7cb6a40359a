// SPDX-License-Identifier: Apache-2.0
/** What a caller in another language compares with the structs that it was told of. */
#include <string.h>

#include <ringmaster/archive_read.h>

#define SIZE_OF(name)                                                                                                  \
    { #name, sizeof(struct name) }

size_t rm_archive_size_of(char const *name) {
    static struct {
        char const *name;
        size_t size;
    } const structs[] = {
        SIZE_OF(rm_stream_view),     SIZE_OF(rm_stream_look),
        SIZE_OF(rm_error),           SIZE_OF(rm_lane_info),
        SIZE_OF(rm_log_header),      SIZE_OF(rm_block),
        SIZE_OF(rm_block_place),     SIZE_OF(rm_archived_object),
        SIZE_OF(rm_reduced),         SIZE_OF(rm_mark),
        SIZE_OF(rm_archive_file),    SIZE_OF(rm_archive_block),
        SIZE_OF(rm_archive_run),     SIZE_OF(rm_archive_object),
        SIZE_OF(rm_archive_mark),    SIZE_OF(rm_archive_damage),
        SIZE_OF(rm_archive_foreign), SIZE_OF(rm_archive_answer),
        SIZE_OF(rm_archive_request), SIZE_OF(rm_archive_range),
        SIZE_OF(rm_archived_image),  SIZE_OF(rm_archive_image),
    };
    for (size_t i = 0; i < sizeof structs / sizeof structs[0]; ++i)
        if (strcmp(structs[i].name, name) == 0)
            return structs[i].size;
    return 0;
}
