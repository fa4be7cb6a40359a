// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "frames/assembly.h"
#include "frames/test_assembly_model.h"

enum { SLOTS = 4, LONGEST = 96, FRAGMENTS_MAX = 12, LEASES = 3 };

/** A frame that is held, and what it was when it was taken. */
struct hostile_lease {
    struct rm_image const *image;
    uint8_t copy[LONGEST];
};

struct hostile_play {
    struct rm_assembly *assembly;
    struct hostile_lease lease[LEASES];
    uint64_t put, taken;
    bool fills, short_numbers;
};

/** Every byte of a fragment is of its frame's number and its place; never 0. */
static uint8_t hostile_byte(uint64_t frame, uint64_t offset) { return (uint8_t)(1 + (frame * 31 + offset * 7) % 255); }

static bool hostile_has(struct rm_image const *image, uint64_t offset) {
    uint64_t const fragment = image->fragment_bytes != 0 ? offset / image->fragment_bytes : 0;
    return image->fragment_bytes != 0 && image->map[fragment / 64] >> fragment % 64 & 1;
}

static char const *hostile_check(struct hostile_play const *play, struct rm_image const *image) {
    if (image->length > LONGEST || image->fragments > FRAGMENTS_MAX || image->placed > image->fragments)
        return "a frame is larger than its memory";
    if (image->status == RM_IMAGE_WHOLE && (image->placed != image->fragments || !image->has_geometry))
        return "a whole frame is not whole";
    if (image->status == RM_IMAGE_FILLED && !play->fills)
        return "a frame is filled without being asked";
    for (uint64_t offset = 0; offset < image->length; ++offset) {
        if (hostile_has(image, offset) && image->bytes[offset] != hostile_byte(image->frame, offset))
            return "a fragment that came is not what was put in";
        if (!hostile_has(image, offset) && (image->bytes[offset] != 0) != (image->status == RM_IMAGE_FILLED))
            return "what is missing is neither zero nor filled";
    }
    return NULL;
}

static char const *hostile_take(struct hostile_play *play, struct hostile_lease *lease) {
    if (lease->image != NULL) {
        bool const same = memcmp(lease->copy, lease->image->bytes, lease->image->length) == 0;
        char const *const wrong = same ? hostile_check(play, lease->image) : "a leased frame has changed";
        rm_assembly_release(play->assembly, lease->image);
        lease->image = NULL;
        return wrong;
    }
    lease->image = rm_assembly_take(play->assembly);
    if (lease->image == NULL)
        return NULL;
    ++play->taken;
    memcpy(lease->copy, lease->image->bytes, lease->image->length);
    return hostile_check(play, lease->image);
}

static void hostile_put(struct hostile_play *play, uint8_t const script[6], uint64_t now) {
    static uint64_t const far[] = {0, 65500, 5000, (uint64_t)1 << 63};
    uint64_t const frame = far[script[1] < 253 ? script[0] / 250 : script[1] % 4] + script[1] % 4;
    uint32_t const each = 8 + script[1] % 2 * 4 + (script[4] == 12), place = script[3] % 6, kind = script[2] / 16;
    uint8_t bytes[256];
    struct rm_image_fragment fragment = {
        .frame = frame,
        .offset = (uint64_t)place * each + (script[4] == 9),
        .bytes = bytes,
        .length = kind < 2             ? 0
                  : script[4] % 8 == 0 ? script[4] / 8
                                       : each,
        .fragment_bytes = script[4] == 10 ? 0 : each,
        .total_bytes = script[5] % 4 == 0   ? 0
                       : script[5] % 4 == 1 ? script[5] / 4 * 2
                                            : 48,
        .has_geometry = kind % 4 == 0,
        .geometry.width = script[5] == 255,
    };
    if (script[4] == 11)
        fragment.offset = UINT64_MAX - UINT64_MAX % each;
    for (uint32_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = hostile_byte(play->short_numbers ? (uint16_t)frame : frame, fragment.offset + i);
    rm_assembly_put(play->assembly, &fragment, now);
    ++play->put;
}

/** Nothing begins or ends without being counted. */
static char const *hostile_account(struct hostile_play *play, struct assembly_seen *seen) {
    for (uint32_t i = 0; i < LEASES; ++i)
        if (play->lease[i].image != NULL)
            rm_assembly_release(play->assembly, play->lease[i].image);
    for (struct rm_image const *image; (image = rm_assembly_take(play->assembly)) != NULL; ++play->taken)
        rm_assembly_release(play->assembly, image);
    uint64_t const *const count = rm_assembly_counts(play->assembly);
    uint64_t fragments = 0, in_flight = 0;
    for (uint32_t i = 0; i < RM_FRAGMENT_COUNTERS; ++i)
        fragments += count[i];
    for (struct rm_image const *image = NULL; (image = rm_assembly_in_flight(play->assembly, image)) != NULL;)
        ++in_flight;
    uint64_t const early = count[RM_FRAMES_INCOMPLETE] + count[RM_FRAMES_FILLED] + count[RM_FRAMES_DROPPED];
    uint64_t const causes = count[RM_FRAMES_AT_DEADLINE] + count[RM_FRAMES_BEHIND_LATER] + count[RM_FRAMES_FOR_ROOM] +
                            count[RM_FRAMES_AT_RESTART];
    uint64_t const delivered = count[RM_FRAMES_WHOLE] + count[RM_FRAMES_INCOMPLETE] + count[RM_FRAMES_FILLED];
    seen->whole += count[RM_FRAMES_WHOLE];
    seen->incomplete += early;
    seen->late += count[RM_FRAGMENT_LATE];
    if (fragments != play->put)
        return "a fragment ended uncounted, or twice";
    if (count[RM_FRAMES_BEGUN] != count[RM_FRAMES_WHOLE] + early + in_flight)
        return "a frame ended uncounted, or twice";
    if (early != causes)
        return "a frame closed without cause, or for two";
    return delivered == play->taken + count[RM_FRAMES_UNREAD] ? NULL : "a delivered frame is lost";
}

char const *assembly_hostile_play(uint8_t const *script, size_t size, struct assembly_seen *seen) {
    if (size < 1)
        return NULL;
    struct rm_assembly_settings const settings = {.slots = SLOTS,
                                                  .bytes_max = LONGEST,
                                                  .fragments_max = FRAGMENTS_MAX,
                                                  .deadline_ticks = 40,
                                                  .restart_ticks = 60,
                                                  .later = 1 + script[0] / 16 % 2,
                                                  .incomplete = (enum rm_incomplete)(script[0] % 3),
                                                  .streaming = script[0] & 64,
                                                  .short_numbers = script[0] & 128};
    struct hostile_play play = {.assembly = rm_assembly_new(&settings),
                                .fills = settings.incomplete == RM_INCOMPLETE_FILL,
                                .short_numbers = settings.short_numbers};
    char const *wrong = play.assembly == NULL ? "no assembly" : NULL;
    uint64_t now = UINT64_MAX - 500; /* and around */
    for (++script, --size; size >= 6 && wrong == NULL; script += 6, size -= 6) {
        if (script[0] < 24)
            wrong = hostile_take(&play, &play.lease[script[1] % LEASES]);
        else if (script[0] < 48)
            rm_assembly_expire(play.assembly, now += script[1] / 4);
        else
            hostile_put(&play, script, ++now);
    }
    wrong = wrong != NULL ? wrong : hostile_account(&play, seen);
    rm_assembly_free(play.assembly);
    return wrong;
}
