// SPDX-License-Identifier: Apache-2.0
#include "capture/pcap_frames.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "wire/frame.h"

enum { FRAMES_FIRST = 1024, BYTES_FIRST = 1 << 16 };

/** A file while it is read. */
struct pcap_reading {
    pcap_t *pcap;
    char const *name;
    uint32_t longest_frame;
    uint64_t memory_max;
    /** Frames seen, those not kept included. */
    uint64_t seen;
    /** Stamp of the last kept frame, nanoseconds; of an epoch that nobody here needs. */
    uint64_t last_ns;
    /** Bytes used of `bytes`, and room in both arrays. */
    uint64_t used, byte_room;
    uint32_t frame_room;
};

static enum rm_code frames_no_memory(struct pcap_reading const *reading, struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for frame %llu and those before it", reading->name,
                   (unsigned long long)reading->seen);
}

static uint32_t frames_padded(uint32_t length) {
    return (length + RM_PCAP_ALIGNMENT - 1u) / RM_PCAP_ALIGNMENT * RM_PCAP_ALIGNMENT;
}

/** Makes room for a frame of `length` bytes. */
static enum rm_code frames_grow(struct pcap_reading *reading, struct rm_pcap_frames *frames, uint32_t length,
                                struct rm_error *error) {
    uint64_t const needed = reading->used + frames_padded(length);
    if (needed + (frames->count + 1ull) * sizeof *frames->frame > reading->memory_max)
        return rm_fail(error, RM_E_NO_SPACE,
                       "%s: has more than %u frames, which is what fits into the %llu MiB of a replay; expected fewer: "
                       "`editcap -r %s SHORTER 1-%u` makes such a file",
                       reading->name, frames->count, (unsigned long long)(reading->memory_max >> 20), reading->name,
                       frames->count);
    if (frames->count == reading->frame_room) {
        uint32_t const room = reading->frame_room == 0 ? FRAMES_FIRST : 2 * reading->frame_room;
        struct rm_pcap_frame *const larger = realloc(frames->frame, room * sizeof *larger);
        if (larger == NULL)
            return frames_no_memory(reading, error);
        frames->frame = larger;
        reading->frame_room = room;
    }
    if (needed > reading->byte_room) {
        uint64_t room = reading->byte_room == 0 ? BYTES_FIRST : 2 * reading->byte_room;
        while (room < needed)
            room *= 2;
        uint8_t *const larger = aligned_alloc(RM_PCAP_ALIGNMENT, room); /* realloc would not keep the alignment */
        if (larger == NULL)
            return frames_no_memory(reading, error);
        if (frames->bytes != NULL)
            memcpy(larger, frames->bytes, reading->used);
        free(frames->bytes);
        frames->bytes = larger;
        reading->byte_room = room;
    }
    return RM_OK;
}

/** Nanoseconds after the first kept frame. A stamp is whatever the file says, so sums wrap and are compared as
 * differences. */
static uint64_t frames_time(struct pcap_reading *reading, struct rm_pcap_frames *frames,
                            struct pcap_pkthdr const *header) {
    uint64_t const stamp_ns = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;
    uint64_t const gap_ns = frames->count == 0 ? 0 : stamp_ns - reading->last_ns;
    uint64_t const last_ns = frames->count == 0 ? 0 : frames->frame[frames->count - 1].at_ns;
    bool const falls = gap_ns > INT64_MAX;
    frames->backwards += falls;
    if (falls)
        return last_ns;
    reading->last_ns = stamp_ns;
    return gap_ns < RM_PCAP_SPAN_MAX_NS - last_ns ? last_ns + gap_ns : RM_PCAP_SPAN_MAX_NS;
}

static enum rm_code frames_take(struct pcap_reading *reading, struct rm_pcap_frames *frames,
                                struct pcap_pkthdr const *header, uint8_t const *bytes, struct rm_error *error) {
    ++reading->seen;
    uint64_t *const refused = header->len > reading->longest_frame ? &frames->too_long
                              : header->caplen < header->len       ? &frames->cut
                              : header->len < RM_ETHERNET_BYTES    ? &frames->too_short
                                                                   : NULL;
    if (refused != NULL) {
        ++*refused;
        return RM_OK;
    }
    enum rm_code const code = frames_grow(reading, frames, header->len, error);
    if (code != RM_OK)
        return code;
    uint8_t *const to = frames->bytes + reading->used;
    memcpy(to, bytes, header->len);
    memset(to + header->len, 0, frames_padded(header->len) - header->len);
    frames->frame[frames->count] = (struct rm_pcap_frame){
        .at_ns = frames_time(reading, frames, header), .offset = (uint32_t)reading->used, .length = header->len};
    ++frames->count;
    reading->used += frames_padded(header->len);
    return RM_OK;
}

static enum rm_code frames_take_all(struct pcap_reading *reading, struct rm_pcap_frames *frames,
                                    struct rm_error *error) {
    int const link_type = pcap_datalink(reading->pcap);
    if (link_type != DLT_EN10MB) {
        char const *const word = pcap_datalink_val_to_name(link_type);
        return rm_fail(error, RM_E_CONFIG, "%s: its frames are of link type %d (%s), expected Ethernet", reading->name,
                       link_type, word != NULL ? word : "unknown");
    }
    struct pcap_pkthdr *header;
    uint8_t const *bytes;
    int found;
    enum rm_code code = RM_OK;
    while (code == RM_OK && (found = pcap_next_ex(reading->pcap, &header, &bytes)) == 1)
        code = frames_take(reading, frames, header, bytes, error);
    if (code != RM_OK)
        return code;
    if (found == PCAP_ERROR)
        return rm_fail(error, RM_E_CONFIG, "%s: after frame %llu: %s", reading->name, (unsigned long long)reading->seen,
                       pcap_geterr(reading->pcap));
    if (frames->count == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "%s: none of its %llu frames can be sent: %llu are longer than the port's longest frame of %u "
                       "bytes, %llu are cut, %llu are shorter than an Ethernet header",
                       reading->name, (unsigned long long)reading->seen, (unsigned long long)frames->too_long,
                       reading->longest_frame, (unsigned long long)frames->cut, (unsigned long long)frames->too_short);
    return RM_OK;
}

enum rm_code rm_pcap_frames_read(FILE *file, char const *name, uint32_t longest_frame, uint64_t memory_max,
                                 struct rm_pcap_frames *frames, struct rm_error *error) {
    *frames = (struct rm_pcap_frames){.count = 0};
    char why[PCAP_ERRBUF_SIZE] = "";
    struct pcap_reading reading = {.name = name, .longest_frame = longest_frame, .memory_max = memory_max};
    if (reading.memory_max > UINT32_MAX)
        reading.memory_max = UINT32_MAX; /* as far as an offset reaches */
    reading.pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why);
    if (reading.pcap == NULL) {
        fclose(file);
        return rm_fail(error, RM_E_CONFIG, "%s: is no capture in pcap or pcapng format: %s", name, why);
    }
    enum rm_code const code = frames_take_all(&reading, frames, error);
    pcap_close(reading.pcap);
    if (code != RM_OK)
        rm_pcap_frames_free(frames);
    return code;
}

enum rm_code rm_pcap_frames_load(char const *path, uint32_t longest_frame, uint64_t memory_max,
                                 struct rm_pcap_frames *frames, struct rm_error *error) {
    *frames = (struct rm_pcap_frames){.count = 0};
    FILE *const file = fopen(path, "rbe");
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    return rm_pcap_frames_read(file, path, longest_frame, memory_max, frames, error);
}

void rm_pcap_frames_free(struct rm_pcap_frames *frames) {
    free(frames->frame);
    free(frames->bytes);
    *frames = (struct rm_pcap_frames){.count = 0};
}
