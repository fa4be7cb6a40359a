// SPDX-License-Identifier: Apache-2.0
#include "frames/assembly.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/large_pages.h"
#include "frames/assembly_state.h"

enum { BYTES_ALIGN = 64, MAP_BITS = 64 };

static char const *const counter_names[RM_ASSEMBLY_COUNTERS] = {
    [RM_FRAGMENT_PLACED] = "fragments placed",
    [RM_FRAGMENT_INFORMED] = "fragments without bytes",
    [RM_FRAGMENT_DUPLICATE] = "fragments that were here",
    [RM_FRAGMENT_LATE] = "fragments of closed frames",
    [RM_FRAGMENT_TRAILING] = "fragments without bytes of closed frames",
    [RM_FRAGMENT_MISPLACED] = "fragments misplaced",
    [RM_FRAGMENT_BEYOND] = "fragments beyond frame or memory",
    [RM_FRAGMENT_CONTRADICTING] = "fragments that contradict their frame",
    [RM_FRAGMENT_WITHOUT_ROOM] = "fragments without room",
    [RM_FRAMES_BEGUN] = "frames begun",
    [RM_FRAMES_WHOLE] = "frames whole",
    [RM_FRAMES_INCOMPLETE] = "frames incomplete",
    [RM_FRAMES_FILLED] = "frames filled from the last",
    [RM_FRAMES_DROPPED] = "frames dropped",
    [RM_FRAMES_AT_DEADLINE] = "frames closed at their deadline",
    [RM_FRAMES_BEHIND_LATER] = "frames closed behind whole ones",
    [RM_FRAMES_FOR_ROOM] = "frames closed for room",
    [RM_FRAMES_AT_RESTART] = "frames closed at a restart",
    [RM_FRAMES_UNREAD] = "frames unread",
    [RM_FRAMES_SKIPPED] = "frames skipped",
    [RM_FRAMES_OUT_OF_ORDER] = "frames out of order",
    [RM_CAMERA_RESTARTS] = "restarts of the camera",
    [RM_GEOMETRY_CHANGES] = "changes of the geometry",
};

/** Whether slots of memory from outside hold frames and maps. */
static bool memory_is_possible(struct rm_assembly_settings const *settings) {
    return settings->bytes == NULL || (settings->maps != NULL && settings->frame_stride_bytes >= settings->bytes_max &&
                                       settings->frame_stride_bytes % BYTES_ALIGN == 0 &&
                                       settings->map_stride_bytes >= rm_assembly_map_bytes(settings->fragments_max) &&
                                       settings->map_stride_bytes % sizeof *settings->maps == 0);
}

static bool settings_are_possible(struct rm_assembly_settings const *settings) {
    return settings->slots >= 2 && settings->slots <= RM_ASSEMBLY_SLOTS_MAX && settings->bytes_max >= 1 &&
           settings->bytes_max <= (uint64_t)1 << 40 && settings->fragments_max >= 1 && settings->later >= 1 &&
           settings->incomplete <= RM_INCOMPLETE_FILL && memory_is_possible(settings);
}

uint64_t rm_assembly_map_bytes(uint32_t fragments_max) {
    return ((uint64_t)fragments_max + MAP_BITS - 1) / MAP_BITS * sizeof(uint64_t);
}

/** Gives the settings memory of its own, where they have none from outside. */
static bool assembly_allocate(struct rm_assembly *assembly) {
    struct rm_assembly_settings *const settings = &assembly->settings;
    if (settings->bytes != NULL)
        return true;
    settings->frame_stride_bytes = (settings->bytes_max + BYTES_ALIGN - 1) / BYTES_ALIGN * BYTES_ALIGN;
    settings->map_stride_bytes = rm_assembly_map_bytes(settings->fragments_max);
    uint64_t const bytes = settings->slots * settings->frame_stride_bytes;
    settings->maps = assembly->maps = calloc(settings->slots, settings->map_stride_bytes);
    assembly->data_bytes = rm_large_pages_bytes(bytes);
    settings->bytes = assembly->data = rm_large_pages_map(bytes);
    return assembly->maps != NULL && assembly->data != NULL;
}

struct rm_assembly *rm_assembly_new(struct rm_assembly_settings const *settings) {
    if (!settings_are_possible(settings))
        return NULL;
    struct rm_assembly *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->settings = *settings;
    made->copy = rm_stream_copy_for(RM_SIMD_BEST);
    made->recent = made->last = NO_SLOT;
    made->map_words = (uint32_t)(rm_assembly_map_bytes(settings->fragments_max) / sizeof *made->maps);
    made->slot = calloc(settings->slots, sizeof *made->slot);
    if (made->slot == NULL || !assembly_allocate(made)) {
        rm_assembly_free(made);
        return NULL;
    }
    for (uint32_t i = 0; i < settings->slots; ++i) {
        made->slot[i].image.slot = i;
        made->slot[i].bytes = made->settings.bytes + i * made->settings.frame_stride_bytes;
        made->slot[i].map = made->settings.maps + i * made->settings.map_stride_bytes / sizeof *made->settings.maps;
    }
    return made;
}

void rm_assembly_free(struct rm_assembly *assembly) {
    if (assembly == NULL)
        return;
    if (assembly->data != NULL)
        munmap(assembly->data, assembly->data_bytes);
    free(assembly->slot);
    free(assembly->maps);
    free(assembly);
}

uint64_t const *rm_assembly_counts(struct rm_assembly const *assembly) { return assembly->count; }

char const *rm_assembly_counter_name(enum rm_assembly_counter counter) { return counter_names[counter]; }

static bool map_has(uint64_t const *map, uint32_t fragment) { return map[fragment / 64] >> fragment % 64 & 1; }

bool rm_image_next_gap(struct rm_image const *image, uint32_t *first, uint32_t *end) {
    uint32_t at = *end;
    while (at < image->fragments && map_has(image->map, at))
        ++at;
    if (at >= image->fragments)
        return false;
    *first = at;
    while (at < image->fragments && !map_has(image->map, at))
        ++at;
    *end = at;
    return true;
}

struct rm_image const *rm_assembly_in_flight(struct rm_assembly const *assembly, struct rm_image const *after) {
    struct rm_image const *found = NULL;
    for (uint32_t i = 0; i < assembly->settings.slots; ++i) {
        struct image_slot const *const slot = &assembly->slot[i];
        if (slot->state == SLOT_IN_FLIGHT &&
            (after == NULL || assembly_ahead(assembly, slot->image.frame, after->frame) > 0) &&
            (found == NULL || assembly_ahead(assembly, found->frame, slot->image.frame) > 0))
            found = &slot->image;
    }
    return found;
}

static uint32_t assembly_find(struct rm_assembly const *assembly, uint64_t frame) {
    uint32_t const recent = assembly->recent;
    if (recent != NO_SLOT && assembly->slot[recent].state == SLOT_IN_FLIGHT &&
        assembly->slot[recent].image.frame == frame)
        return recent;
    for (uint32_t i = 0; i < assembly->settings.slots; ++i)
        if (assembly->slot[i].state == SLOT_IN_FLIGHT && assembly->slot[i].image.frame == frame)
            return i;
    return NO_SLOT;
}

/** Whether a fragment with bytes can be one of this frame, whose total, or 0, is what both tell. */
static enum rm_assembly_counter fragment_check_place(struct rm_image_fragment const *fragment,
                                                     struct image_slot const *slot, uint64_t total) {
    uint64_t const end = fragment->offset + fragment->length;
    bool const is_short = fragment->length < fragment->fragment_bytes;
    if (slot->image.fragment_bytes != 0 && slot->image.fragment_bytes != fragment->fragment_bytes)
        return RM_FRAGMENT_CONTRADICTING;
    if (total != 0 && end > total)
        return RM_FRAGMENT_BEYOND;
    if (is_short && ((total != 0 && end != total) || end < slot->reach || (slot->short_end && end != slot->short_end)))
        return RM_FRAGMENT_CONTRADICTING;
    if (slot->short_end != 0 && end > slot->short_end)
        return RM_FRAGMENT_CONTRADICTING;
    return RM_FRAGMENT_PLACED;
}

/** Whether a frame has the bytes that its geometry needs, as soon as the fragment and its frame tell both. */
static bool fragment_fits_geometry(struct rm_image_fragment const *fragment, struct image_slot const *slot,
                                   uint64_t total) {
    bool const is_checked = slot->total != 0 && slot->image.has_geometry;
    if (is_checked || total == 0 || (!fragment->has_geometry && !slot->image.has_geometry))
        return true;
    return rm_image_bytes(fragment->has_geometry ? &fragment->geometry : &slot->image.geometry) <= total;
}

/** What a fragment comes to in this frame, before it is looked at whether it is here already. */
static enum rm_assembly_counter fragment_check(struct rm_assembly const *assembly,
                                               struct rm_image_fragment const *fragment,
                                               struct image_slot const *slot) {
    struct rm_image const *const image = &slot->image;
    uint64_t const total = fragment->total_bytes != 0 ? fragment->total_bytes : slot->total;
    uint32_t const each = fragment->length != 0 ? fragment->fragment_bytes : image->fragment_bytes;
    if (slot->total != 0 && total != slot->total)
        return RM_FRAGMENT_CONTRADICTING;
    if (fragment->has_geometry && image->has_geometry &&
        memcmp(&fragment->geometry, &image->geometry, sizeof image->geometry) != 0)
        return RM_FRAGMENT_CONTRADICTING;
    if (!fragment_fits_geometry(fragment, slot, total))
        return RM_FRAGMENT_CONTRADICTING;
    if (total > assembly->settings.bytes_max || fragments_of(total, each) > assembly->settings.fragments_max)
        return RM_FRAGMENT_BEYOND;
    if (total != 0 && (total < slot->reach || (slot->short_end != 0 && total != slot->short_end)))
        return RM_FRAGMENT_CONTRADICTING;
    return fragment->length != 0 ? fragment_check_place(fragment, slot, total) : RM_FRAGMENT_INFORMED;
}

/** What is wrong with a fragment whatever its frame; RM_FRAGMENT_PLACED: nothing. */
static enum rm_assembly_counter fragment_check_alone(struct rm_assembly const *assembly,
                                                     struct rm_image_fragment const *fragment) {
    if (fragment->length == 0)
        return RM_FRAGMENT_PLACED;
    if (fragment->length > fragment->fragment_bytes || fragment->offset % fragment->fragment_bytes != 0)
        return RM_FRAGMENT_MISPLACED;
    uint64_t const room = assembly->settings.bytes_max;
    if (fragment->offset >= room || fragment->length > room - fragment->offset ||
        fragment->offset / fragment->fragment_bytes >= assembly->settings.fragments_max)
        return RM_FRAGMENT_BEYOND;
    return RM_FRAGMENT_PLACED;
}

/** What a number without a frame in flight is. */
enum number_kind { NUMBER_NEW, NUMBER_OUT_OF_ORDER, NUMBER_OLD, NUMBER_RESTARTED };

static enum number_kind number_judge(struct rm_assembly const *assembly, uint64_t frame, uint64_t now_ticks) {
    if (!assembly->any_begun)
        return NUMBER_NEW;
    int64_t const ahead = assembly_ahead(assembly, frame, assembly->newest);
    if (ahead > RM_ASSEMBLY_WINDOW || ahead < -RM_ASSEMBLY_WINDOW)
        return NUMBER_RESTARTED;
    if (ahead > 0)
        return NUMBER_NEW;
    if (!assembly->any_closed || assembly_ahead(assembly, frame, assembly->closed_through) > 0)
        return NUMBER_OUT_OF_ORDER;
    return ticks_since(assembly->current_ticks, now_ticks) >= assembly->settings.restart_ticks ? NUMBER_RESTARTED
                                                                                               : NUMBER_OLD;
}

/** Numbers between the newest frame and this newer one; 0 is none of the short ones. */
static uint64_t numbers_skipped(struct rm_assembly const *assembly, uint64_t frame) {
    uint64_t const ahead = (uint64_t)assembly_ahead(assembly, frame, assembly->newest);
    bool const past_zero = assembly->settings.short_numbers && frame != 0 && frame < assembly->newest;
    return ahead - 1 - (past_zero && ahead > 1);
}

static void assembly_restart(struct rm_assembly *assembly, uint64_t now_ticks) {
    ++assembly->count[RM_CAMERA_RESTARTS];
    for (struct rm_image const *image; (image = rm_assembly_in_flight(assembly, NULL)) != NULL;)
        assembly_close(assembly, (uint32_t)((struct image_slot const *)image - assembly->slot), CLOSED_AT_RESTART,
                       now_ticks);
    assembly->any_begun = assembly->any_closed = false;
}

void rm_assembly_renumber(struct rm_assembly *assembly, bool short_numbers, uint64_t now_ticks) {
    if (assembly->any_begun)
        assembly_restart(assembly, now_ticks);
    assembly->settings.short_numbers = short_numbers;
}

/** Begins a frame; NO_SLOT without room. */
static uint32_t assembly_begin(struct rm_assembly *assembly, uint64_t frame, enum number_kind kind,
                               uint64_t now_ticks) {
    if (kind == NUMBER_RESTARTED)
        assembly_restart(assembly, now_ticks);
    uint32_t const index = assembly_make_room(assembly, frame);
    if (index == NO_SLOT)
        return NO_SLOT;
    struct image_slot *const slot = &assembly->slot[index];
    *slot = (struct image_slot){
        .image = {.slot = index, .frame = frame, .bytes = slot->bytes, .map = slot->map, .first_ticks = now_ticks},
        .state = SLOT_IN_FLIGHT,
        .bytes = slot->bytes,
        .map = slot->map,
    };
    memset(slot->map, 0, assembly->map_words * sizeof *slot->map);
    ++assembly->count[RM_FRAMES_BEGUN];
    if (kind == NUMBER_OUT_OF_ORDER) {
        ++assembly->count[RM_FRAMES_OUT_OF_ORDER];
    } else {
        if (assembly->any_begun)
            assembly->count[RM_FRAMES_SKIPPED] += numbers_skipped(assembly, frame);
        assembly->newest = frame;
    }
    assembly->any_begun = true;
    return index;
}

/** Takes over what a fragment tells of its frame. */
static void slot_learn(struct image_slot *slot, struct rm_image_fragment const *fragment) {
    struct rm_image *const image = &slot->image;
    uint64_t const end = fragment->offset + fragment->length;
    if (fragment->total_bytes != 0)
        slot->total = fragment->total_bytes;
    if (fragment->has_geometry && !image->has_geometry) {
        image->has_geometry = true;
        image->geometry = fragment->geometry;
        image->time = fragment->time;
    }
    if (fragment->length != 0) {
        image->fragment_bytes = fragment->fragment_bytes;
        slot->reach = end > slot->reach ? end : slot->reach;
        if (fragment->length < fragment->fragment_bytes)
            slot->short_end = end;
    }
    image->length = slot->total != 0 ? slot->total : slot->reach;
    image->fragments = (uint32_t)fragments_of(image->length, image->fragment_bytes);
}

/** Puts the bytes to their place; false where they are. */
static bool assembly_place(struct rm_assembly *assembly, struct image_slot *slot,
                           struct rm_image_fragment const *fragment) {
    uint32_t const number = (uint32_t)(fragment->offset / fragment->fragment_bytes);
    if (map_has(slot->map, number))
        return false;
    slot->map[number / MAP_BITS] |= (uint64_t)1 << number % MAP_BITS;
    ++slot->image.placed;
    if (assembly->settings.streaming)
        assembly->copy(slot->bytes + fragment->offset, fragment->bytes, fragment->length);
    else
        memcpy(slot->bytes + fragment->offset, fragment->bytes, fragment->length);
    return true;
}

static bool slot_is_whole(struct image_slot const *slot) {
    return slot->total != 0 && slot->image.has_geometry && slot->image.fragments != 0 &&
           slot->image.placed == slot->image.fragments;
}

static enum rm_assembly_counter assembly_take_fragment(struct rm_assembly *assembly,
                                                       struct rm_image_fragment const *fragment, uint64_t now_ticks) {
    static struct image_slot const empty;
    enum rm_assembly_counter verdict = fragment_check_alone(assembly, fragment);
    if (verdict != RM_FRAGMENT_PLACED)
        return verdict;
    uint64_t const frame = assembly->settings.short_numbers ? (uint16_t)fragment->frame : fragment->frame;
    uint32_t index = assembly_find(assembly, frame);
    enum number_kind const kind = index != NO_SLOT ? NUMBER_NEW : number_judge(assembly, frame, now_ticks);
    if (kind == NUMBER_OLD)
        return fragment->length != 0 ? RM_FRAGMENT_LATE : RM_FRAGMENT_TRAILING;
    verdict = fragment_check(assembly, fragment, index != NO_SLOT ? &assembly->slot[index] : &empty);
    if (verdict != RM_FRAGMENT_PLACED && verdict != RM_FRAGMENT_INFORMED)
        return verdict;
    if (index == NO_SLOT)
        index = assembly_begin(assembly, frame, kind, now_ticks);
    if (index == NO_SLOT)
        return RM_FRAGMENT_WITHOUT_ROOM;
    assembly->recent = index;
    assembly->current_ticks = now_ticks;
    struct image_slot *const slot = &assembly->slot[index];
    slot_learn(slot, fragment);
    if (fragment->length != 0 && !assembly_place(assembly, slot, fragment))
        verdict = RM_FRAGMENT_DUPLICATE;
    else
        slot->image.newest_ticks = now_ticks;
    if (slot_is_whole(slot))
        assembly_close(assembly, index, CLOSED_WHOLE, now_ticks);
    return verdict;
}

enum rm_assembly_counter rm_assembly_put(struct rm_assembly *assembly, struct rm_image_fragment const *fragment,
                                         uint64_t now_ticks) {
    enum rm_assembly_counter const verdict = assembly_take_fragment(assembly, fragment, now_ticks);
    ++assembly->count[verdict];
    return verdict;
}
