// SPDX-License-Identifier: Apache-2.0
/** The answer to C: a line for each letter, of I and L several. */
#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "answer.h"
#include "history.h"

enum { TIME_BYTES = 32, NO_PARTNER = 1023 };

static void put_times(struct fa_answering *answering, struct fa_history const *history, bool is_newest) {
    uint64_t oldest_ns, newest_ns;
    if (history->archive == NULL || !fa_history_span(history, &oldest_ns, &newest_ns)) {
        fa_out_print(&answering->out, "No data in archive\n");
        return;
    }
    uint64_t const us = (is_newest ? newest_ns : oldest_ns) / 1000;
    fa_out_print(&answering->out, "%llu.%06llu\n", (unsigned long long)(us / 1000000),
                 (unsigned long long)(us % 1000000));
}

/** Whether an id's records are in the archive. The frame counter is with all of them. */
static bool id_is_archived(struct fa_history const *history, uint32_t id) {
    uint32_t object, other;
    if (history->archive == NULL)
        return false;
    if (id != 0)
        return fa_history_records(history, id, &object);
    for (other = 1; other < history->file->id_count; ++other)
        if (fa_history_records(history, other, &object))
            return true;
    return false;
}

static void put_mask(struct fa_answering *answering, struct fa_history const *history) {
    char digits[FA_MASK_DIGITS + 1];
    struct fa_mask mask = {{0}};
    for (uint32_t id = 0; id < history->file->id_count; ++id)
        if (id_is_archived(history, id))
            fa_mask_add(&mask, id);
    fa_mask_print(&mask, history->file->id_count, digits);
    fa_out_print(&answering->out, "%s\n", digits);
}

static void put_id(struct fa_answering *answering, struct fa_history const *history, uint32_t id) {
    char instrument[RM_NAME_BYTES];
    uint32_t number;
    struct fa_file const *const file = history->file;
    struct fa_file_ids const *const ids = fa_file_find(file, id, &number);
    if (ids == NULL || !fa_file_instrument(ids, number, instrument))
        return;
    fa_out_print(&answering->out, "%c%u %s/%s/%s %s/%s/%s ", id_is_archived(history, id) ? '*' : ' ', id, instrument,
                 file->rate, ids->x, instrument, file->rate, ids->y);
    bool const is_only = strcmp(ids->x, "x") == 0;
    if (ids->description != NULL && ids->count > 0)
        fa_out_print(&answering->out, "%s%s\n", ids->description, instrument + strlen(ids->instrument));
    else
        fa_out_print(&answering->out, "%s%s%s\n", ids->description != NULL ? ids->description : instrument,
                     is_only || ids->description != NULL ? "" : "/", is_only || ids->description != NULL ? "" : ids->x);
}

static void put_list(struct fa_answering *answering, struct fa_history const *history) {
    fa_out_print(&answering->out, "%c0 id0 zero FRAME-COUNTER\n", id_is_archived(history, 0) ? '*' : ' ');
    for (uint32_t id = 1; id < history->file->id_count; ++id)
        put_id(answering, history, id);
}

/** What I says of a client. */
struct seen_client {
    bool is_there;
    struct timespec since;
    struct sockaddr_in peer;
    char line[FA_LINE_BYTES];
};

static void put_client(struct fa_answering *answering, struct seen_client const *client) {
    char time[TIME_BYTES], address[INET_ADDRSTRLEN] = "";
    struct tm utc;
    gmtime_r(&client->since.tv_sec, &utc);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    inet_ntop(AF_INET, &client->peer.sin_addr, address, sizeof address);
    fa_out_print(&answering->out, "%s.%06ldZ %s:%u: %.200s\n", time, client->since.tv_nsec / 1000, address,
                 ntohs(client->peer.sin_port), client->line);
}

/** A copy, because the lock is not held while a client is waited for. A line does not change once it was read. */
static void put_clients(struct fa_answering *answering) {
    struct fa_server *const server = answering->server;
    for (uint32_t i = 0; i < server->file->clients; ++i) {
        struct fa_client const *const client = &server->client[i];
        struct seen_client seen = {.is_there = false};
        pthread_mutex_lock(&server->lock);
        int const state = atomic_load(&client->state);
        if (state == FA_CLIENT_SUBSCRIBED || state == FA_CLIENT_ANSWERED) {
            seen = (struct seen_client){.is_there = true, .since = client->since, .peer = client->peer};
            memcpy(seen.line, client->line, sizeof seen.line);
        }
        pthread_mutex_unlock(&server->lock);
        if (seen.is_there)
            put_client(answering, &seen);
    }
}

/** Link, partner, last interrupt, errors of frames, soft and hard errors, whether it runs, whether it was overrun. */
static void put_status(struct fa_answering *answering) {
    struct fa_shown const *const shown = &answering->shown;
    fa_out_print(&answering->out, "%d %d %d %llu 0 0 %d %llu\n", shown->is_live, NO_PARTNER, shown->is_live,
                 (unsigned long long)shown->missing, shown->is_live, (unsigned long long)(shown->gaps > 0));
}

static void put_rate(struct fa_answering *answering, struct fa_history const *history) {
    double rate_hz = answering->shown.rate_hz;
    uint32_t object;
    for (uint32_t id = 1; history->archive != NULL && rate_hz <= 0 && id < history->file->id_count; ++id)
        if (fa_history_records(history, id, &object)) {
            struct rm_archive_object const *const it = rm_archive_object_at(history->archive, object);
            uint32_t count;
            struct rm_archive_file const *const files = rm_archive_files(history->archive, &count);
            if (it->block_count > 0)
                rate_hz = files[it->block[it->block_count - 1].file].header.turn_rate_hz / (double)it->is.period_turns;
        }
    fa_out_print(&answering->out, rate_hz > 0 ? "%f\n" : "No data currently available\n", rate_hz);
}

static void put_letter(struct fa_answering *answering, struct fa_history const *history, char letter) {
    struct fa_file const *const file = answering->server->file;
    struct fa_out *const out = &answering->out;
    switch (letter) {
    case 'F':
        put_rate(answering, history);
        break;
    case 'd':
        fa_out_print(out, "%u\n", file->first_decimation);
        break;
    case 'D':
        fa_out_print(out, "%u\n", file->second_decimation);
        break;
    case 'T':
    case 'U':
        put_times(answering, history, letter == 'U');
        break;
    case 'V':
        fa_out_print(out, "1.1\n");
        break;
    case 'M':
        put_mask(answering, history);
        break;
    case 'C':
        fa_out_print(out, "%u\n", answering->shown.decimation);
        break;
    case 'K':
        fa_out_print(out, "%u\n", file->id_count);
        break;
    case 'S':
        put_status(answering);
        break;
    case 'E':
        fa_out_print(out, "%d\n", (int)file->event);
        break;
    case 'N':
        fa_out_print(out, "%s\n", file->name != NULL ? file->name : file->workspace);
        break;
    case 'I':
        put_clients(answering);
        break;
    case 'L':
        put_list(answering, history);
        break;
    default:
        fa_out_print(out, "Unknown command '%c'\n", isprint((unsigned char)letter) ? letter : '?');
        break;
    }
}

void fa_answer_configuration(struct fa_answering *answering) {
    struct fa_history history = {.file = answering->server->file};
    char const *const letters = answering->client->line + 1;
    if (strpbrk(letters, "FTUML") != NULL)
        (void)fa_history_open(&history, answering->server->file, answering->shown.period_turns, NULL);
    for (char const *letter = letters; *letter != '\0' && !answering->out.failed; ++letter)
        put_letter(answering, &history, *letter);
    fa_history_close(&history);
}
