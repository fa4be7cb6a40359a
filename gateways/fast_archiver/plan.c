// SPDX-License-Identifier: Apache-2.0
/** From an R request to the samples that are sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>

#include "frames.h"
#include "history.h"

static uint64_t const NS_PER_S = 1000000000;

/** Two pieces are contiguous in time where there are less than so many samples between them. */
static double const JOIN_SAMPLES = 1.5;

/** The span that is asked for. */
struct span {
    uint64_t from_utc_ns, until_utc_ns;
};

static uint64_t plan_decimation(struct fa_file const *file, enum fa_source source) {
    return source == FA_SOURCE_FULL        ? 1
           : source == FA_SOURCE_DECIMATED ? file->first_decimation
                                           : (uint64_t)file->first_decimation * file->second_decimation;
}

/** The object that samples of an id are made of: the longest steps that fit, else records. */
static bool plan_find_object(struct fa_plan const *plan, struct rm_archive const *archive, char const *name,
                             uint32_t *object) {
    uint64_t longest = 0;
    for (uint32_t i = 0; i < rm_archive_object_count(archive); ++i) {
        struct rm_archived_object const *const is = &rm_archive_object_at(archive, i)->is;
        bool const is_step = is->kind == RM_BLOCK_REDUCED && plan->sample_turns > plan->frame_turns;
        if ((!is_step && is->kind != RM_BLOCK_RECORDS) || strcmp(is->name, name) != 0 || is->period_turns == 0 ||
            plan->sample_turns % is->period_turns != 0 || is->period_turns < longest)
            continue;
        longest = is->period_turns;
        *object = i;
    }
    return longest > 0;
}

static int object_lane(struct rm_archived_object const *is, char const *name) {
    for (uint32_t lane = 0; lane < is->lane_count && lane < RM_LANES; ++lane)
        if (strncmp(is->lane[lane].name, name, sizeof is->lane[lane].name) == 0)
            return (int)lane;
    return -1;
}

static enum rm_code plan_add_column(struct fa_plan *plan, struct fa_history const *history, uint32_t id,
                                    struct rm_error *error) {
    struct fa_column *const column = &plan->column[plan->column_count++];
    char instrument[RM_NAME_BYTES], name[RM_NAME_BYTES + 32];
    uint32_t number;
    *column = (struct fa_column){.id = id, .object = UINT32_MAX};
    if (id == 0)
        return RM_OK;
    struct fa_file_ids const *const ids = fa_file_find(history->file, id, &number);
    if (ids == NULL || !fa_file_instrument(ids, number, instrument))
        return rm_fail(error, RM_E_ARGUMENT, "BPM %u not in archive", id);
    snprintf(name, sizeof name, "%s/%s", instrument, history->file->rate);
    if (!plan_find_object(plan, history->archive, name, &column->object))
        return rm_fail(error, RM_E_ARGUMENT, "BPM %u not in archive", id);
    struct rm_archived_object const *const is = &rm_archive_object_at(history->archive, column->object)->is;
    if (is->calibrated == RM_CALIBRATED_IN_READING)
        return rm_fail(error, RM_E_ARGUMENT, "BPM %u was recorded in raw numbers", id);
    for (unsigned plane = 0; plane < 2; ++plane) {
        int const lane = object_lane(is, plane == 0 ? ids->x : ids->y);
        if (lane < 0)
            return rm_fail(error, RM_E_ARGUMENT, "BPM %u not in archive", id);
        column->lane[plane] = (uint32_t)lane;
        column->scale[plane] = fa_unit_nm(is->lane[lane].unit);
    }
    return RM_OK;
}

/** Turns of a frame: of the first id that has records; by the server where the archive has steps alone. */
static uint64_t plan_frame_turns(struct fa_history const *history) {
    for (uint32_t id = 1; id < history->file->id_count; ++id) {
        uint32_t object;
        if (fa_history_records(history, id, &object))
            return rm_archive_object_at(history->archive, object)->is.period_turns;
    }
    return history->live_turns;
}

static enum rm_code plan_add_columns(struct fa_plan *plan, struct fa_history const *history, struct fa_read const *read,
                                     struct rm_error *error) {
    plan->column = calloc(fa_mask_count(&read->mask) + 1ul, sizeof *plan->column);
    plan->frame_turns = plan_frame_turns(history);
    plan->sample_turns = plan->frame_turns * plan_decimation(history->file, read->source);
    plan->block = read->source == FA_SOURCE_FULL        ? FA_BLOCK_FULL
                  : read->source == FA_SOURCE_DECIMATED ? FA_BLOCK_DECIMATED
                                                        : FA_BLOCK_TWICE;
    if (plan->column == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "No memory for the answer");
    if (plan->sample_turns == 0)
        return rm_fail(error, RM_E_ARGUMENT, "Archive is empty");
    for (uint32_t id = 0; id < history->file->id_count; ++id) {
        enum rm_code const code = fa_mask_has(&read->mask, id) ? plan_add_column(plan, history, id, error) : RM_OK;
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

static int32_t block_offset_s(struct rm_archive const *archive, struct rm_archive_block const *block) {
    uint32_t count;
    return rm_archive_files(archive, &count)[block->file].header.tai_minus_utc_s;
}

/** A time in UTC as TAI of a block's file; the ends of the scale stay what they are. */
static uint64_t time_tai_ns(uint64_t utc_ns, int32_t offset_s) {
    return utc_ns == UINT64_MAX ? utc_ns : (uint64_t)((int64_t)utc_ns + (int64_t)offset_s * (int64_t)NS_PER_S);
}

/** The first record of a block that is not before a time; `count` where all are. */
static uint64_t block_record_at(struct rm_block const *block, uint64_t tai_ns) {
    if (tai_ns <= block->first_tai_ns)
        return 0;
    if (tai_ns > block->last_tai_ns)
        return block->count;
    uint64_t const all_ns = block->last_tai_ns - block->first_tai_ns;
    unsigned __int128 const scaled = (unsigned __int128)(tai_ns - block->first_tai_ns) * (block->count - 1ul);
    return (uint64_t)((scaled + all_ns - 1) / all_ns);
}

static uint64_t block_tai_ns(struct rm_block const *block, uint64_t record) {
    if (block->count < 2)
        return block->first_tai_ns;
    unsigned __int128 const scaled = (unsigned __int128)(block->last_tai_ns - block->first_tai_ns) * record;
    return block->first_tai_ns + (uint64_t)(scaled / (block->count - 1ul));
}

/** What of a block is in the span, as a piece in turns instead of samples. False: nothing. */
static bool piece_of_block(struct fa_piece *piece, struct rm_archive const *archive,
                           struct rm_archive_object const *object, struct rm_archive_block const *block,
                           struct span span) {
    int32_t const offset_s = block_offset_s(archive, block);
    uint64_t const first = block_record_at(&block->block, time_tai_ns(span.from_utc_ns, offset_s));
    uint64_t const until = block_record_at(&block->block, time_tai_ns(span.until_utc_ns, offset_s));
    if (first >= until)
        return false;
    *piece = (struct fa_piece){
        .run = block->run,
        .turn_epoch = block->block.turn_epoch,
        .first_tai_ns = block_tai_ns(&block->block, first),
        .last_tai_ns = block_tai_ns(&block->block, until - 1),
        .tai_minus_utc_s = offset_s,
        .recorded_first = block->block.first_turn + first * object->is.period_turns,
        .recorded_until = block->block.first_turn + until * object->is.period_turns,
    };
    return true;
}

/** Adds a piece, to the last one where it goes on with that. */
static bool plan_add_piece(struct fa_plan *plan, struct fa_piece const *piece) {
    struct fa_piece *const last = plan->piece_count > 0 ? &plan->piece[plan->piece_count - 1] : NULL;
    if (last != NULL && last->run == piece->run && piece->recorded_first <= last->recorded_until) {
        if (piece->recorded_until > last->recorded_until) {
            last->recorded_until = piece->recorded_until;
            last->last_tai_ns = piece->last_tai_ns;
        }
        return true;
    }
    struct fa_piece *const pieces = realloc(plan->piece, (plan->piece_count + 1ul) * sizeof *pieces);
    if (pieces == NULL)
        return false;
    plan->piece = pieces;
    pieces[plan->piece_count++] = *piece;
    return true;
}

/** All that was recorded of an object in the span, in turns. */
static bool plan_add_pieces(struct fa_plan *plan, struct rm_archive const *archive, uint32_t index, struct span span) {
    struct rm_archive_object const *const object = rm_archive_object_at(archive, index);
    for (uint32_t b = 0; b < object->block_count; ++b) {
        struct fa_piece piece;
        if (piece_of_block(&piece, archive, object, &object->block[b], span) && !plan_add_piece(plan, &piece))
            return false;
    }
    return true;
}

static uint64_t plan_turns(struct fa_plan const *plan) {
    uint64_t turns = 0;
    for (uint32_t i = 0; i < plan->piece_count; ++i)
        turns += plan->piece[i].recorded_until - plan->piece[i].recorded_first;
    return turns;
}

/** The leading object is the one of which most was recorded in the span. Where only the frame counter is wanted, it is
 * that of the first id. */
static enum rm_code plan_choose_lead(struct fa_plan *plan, struct fa_history const *history, struct span span,
                                     struct rm_error *error) {
    uint64_t most = 0;
    if (plan->column_count == 1 && plan->column[0].id == 0) {
        uint32_t id = 1;
        while (id < history->file->id_count && plan_add_column(plan, history, id, error) != RM_OK) {
            plan->column_count--;
            ++id;
        }
    }
    for (uint32_t c = 0; c < plan->column_count; ++c) {
        struct fa_plan tried = {.piece = NULL};
        if (plan->column[c].object == UINT32_MAX)
            continue;
        bool const is_good = plan_add_pieces(&tried, history->archive, plan->column[c].object, span);
        uint64_t const turns = plan_turns(&tried);
        if (is_good && turns > most) {
            free(plan->piece);
            plan->piece = tried.piece;
            plan->piece_count = tried.piece_count;
            plan->lead = c;
            most = turns;
        } else {
            free(tried.piece);
        }
        if (!is_good)
            return rm_fail(error, RM_E_NO_SPACE, "No memory for the answer");
    }
    return most > 0 ? RM_OK : rm_fail(error, RM_E_ARGUMENT, "No samples in selected range");
}

/** Makes samples of the pieces' turns: whole ones that were recorded. Pieces without one are left out. */
static void plan_make_samples(struct fa_plan *plan) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->piece_count; ++i) {
        struct fa_piece piece = plan->piece[i];
        uint64_t const turns = plan->sample_turns;
        piece.recorded_first = (piece.recorded_first + turns - 1) / turns;
        piece.recorded_until = piece.recorded_until / turns;
        if (piece.recorded_first < piece.recorded_until)
            plan->piece[kept++] = piece;
    }
    plan->piece_count = kept;
}

/** Widens pieces to whole blocks where there is a gap. Two pieces of a run that then touch are one. */
static void plan_widen(struct fa_plan *plan) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->piece_count; ++i) {
        struct fa_piece piece = plan->piece[i];
        piece.first = i == 0 ? piece.recorded_first : piece.recorded_first - piece.recorded_first % plan->block;
        piece.until = i + 1 == plan->piece_count ? piece.recorded_until
                                                 : (piece.recorded_until + plan->block - 1) / plan->block * plan->block;
        struct fa_piece *const before = kept > 0 ? &plan->piece[kept - 1] : NULL;
        if (before != NULL && before->run == piece.run && piece.first <= before->until) {
            before->until = piece.until;
            before->recorded_until = piece.recorded_until;
            before->last_tai_ns = piece.last_tai_ns;
        } else {
            plan->piece[kept++] = piece;
        }
    }
    plan->piece_count = kept;
}

/** Keeps `count` samples. */
static void plan_cut(struct fa_plan *plan, uint64_t count) {
    plan->samples = 0;
    for (uint32_t i = 0; i < plan->piece_count; ++i) {
        struct fa_piece *const piece = &plan->piece[i];
        uint64_t const left = count - plan->samples;
        if (piece->until - piece->first > left)
            piece->until = piece->first + left;
        plan->samples += piece->until - piece->first;
        if (plan->samples == count)
            plan->piece_count = i + 1;
    }
}

/** Samples before the first gap: of time, and where `by_id0`, of the frame counter. */
static uint64_t plan_contiguous(struct fa_plan const *plan, bool by_id0) {
    uint64_t samples = 0;
    for (uint32_t i = 0; i < plan->piece_count; ++i) {
        struct fa_piece const *const piece = &plan->piece[i], *const before = i > 0 ? piece - 1 : NULL;
        if (before != NULL) {
            uint64_t const count = before->recorded_until - before->recorded_first;
            double const sample_ns =
                (double)(before->last_tai_ns - before->first_tai_ns) / (double)(count + (count < 2));
            bool const is_joined =
                (double)piece->first_tai_ns < (double)before->last_tai_ns + JOIN_SAMPLES * sample_ns + 1;
            if (by_id0 || !is_joined)
                break;
        }
        samples += piece->recorded_until - piece->recorded_first;
    }
    return samples;
}

static enum rm_code plan_check_span(struct fa_history const *history, struct fa_read const *read,
                                    struct rm_error *error) {
    uint64_t oldest_ns, newest_ns;
    if (read->end_utc_ns != 0 && read->end_utc_ns <= read->start_utc_ns)
        return rm_fail(error, RM_E_ARGUMENT, "Time range runs backwards");
    if (read->takes_less || !fa_history_span(history, &oldest_ns, &newest_ns))
        return RM_OK;
    if (read->source == FA_SOURCE_FULL && read->start_utc_ns < oldest_ns)
        return rm_fail(error, RM_E_ARGUMENT, "Start time too early");
    if (read->start_utc_ns > newest_ns)
        return rm_fail(error, RM_E_ARGUMENT, "Start time too late");
    return read->end_utc_ns <= newest_ns + NS_PER_S ? RM_OK : rm_fail(error, RM_E_ARGUMENT, "End time too late");
}

static enum rm_code plan_finish(struct fa_plan *plan, struct fa_read const *read, struct rm_error *error) {
    plan_make_samples(plan);
    if (read->contiguous) {
        uint64_t const contiguous = plan_contiguous(plan, read->contiguous_id0);
        uint32_t const pieces = plan->piece_count;
        if (pieces > 1 && (read->count == 0 || read->count > contiguous))
            return rm_fail(error, RM_E_ARGUMENT, "Only %llu contiguous samples available",
                           (unsigned long long)contiguous);
    }
    plan_widen(plan);
    plan_cut(plan, read->count != 0 ? read->count : UINT64_MAX);
    if (plan->samples == 0)
        return rm_fail(error, RM_E_ARGUMENT, "No samples in selected range");
    if (plan->samples < read->count && !read->takes_less)
        return rm_fail(error, RM_E_ARGUMENT, "Only %llu samples of %llu requested available",
                       (unsigned long long)plan->samples, (unsigned long long)read->count);
    return RM_OK;
}

enum rm_code fa_plan_make(struct fa_plan *plan, struct fa_history const *history, struct fa_read const *read,
                          struct rm_error *error) {
    struct span const span = {read->start_utc_ns, read->end_utc_ns != 0 ? read->end_utc_ns : UINT64_MAX};
    *plan = (struct fa_plan){.piece = NULL};
    uint32_t columns = 0;
    enum rm_code code = plan_check_span(history, read, error);
    if (code == RM_OK)
        code = plan_add_columns(plan, history, read, error);
    columns = plan->column_count;
    if (code == RM_OK)
        code = plan_choose_lead(plan, history, span, error);
    plan->column_count = columns;
    if (code == RM_OK)
        code = plan_finish(plan, read, error);
    if (code != RM_OK)
        fa_plan_free(plan);
    return code;
}

void fa_plan_free(struct fa_plan *plan) {
    free(plan->column);
    free(plan->piece);
    *plan = (struct fa_plan){.piece = NULL};
}
