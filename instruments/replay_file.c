// SPDX-License-Identifier: Apache-2.0
#include "replay_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ringmaster/stream.h>

#include "base/fail.h"

enum { MAGIC_BYTES = 16, HEADER_BYTES = 64, ENTRY_BYTES = 64, NAME_BYTES = 24, FRAME_BYTES = 4 * RM_LANES };

static char const MAGIC[MAGIC_BYTES] = "RMREPLAY1\n";

static rm_turn const LAST_FIRST_TURN = 1ull << 62;

struct replay_header {
    char magic[MAGIC_BYTES];
    uint32_t instrument_count;
    uint32_t reserved;
    uint64_t turn_count;
    uint64_t first_turn;
    uint64_t reserved_last[3];
};

struct replay_entry {
    uint32_t source_ipv4;
    uint16_t id;
    uint8_t kind;
    uint8_t lane_count;
    char name[NAME_BYTES];
    uint64_t reserved[4];
};

_Static_assert(sizeof(struct replay_header) == HEADER_BYTES, "as in the file");
_Static_assert(sizeof(struct replay_entry) == ENTRY_BYTES, "as in the file");

static enum rm_code check_header(char const *path, struct replay_header const *header, size_t length,
                                 struct rm_error *error) {
    if (header->instrument_count < 1 || header->instrument_count > RM_REPLAY_INSTRUMENTS_MAX)
        return rm_fail(error, RM_E_CONFIG, "%s: %u instruments, expected 1 to %d", path, header->instrument_count,
                       RM_REPLAY_INSTRUMENTS_MAX);
    if (header->turn_count < 1)
        return rm_fail(error, RM_E_CONFIG, "%s: no turns in it", path);
    if (header->first_turn > LAST_FIRST_TURN)
        return rm_fail(error, RM_E_CONFIG, "%s: first turn %llu, expected at most 2^62", path,
                       (unsigned long long)header->first_turn);
    size_t const table_end = HEADER_BYTES + (size_t)header->instrument_count * ENTRY_BYTES;
    size_t const turn_bytes = (size_t)header->instrument_count * FRAME_BYTES;
    size_t const room = length < table_end ? 0 : (length - table_end) / turn_bytes;
    if (room != header->turn_count || (length - table_end) % turn_bytes != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "%s: %zu bytes, which is not what %llu turns of %u instruments take: the file is cut short or "
                       "damaged, make it again",
                       path, length, (unsigned long long)header->turn_count, header->instrument_count);
    return RM_OK;
}

static enum rm_code read_entry(char const *path, struct replay_entry const *entry, struct rm_replay_file *file,
                               struct rm_error *error) {
    uint32_t const index = file->instrument_count;
    if (memchr(entry->name, '\0', sizeof entry->name) == NULL || !rm_virtual_name_is_good(entry->name))
        return rm_fail(error, RM_E_CONFIG,
                       "%s: instrument %u: the name does not end, or has other characters than a-z, 0-9, _ and -", path,
                       index);
    if (entry->kind < RM_KIND_BPM || entry->kind > RM_KIND_POWER_SUPPLY)
        return rm_fail(error, RM_E_CONFIG, "%s: instrument %u: kind %u, expected %d to %d", path, index, entry->kind,
                       RM_KIND_BPM, RM_KIND_POWER_SUPPLY);
    if (entry->lane_count < 1 || entry->lane_count > RM_LANES)
        return rm_fail(error, RM_E_CONFIG, "%s: instrument %u: %u lanes, expected 1 to %d", path, index,
                       entry->lane_count, RM_LANES);
    struct rm_virtual_instrument *instrument = &file->instruments[index];
    for (uint32_t i = 0; i < index; ++i)
        if (strcmp(file->instruments[i].name, entry->name) == 0)
            return rm_fail(error, RM_E_CONFIG, "%s: instruments %u and %u have the same name", path, i, index);
    *instrument = (struct rm_virtual_instrument){
        .kind = entry->kind, .id = entry->id, .source_ipv4 = entry->source_ipv4, .lane_count = entry->lane_count};
    memcpy(instrument->name, entry->name, sizeof instrument->name);
    ++file->instrument_count;
    return RM_OK;
}

enum rm_code rm_replay_file_parse(char const *path, uint8_t const *bytes, size_t length, struct rm_replay_file *file,
                                  struct rm_error *error) {
    *file = (struct rm_replay_file){0};
    struct replay_header header;
    if (length < sizeof header || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return rm_fail(error, RM_E_CONFIG, "%s: not a replay file, expected it to begin with RMREPLAY1", path);
    memcpy(&header, bytes, sizeof header);
    enum rm_code code = check_header(path, &header, length, error);
    if (code != RM_OK)
        return code;
    file->instruments = calloc(header.instrument_count, sizeof *file->instruments);
    if (file->instruments == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for %u instruments", path, header.instrument_count);
    uint8_t const *next = bytes + HEADER_BYTES;
    for (uint32_t i = 0; i < header.instrument_count && code == RM_OK; ++i, next += ENTRY_BYTES) {
        struct replay_entry entry;
        memcpy(&entry, next, sizeof entry);
        code = read_entry(path, &entry, file, error);
    }
    file->turn_count = header.turn_count;
    file->first_turn = header.first_turn;
    file->lanes = (union rm_lane const *)(void const *)next;
    if (code != RM_OK)
        rm_replay_file_close(file);
    return code;
}

static enum rm_code map_replay_file(char const *path, void **mapping, size_t *bytes, struct rm_error *error) {
    int const descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat status;
    enum rm_code code = RM_OK;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        code = rm_fail(error, RM_E_CONFIG, "%s: not a file with anything in it", path);
    if (code == RM_OK) {
        *bytes = (size_t)status.st_size;
        *mapping = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
        if (*mapping == MAP_FAILED)
            code = rm_fail(error, RM_E_SYSTEM, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    close(descriptor);
    return code;
}

enum rm_code rm_replay_file_open(char const *path, struct rm_replay_file *file, struct rm_error *error) {
    void *mapping = NULL;
    size_t bytes = 0;
    enum rm_code code = map_replay_file(path, &mapping, &bytes, error);
    if (code != RM_OK)
        return code;
    code = rm_replay_file_parse(path, mapping, bytes, file, error);
    if (code != RM_OK) {
        munmap(mapping, bytes);
        return code;
    }
    file->mapping = mapping;
    file->mapping_bytes = bytes;
    return RM_OK;
}

void rm_replay_file_close(struct rm_replay_file *file) {
    free(file->instruments);
    if (file->mapping != NULL)
        munmap(file->mapping, file->mapping_bytes);
    *file = (struct rm_replay_file){0};
}

union rm_lane const *rm_replay_file_turn(void *state, uint64_t index, uint32_t first, uint32_t count) {
    (void)count;
    struct rm_replay_file const *file = state;
    return file->lanes + (index % file->turn_count * file->instrument_count + first) * RM_LANES;
}
