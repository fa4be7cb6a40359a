// SPDX-License-Identifier: Apache-2.0
#include "frames/test_assembly_model.h"

#include <stdbool.h>
#include <stdlib.h>

#include "frames/assembly.h"

enum { FRAMES = 256, FRAGMENTS = 40, LONGEST = 96, FRAGMENTS_MAX = 12, LATER = 2, DEADLINE = 16, FIRST_NUMBER = 5000 };

/** A frame as the model has it. */
struct model_frame {
    struct rm_image_fragment taken[FRAGMENTS];
    uint32_t count;
    uint64_t since;
    uint32_t later_whole;
    bool begun, closed;
};

struct assembly_play {
    struct rm_assembly *assembly;
    struct model_frame frame[FRAMES];
    uint64_t now;
    int64_t closed_through;
    struct assembly_seen *seen;
};

/** Byte `offset` of a frame; never 0. */
static uint8_t pattern(uint64_t frame, uint64_t offset) { return (uint8_t)(1 + (frame * 31 + offset * 7) % 255); }

/** What all of them tell; false where two tell different things. */
static bool model_total(struct model_frame const *frame, uint64_t *total) {
    *total = 0;
    for (uint32_t i = 0; i < frame->count; ++i) {
        uint64_t const told = frame->taken[i].total_bytes;
        if (told != 0 && *total != 0 && told != *total)
            return false;
        *total = told != 0 ? told : *total;
    }
    return true;
}

static bool model_geometry_agrees(struct model_frame const *frame) {
    for (uint32_t i = 0; i < frame->count; ++i)
        for (uint32_t j = 0; j < i; ++j)
            if (frame->taken[i].has_geometry && frame->taken[j].has_geometry &&
                frame->taken[i].geometry.width != frame->taken[j].geometry.width)
                return false;
    return true;
}

/** Whether all fragments can be of one frame. */
static bool model_is_consistent(struct model_frame const *frame) {
    uint64_t total, furthest = 0, each = 0;
    if (!model_total(frame, &total) || !model_geometry_agrees(frame))
        return false;
    for (uint32_t i = 0; i < frame->count; ++i) {
        struct rm_image_fragment const *const one = &frame->taken[i];
        if (one->length == 0)
            continue;
        if (each != 0 && one->fragment_bytes != each)
            return false;
        each = one->fragment_bytes;
        if (one->length > each || one->offset % each != 0 || one->offset / each >= FRAGMENTS_MAX)
            return false;
        furthest = one->offset + one->length > furthest ? one->offset + one->length : furthest;
    }
    uint64_t const end = total != 0 ? total : furthest;
    if (end > LONGEST || furthest > end || (each != 0 && total > each * FRAGMENTS_MAX))
        return false;
    for (uint32_t i = 0; i < frame->count; ++i)
        if (frame->taken[i].length < each && frame->taken[i].length != 0 &&
            frame->taken[i].offset + frame->taken[i].length != end)
            return false;
    return true;
}

static bool model_has(struct model_frame const *frame, uint64_t offset) {
    for (uint32_t i = 0; i < frame->count; ++i)
        if (frame->taken[i].length != 0 && offset >= frame->taken[i].offset &&
            offset < frame->taken[i].offset + frame->taken[i].length)
            return true;
    return false;
}

static bool model_is_whole(struct model_frame const *frame) {
    uint64_t total;
    bool geometry = false;
    model_total(frame, &total);
    for (uint32_t i = 0; i < frame->count; ++i)
        geometry |= frame->taken[i].has_geometry;
    for (uint64_t offset = 0; offset < total; ++offset)
        if (!model_has(frame, offset))
            return false;
    return total != 0 && geometry;
}

/** What comes out next is this frame, to the byte. */
static char const *model_check_image(struct model_frame const *frame, uint64_t number, struct rm_image const *image) {
    uint64_t total, furthest = 0;
    model_total(frame, &total);
    for (uint64_t offset = 0; offset < LONGEST; ++offset)
        furthest = model_has(frame, offset) ? offset + 1 : furthest;
    if (image->length != (total != 0 ? total : furthest))
        return "a delivered frame has another length";
    for (uint64_t offset = 0; offset < image->length; ++offset)
        if (image->bytes[offset] != (model_has(frame, offset) ? pattern(number, offset) : 0))
            return "a delivered frame has other bytes";
    uint32_t first, end = 0;
    uint64_t missing = 0;
    while (rm_image_next_gap(image, &first, &end))
        missing += end - first;
    return missing + image->placed == image->fragments ? NULL : "gaps and fragments are not all";
}

/** The model closes a frame, which the assembly has closed as the next one. */
static char const *model_close(struct assembly_play *play, uint32_t number, enum rm_image_status status) {
    struct model_frame *const frame = &play->frame[number];
    frame->closed = true;
    play->closed_through = number > play->closed_through ? number : play->closed_through;
    ++*(status == RM_IMAGE_WHOLE ? &play->seen->whole : &play->seen->incomplete);
    struct rm_image const *const image = rm_assembly_take(play->assembly);
    if (image == NULL || image->frame != FIRST_NUMBER + number || image->status != status)
        return "another frame is delivered than the model closes";
    char const *const wrong = model_check_image(frame, FIRST_NUMBER + number, image);
    rm_assembly_release(play->assembly, image);
    return wrong;
}

static char const *model_close_whole(struct assembly_play *play, uint32_t whole) {
    char const *wrong = NULL;
    for (uint32_t i = 0; i < whole && wrong == NULL; ++i)
        if (play->frame[i].begun && !play->frame[i].closed && ++play->frame[i].later_whole >= LATER)
            wrong = model_close(play, i, RM_IMAGE_INCOMPLETE);
    return wrong != NULL ? wrong : model_close(play, whole, RM_IMAGE_WHOLE);
}

static char const *play_pass_time(struct assembly_play *play) {
    rm_assembly_expire(play->assembly, ++play->now);
    char const *wrong = NULL;
    for (uint32_t i = 0; i < FRAMES && wrong == NULL; ++i)
        if (play->frame[i].begun && !play->frame[i].closed && play->now - play->frame[i].since >= DEADLINE)
            wrong = model_close(play, i, RM_IMAGE_INCOMPLETE);
    return wrong;
}

static bool verdict_is_refusal(enum rm_assembly_counter verdict) {
    return verdict == RM_FRAGMENT_MISPLACED || verdict == RM_FRAGMENT_BEYOND || verdict == RM_FRAGMENT_CONTRADICTING;
}

/** Plays a fragment to both. */
static char const *play_put(struct assembly_play *play, uint32_t number, struct rm_image_fragment const *fragment) {
    struct model_frame *const frame = &play->frame[number];
    enum rm_assembly_counter const verdict = rm_assembly_put(play->assembly, fragment, play->now);
    if (frame->closed || (!frame->begun && (int64_t)number <= play->closed_through)) {
        ++play->seen->late;
        bool const is_late = verdict == (fragment->length != 0 ? RM_FRAGMENT_LATE : RM_FRAGMENT_TRAILING);
        return is_late || verdict_is_refusal(verdict) ? NULL : "a fragment of a closed frame is not late";
    }
    bool const here = fragment->length != 0 && model_has(frame, fragment->offset);
    frame->taken[frame->count++] = *fragment;
    if (!model_is_consistent(frame)) {
        --frame->count;
        ++play->seen->refused;
        return verdict_is_refusal(verdict) ? NULL : "a fragment is taken that fits no frame";
    }
    if (!frame->begun)
        frame->since = play->now;
    frame->begun = true;
    frame->count -= here && fragment->total_bytes == 0;
    ++*(here ? &play->seen->duplicate : &play->seen->accepted);
    enum rm_assembly_counter const wanted = here                    ? RM_FRAGMENT_DUPLICATE
                                            : fragment->length != 0 ? RM_FRAGMENT_PLACED
                                                                    : RM_FRAGMENT_INFORMED;
    if (verdict != wanted)
        return "a fragment ends in another way";
    return model_is_whole(frame) ? model_close_whole(play, number) : NULL;
}

static uint32_t true_each(uint64_t number) { return 8 + (uint32_t)(number % 5); }

static uint64_t true_total(uint64_t number) { return 1 + number * 37 % LONGEST; }

/** A fragment of a frame as a good camera makes it. `which` chooses; 0 is a leader, 1 a trailer. */
static struct rm_image_fragment true_fragment(uint64_t number, uint32_t which, uint8_t bytes[2 * LONGEST]) {
    uint32_t const each = true_each(number);
    uint64_t const total = true_total(number), count = (total + each - 1) / each, place = which / 2 % count;
    struct rm_image_fragment fragment = {.frame = number, .fragment_bytes = each, .total_bytes = total};
    if (which < 2) {
        fragment.has_geometry = which == 0;
        fragment.geometry.width = fragment.has_geometry;
        return fragment;
    }
    if (which % 2)
        fragment.total_bytes = 0;
    fragment.offset = place * each;
    fragment.length = place + 1 < count ? each : (uint32_t)(total - fragment.offset);
    for (uint32_t i = 0; i < 2 * LONGEST; ++i)
        bytes[i] = pattern(number, fragment.offset + i);
    fragment.bytes = bytes;
    return fragment;
}

/** Makes a fragment lie, or not. What its bytes are stays true. */
static void fragment_lie(struct rm_image_fragment *fragment, uint8_t lie) {
    if (lie < 192)
        return;
    if (lie & 1)
        fragment->total_bytes += 1 + (lie >> 1 & 7);
    if (lie & 2 && fragment->length > 1)
        --fragment->length;
    if (lie & 4)
        fragment->fragment_bytes += 1;
    if (lie & 8)
        fragment->geometry.width += fragment->has_geometry;
    if (lie & 16 && fragment->length != 0) {
        fragment->length += 1;
        fragment->fragment_bytes += lie & 1;
    }
}

char const *assembly_model_play(uint8_t const *script, size_t size, struct assembly_seen *seen) {
    struct rm_assembly_settings const settings = {.slots = RM_ASSEMBLY_SLOTS_MAX,
                                                  .bytes_max = LONGEST,
                                                  .fragments_max = FRAGMENTS_MAX,
                                                  .deadline_ticks = DEADLINE,
                                                  .restart_ticks = UINT64_MAX / 4,
                                                  .later = LATER,
                                                  .incomplete = RM_INCOMPLETE_DELIVER,
                                                  .streaming = size % 2};
    struct assembly_play *const play = calloc(1, sizeof *play);
    if (play == NULL)
        return "no memory";
    play->assembly = rm_assembly_new(&settings);
    play->closed_through = -1;
    play->seen = seen;
    uint32_t base = 0;
    char const *wrong = play->assembly == NULL ? "no assembly" : NULL;
    for (; size >= 3 && wrong == NULL; script += 3, size -= 3) {
        uint8_t bytes[2 * LONGEST];
        uint32_t const ahead = script[0] / 16 % 6, number = base + ahead;
        if (script[0] % 16 == 0) {
            base += base + 8 < FRAMES;
            wrong = play_pass_time(play);
        } else if (play->frame[number].count < FRAGMENTS - 1) {
            struct rm_image_fragment fragment = true_fragment(FIRST_NUMBER + number, script[1] % 26, bytes);
            fragment_lie(&fragment, script[2]);
            wrong = play_put(play, number, &fragment);
        }
    }
    rm_assembly_free(play->assembly);
    free(play);
    return wrong;
}
