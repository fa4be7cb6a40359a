// SPDX-License-Identifier: Apache-2.0
/** CRC-32C (Castagnoli, reflected polynomial 0x82F63B78, RFC 3720), as the processor's own instruction has it. */
#ifndef RM_ARCHIVE_CRC32C_H
#define RM_ARCHIVE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** The checksum of `bytes` bytes; of nothing it is 0. Some 20 bytes per nanosecond where the instruction is there. */
uint32_t rm_crc32c(void const *data, size_t bytes);

/** The same, bit by bit: what the fast one is compared with. */
uint32_t rm_crc32c_scalar(void const *data, size_t bytes);

#endif
