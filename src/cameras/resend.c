// SPDX-License-Identifier: Apache-2.0
#include "cameras/resend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAP_BITS = 64,
    LEADER = 0,
    /** Leader and trailer. */
    PACKETS_BESIDE_PAYLOAD = 2,
    LOOKS_IN_REORDER_TIME = 5,
    /** Of a second: what may be asked for at once. */
    BURSTS_IN_SECOND = 10,
};

/** A packet of a frame, since it was first found missing; before that 0. */
struct packet_state {
    /** When it is asked for next, since the frame's first packet. */
    uint64_t due_ticks : 56;
    uint64_t tries : 8;
};

/** A frame of which packets were missing, in the slot of its image. */
struct frame_state {
    bool used, over_budget;
    uint64_t frame, first_ticks;
    uint32_t asked;
    /** Packet ids up to that behind the last fragment. */
    struct packet_state *packet;
};

struct rm_resend {
    struct rm_resend_settings settings;
    bool any, extended_ids;
    /** This block and those before it have ended: its trailer or a packet of the next one came. */
    uint64_t ended_through;
    uint64_t next_look_ticks, filled_ticks;
    /** Packets that may be asked for by the second's bound. */
    double tokens;
    uint16_t request;
    struct frame_state *frame;
    struct packet_state *packets;
    struct rm_resend_counts count;
};

/** What a poll works on. */
struct resend_look {
    struct rm_resend *resend;
    struct rm_image const *image;
    struct frame_state *frame;
    uint64_t now_ticks;
    /** The furthest packet that came; 0: none of the payload. */
    uint32_t furthest;
    uint32_t budget;
    struct rm_gvcp_resend *request;
    uint32_t count;
};

struct rm_resend_settings rm_resend_usual(double percent, uint64_t deadline_ticks, uint64_t ticks_per_second) {
    return (struct rm_resend_settings){
        .deadline_ticks = deadline_ticks,
        .percent = percent,
        .ticks_per_second = ticks_per_second,
        .packets_per_second = 10000,
        .reorder_packets = 16,
        .reorder_ticks = ticks_per_second / 2000,
        .quiet_ticks = deadline_ticks / 2,
        .timeout_ticks = ticks_per_second / 200,
        .tries = 5,
    };
}

static bool settings_are_possible(struct rm_resend_settings const *settings) {
    return settings->slots >= 1 && settings->slots <= RM_ASSEMBLY_SLOTS_MAX && settings->fragments_max >= 1 &&
           settings->percent >= 0 && settings->percent <= 100 && settings->ticks_per_second >= 1 &&
           settings->packets_per_second >= 1 && settings->tries >= 1 && settings->tries <= RM_RESEND_TRIES_MAX;
}

static double tokens_most(struct rm_resend_settings const *settings) {
    return fmax(1, (double)settings->packets_per_second / BURSTS_IN_SECOND);
}

struct rm_resend *rm_resend_new(struct rm_resend_settings const *settings) {
    if (!settings_are_possible(settings))
        return NULL;
    struct rm_resend *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    size_t const packets = (size_t)settings->fragments_max + PACKETS_BESIDE_PAYLOAD;
    made->settings = *settings;
    made->tokens = tokens_most(settings);
    made->frame = calloc(settings->slots, sizeof *made->frame);
    made->packets = calloc(settings->slots * packets, sizeof *made->packets);
    if (made->frame == NULL || made->packets == NULL) {
        rm_resend_free(made);
        return NULL;
    }
    for (uint32_t i = 0; i < settings->slots; ++i)
        made->frame[i].packet = made->packets + i * packets;
    return made;
}

void rm_resend_free(struct rm_resend *resend) {
    if (resend == NULL)
        return;
    free(resend->packets);
    free(resend->frame);
    free(resend);
}

/** How far block `a` is ahead of `b`, around the wrap. */
static int64_t block_ahead(struct rm_resend const *resend, uint64_t a, uint64_t b) {
    return resend->extended_ids ? (int64_t)(a - b) : (int16_t)(uint16_t)(a - b);
}

static struct frame_state *frame_find(struct rm_resend *resend, uint64_t block) {
    for (uint32_t i = 0; i < resend->settings.slots; ++i)
        if (resend->frame[i].used && resend->frame[i].frame == block)
            return &resend->frame[i];
    return NULL;
}

static void resend_note_gone(struct rm_resend *resend, struct rm_gvsp_packet const *packet) {
    struct frame_state *const frame = frame_find(resend, packet->block);
    if (frame == NULL || packet->packet >= resend->settings.fragments_max + PACKETS_BESIDE_PAYLOAD)
        return;
    ++resend->count.unavailable;
    frame->packet[packet->packet].tries = resend->settings.tries;
}

void rm_resend_note(struct rm_resend *resend, struct rm_gvsp_packet const *packet) {
    resend->extended_ids = packet->extended_ids;
    if (packet->status == RM_GVSP_STATUS_UNAVAILABLE)
        resend_note_gone(resend, packet);
    uint64_t const ended = packet->block - (packet->format != RM_GVSP_TRAILER && packet->format != RM_GVSP_ALL_IN);
    int64_t const ahead = block_ahead(resend, ended, resend->ended_through);
    if (!resend->any || ahead > 0 || ahead < -RM_ASSEMBLY_WINDOW)
        resend->ended_through = ended;
    resend->any = true;
}

/** Fragments up to the furthest that came. */
static uint32_t image_reach(struct rm_image const *image) {
    uint32_t word = (image->fragments + MAP_BITS - 1) / MAP_BITS;
    while (word > 0 && image->map[word - 1] == 0)
        --word;
    return word == 0 ? 0 : word * MAP_BITS - (uint32_t)__builtin_clzll(image->map[word - 1]);
}

static bool image_has_ended(struct resend_look const *look) {
    struct rm_resend const *const resend = look->resend;
    bool const quiet = look->now_ticks - look->image->newest_ticks >= resend->settings.quiet_ticks;
    return quiet || (resend->any && block_ahead(resend, resend->ended_through, look->image->frame) >= 0);
}

static struct frame_state *frame_of(struct rm_resend const *resend, struct rm_image const *image) {
    struct frame_state *const frame = &resend->frame[image->slot];
    bool const same = frame->used && frame->frame == image->frame && frame->first_ticks == image->first_ticks;
    return same ? frame : NULL;
}

/** The state of the frame whose packet is missing, which begins here where there is none. */
static void look_find_frame(struct resend_look *look) {
    struct rm_resend const *const resend = look->resend;
    if (look->frame == NULL)
        look->frame = frame_of(resend, look->image);
    if (look->frame != NULL)
        return;
    look->frame = &resend->frame[look->image->slot];
    struct packet_state *const packet = look->frame->packet;
    memset(packet, 0, ((size_t)resend->settings.fragments_max + PACKETS_BESIDE_PAYLOAD) * sizeof *packet);
    *look->frame = (struct frame_state){
        .used = true, .frame = look->image->frame, .first_ticks = look->image->first_ticks, .packet = packet};
}

/** A packet into the last request, where it is the next one, or into a new one. False: there is no room. */
static bool look_request(struct resend_look *look, uint32_t packet) {
    struct rm_resend *const resend = look->resend;
    struct rm_gvcp_resend *const last = look->count == 0 ? NULL : &look->request[look->count - 1];
    if (last != NULL && last->block == look->image->frame && last->last + 1 == packet) {
        last->last = packet;
        return true;
    }
    if (look->count == RM_RESEND_REQUESTS)
        return false;
    resend->request = resend->request == UINT16_MAX ? 1 : (uint16_t)(resend->request + 1);
    look->request[look->count++] = (struct rm_gvcp_resend){.request = resend->request,
                                                           .extended_ids = resend->extended_ids,
                                                           .block = look->image->frame,
                                                           .first = packet,
                                                           .last = packet};
    ++resend->count.requests;
    return true;
}

/** Whether a bound forbids one packet more. */
static bool look_is_over_budget(struct resend_look *look) {
    struct rm_resend *const resend = look->resend;
    if (look->frame->asked >= look->budget) {
        resend->count.frames_over_budget += !look->frame->over_budget;
        look->frame->over_budget = true;
        return true;
    }
    if (resend->tokens >= 1)
        return false;
    ++resend->count.polls_over_budget;
    return true;
}

/** Asks for a missing packet where it is due. False: nothing more can be asked for of this frame. */
static bool look_at_packet(struct resend_look *look, uint32_t packet) {
    struct rm_resend *const resend = look->resend;
    struct rm_resend_settings const *const settings = &resend->settings;
    look_find_frame(look);
    struct packet_state *const state = &look->frame->packet[packet];
    uint64_t const age = look->now_ticks - look->image->first_ticks;
    if (state->due_ticks == 0)
        state->due_ticks = age + settings->reorder_ticks + 1;
    bool const passed = state->tries == 0 && look->furthest >= packet + settings->reorder_packets;
    if (state->tries >= settings->tries || (age < state->due_ticks && !passed))
        return true;
    if (look_is_over_budget(look) || !look_request(look, packet))
        return false;
    resend->tokens -= 1;
    resend->count.repeats += state->tries != 0;
    ++resend->count.packets;
    ++look->frame->asked;
    state->due_ticks = age + (settings->timeout_ticks << state->tries);
    ++state->tries;
    return true;
}

static bool look_at_gaps(struct resend_look *look, bool ended) {
    uint32_t const fragments = look->image->fragments;
    for (uint32_t first, end = 0; rm_image_next_gap(look->image, &first, &end);) {
        if (end == fragments && !ended)
            return true;
        for (uint32_t fragment = first; fragment < end; ++fragment)
            if (!look_at_packet(look, fragment + 1))
                return false;
    }
    return true;
}

static void look_at_frame(struct resend_look *look) {
    struct rm_image const *const image = look->image;
    struct rm_resend_settings const *const settings = &look->resend->settings;
    if (look->now_ticks - image->first_ticks >= settings->deadline_ticks)
        return;
    look->frame = NULL;
    look->furthest = image_reach(image);
    look->budget = (uint32_t)ceil(settings->percent / 100 * ((double)image->fragments + PACKETS_BESIDE_PAYLOAD));
    bool const ended = image_has_ended(look);
    if ((!image->has_geometry && !look_at_packet(look, LEADER)) || !look_at_gaps(look, ended))
        return;
    if (image->has_geometry && image->placed == image->fragments && ended)
        (void)look_at_packet(look, image->fragments + 1);
}

static void resend_fill(struct rm_resend *resend, uint64_t now_ticks) {
    struct rm_resend_settings const *const settings = &resend->settings;
    double const seconds = (double)(now_ticks - resend->filled_ticks) / (double)settings->ticks_per_second;
    resend->tokens = fmin(tokens_most(settings), resend->tokens + seconds * settings->packets_per_second);
    resend->filled_ticks = now_ticks;
}

uint32_t rm_resend_poll(struct rm_resend *resend, struct rm_assembly const *assembly, uint64_t now_ticks,
                        struct rm_gvcp_resend request[RM_RESEND_REQUESTS]) {
    if (now_ticks < resend->next_look_ticks || resend->settings.percent == 0)
        return 0;
    resend_fill(resend, now_ticks);
    struct resend_look look = {.resend = resend, .now_ticks = now_ticks, .request = request};
    while ((look.image = rm_assembly_in_flight(assembly, look.image)) != NULL)
        look_at_frame(&look);
    bool const full = look.count == RM_RESEND_REQUESTS;
    resend->next_look_ticks = full ? now_ticks : now_ticks + resend->settings.reorder_ticks / LOOKS_IN_REORDER_TIME;
    return look.count;
}

uint32_t rm_resend_asked(struct rm_resend const *resend, struct rm_image const *image) {
    struct frame_state const *const frame = frame_of(resend, image);
    return frame == NULL ? 0 : frame->asked;
}

struct rm_resend_counts const *rm_resend_counts(struct rm_resend const *resend) {
    return &resend->count;
}
