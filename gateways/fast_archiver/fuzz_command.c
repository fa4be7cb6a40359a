// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a line. Aborts where a mask that was taken has an id that there is not, where what was
 * taken is without an end, and where a mask is not what it is printed as. */
#include <stdlib.h>
#include <string.h>

#include "command.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void mask_check(struct fa_mask const *mask, unsigned id_count) {
    char text[FA_MASK_DIGITS + 2] = "R";
    struct fa_ids stretch[FA_IDS_MAX / 2];
    struct fa_mask again;
    struct fa_scan scan = {.line = text, .at = text};
    unsigned ids = 0;
    fa_mask_print(mask, id_count, text + 1);
    if (!fa_mask_scan(&scan, id_count, &again) || memcmp(&again, mask, sizeof again) != 0)
        abort();
    for (unsigned i = fa_mask_stretches(mask, stretch); i-- > 0;) {
        ids += stretch[i].count;
        if (stretch[i].first + stretch[i].count > id_count)
            abort();
    }
    if (ids == 0 || ids != fa_mask_count(mask))
        abort();
}

static void line_check(char const *line, unsigned id_count) {
    struct fa_subscription subscription;
    struct fa_read read;
    char error[FA_ERROR_BYTES];
    if (fa_command_kind(line) == FA_COMMAND_SUBSCRIPTION && fa_subscription_parse(line, id_count, &subscription, error))
        mask_check(&subscription.mask, id_count);
    if (fa_command_kind(line) != FA_COMMAND_READ || !fa_read_parse(line, id_count, &read, error))
        return;
    mask_check(&read.mask, id_count);
    if ((read.count == 0) == (read.end_utc_ns == 0) || read.start_utc_ns == 0 || read.fields == 0 || read.fields > 15)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    char *const line = malloc(size + 1);
    memcpy(line, data, size);
    line[size] = '\0';
    line_check(line, 32);
    line_check(line, FA_IDS_MAX);
    free(line);
    return 0;
}
