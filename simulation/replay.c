// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/yaml_document.h"
#include "recording.h"

static FILE *open_file(struct rm_replay const *replay, enum rm_recorded which, struct rm_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", replay->folder, rm_recorded_name[which]);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        rm_fail(error, RM_E_SYSTEM, "--replay: %s: %s; a simulation that is to be replayed records readings and sent",
                path, strerror(errno));
    return file;
}

/** A number of simulation.json, which is YAML too. */
static enum rm_code take_replay_number(struct rm_yaml_document const *document, char const *key, uint64_t *number,
                                       struct rm_error *error) {
    yaml_node_t const *node = rm_yaml_document_find(document, key);
    char *end = NULL;
    if (node != NULL && node->type == YAML_SCALAR_NODE)
        *number = strtoull((char const *)node->data.scalar.value, &end, 10);
    if (end == NULL || *end != '\0')
        return rm_fail(error, RM_E_CONFIG, "--replay: %s: no number \"%s\": not the result of a simulation",
                       document->path, key);
    return RM_OK;
}

static enum rm_code take_summary(struct rm_replay *replay, uint64_t counts[2], struct rm_error *error) {
    char path[PATH_MAX];
    struct rm_yaml_document document;
    snprintf(path, sizeof path, "%s/simulation.json", replay->folder);
    enum rm_code code = rm_yaml_document_open(path, &document, error);
    if (code != RM_OK)
        return code;
    code = take_replay_number(&document, "cycles", &replay->cycles, error);
    if (code == RM_OK)
        code = take_replay_number(&document, "first_turn", &replay->first_turn, error);
    if (code == RM_OK)
        code = take_replay_number(&document, "input_count", &counts[0], error);
    if (code == RM_OK)
        code = take_replay_number(&document, "actuator_count", &counts[1], error);
    rm_yaml_document_close(&document);
    return code;
}

static enum rm_code open_replay_parts(struct rm_replay *replay, struct rm_events *events, struct rm_error *error) {
    char path[PATH_MAX];
    replay->readings = open_file(replay, RM_RECORDED_READINGS, error);
    replay->tags = replay->readings == NULL ? NULL : open_file(replay, RM_RECORDED_TAGS, error);
    replay->sent = replay->tags == NULL ? NULL : open_file(replay, RM_RECORDED_SENT, error);
    if (replay->sent == NULL)
        return RM_E_SYSTEM;
    replay->lanes = calloc(replay->inputs + 1ul, sizeof *replay->lanes);
    replay->tag = calloc(replay->inputs + 1ul, sizeof *replay->tag);
    if (replay->lanes == NULL || replay->tag == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to replay %u inputs", replay->inputs);
    snprintf(path, sizeof path, "%s/events.yaml", replay->folder);
    return rm_events_load(events, path, error);
}

enum rm_code rm_replay_open(char const *folder, uint32_t inputs, uint32_t actuators, struct rm_events *events,
                            struct rm_replay *replay, struct rm_error *error) {
    uint64_t counts[2] = {0, 0};
    *replay = (struct rm_replay){.folder = folder, .inputs = inputs, .actuators = actuators};
    enum rm_code code = take_summary(replay, counts, error);
    if (code == RM_OK && (counts[0] != inputs || counts[1] != actuators))
        code = rm_fail(error, RM_E_CONFIG,
                       "--replay: %s has %llu inputs and %llu actuators, the application has %u and %u", folder,
                       (unsigned long long)counts[0], (unsigned long long)counts[1], inputs, actuators);
    if (code == RM_OK)
        code = open_replay_parts(replay, events, error);
    if (code != RM_OK)
        rm_replay_close(replay);
    return code;
}

enum rm_code rm_replay_next(struct rm_replay *replay, rm_turn turn, struct rm_record *record, bool *missing,
                            double *sent, struct rm_error *error) {
    if (fread(replay->lanes, sizeof *replay->lanes, replay->inputs, replay->readings) != replay->inputs ||
        fread(replay->tag, sizeof *replay->tag, replay->inputs, replay->tags) != replay->inputs ||
        fread(sent, sizeof *sent, replay->actuators, replay->sent) != replay->actuators)
        return rm_fail(error, RM_E_CONFIG, "--replay: %s ends before its %llu cycles do", replay->folder,
                       (unsigned long long)replay->cycles);
    for (uint32_t i = 0; i < replay->inputs; ++i) {
        missing[i] = replay->tag[i] == RM_TAG_OF_MISSING;
        if (missing[i])
            continue;
        record[i].turn = turn;
        record[i].tag = replay->tag[i];
        memcpy(record[i].lane, replay->lanes[i], sizeof record[i].lane);
    }
    return RM_OK;
}

void rm_replay_close(struct rm_replay *replay) {
    FILE *const files[] = {replay->readings, replay->tags, replay->sent};
    for (unsigned f = 0; f < 3; ++f)
        if (files[f] != NULL)
            fclose(files[f]);
    free(replay->lanes);
    free(replay->tag);
    *replay = (struct rm_replay){0};
}
