// SPDX-License-Identifier: Apache-2.0
/** Private memory on large pages, where the kernel has them to give (transparent huge pages: `madvise` or `always` in
 * /sys/kernel/mm/transparent_hugepage/enabled), and on small ones elsewhere. */
#ifndef RM_BASE_LARGE_PAGES_H
#define RM_BASE_LARGE_PAGES_H

#include <stddef.h>

enum { RM_LARGE_PAGE_BYTES = 2 << 20 };

/** So many bytes, rounded up to whole large pages. */
size_t rm_large_pages_bytes(size_t bytes);

/** Maps zeroed memory at a large page, rm_large_pages_bytes of it; NULL: there is none. munmap gives it back. */
void *rm_large_pages_map(size_t bytes);

#endif
