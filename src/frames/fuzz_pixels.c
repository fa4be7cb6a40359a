// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: the first two bytes are packing and width, the rest a line. Aborts where an instruction set does
 * not give the reference's bits; the sanitizer sees what is read or written beyond. */
#include <stdlib.h>
#include <string.h>

#include "frames/pixels.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void check_line(enum rm_pixel_packing packing, uint8_t const *line, uint32_t width, uint16_t const *sixteen,
                       uint8_t const *eight) {
    for (enum rm_simd simd = RM_SIMD_AVX2; simd <= rm_simd_best(); ++simd) {
        struct rm_unpackers const unpack = rm_unpackers_for(simd);
        uint16_t *const got16 = malloc(sizeof *got16 * width + 1);
        uint8_t *const got8 = malloc(width + 1ul);
        if (got16 == NULL || got8 == NULL)
            abort();
        unpack.to16(packing, line, width, got16);
        unpack.to8(packing, line, width, got8);
        if (memcmp(got16, sixteen, sizeof *got16 * width) != 0 || memcmp(got8, eight, width) != 0)
            abort();
        free(got16);
        free(got8);
    }
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    if (size < 2)
        return 0;
    enum rm_pixel_packing const packing = (enum rm_pixel_packing)(data[0] % RM_PACKINGS);
    uint32_t const width = data[1], bytes = rm_pixel_line_bytes(packing, width);
    if (size - 2 < bytes)
        return 0;
    uint8_t *const line = malloc(bytes + 1ul);
    if (line == NULL)
        abort();
    memcpy(line + 1, data + 2, bytes); /* ends where the sanitizer watches */
    uint16_t sixteen[256];
    uint8_t eight[256];
    struct rm_unpackers const reference = rm_unpackers_for(RM_SIMD_SCALAR);
    reference.to16(packing, line + 1, width, sixteen);
    reference.to8(packing, line + 1, width, eight);
    check_line(packing, line + 1, width, sixteen, eight);
    free(line);
    return 0;
}
