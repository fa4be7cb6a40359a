// SPDX-License-Identifier: Apache-2.0
#include "ring_event_file.h"

#include "config/config.h"
#include "virtual_instrument.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    ALONE = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    SUPPLY_LONGEST = RM_CONFIG_SUPPLY_NAME_BYTES - 1,
    READING_LONGEST = RM_VIRTUAL_NAME_BYTES + 1, /* "bpm01/2" */
};

static cyaml_strval_t const kinds[] = {
    {"trip", RM_EVENT_TRIP},           {"reset", RM_EVENT_RESET},
    {"ripple", RM_EVENT_RIPPLE},       {"kick", RM_EVENT_KICK},
    {"injection", RM_EVENT_INJECTION}, {"rf_trip", RM_EVENT_RF_TRIP},
    {"frozen", RM_EVENT_FROZEN},       {"noisy", RM_EVENT_NOISY},
    {"offset", RM_EVENT_OFFSET},       {"dead", RM_EVENT_DEAD},
    {"inverted", RM_EVENT_INVERTED},   {"swapped_cables", RM_EVENT_SWAPPED_CABLES},
    {"good", RM_EVENT_GOOD},           {"power_cycle", RM_EVENT_POWER_CYCLE},
};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_ENUM(RM_KEY("event", "What happens.", .example = "trip"), WORD, struct rm_ring_file_event, event, kinds,
                     CYAML_ARRAY_LEN(kinds)),
    CYAML_FIELD_UINT_PTR(RM_KEY("at_turn", "At this turn.", .otherwise = "the first turn; of a running ring the next",
                                .example = "2000000"),
                         MAYBE, struct rm_ring_file_event, at_turn),
    CYAML_FIELD_UINT_PTR(RM_KEY("for_turns", "Then it is over. Not of reset, kick, injection and good.",
                                .unit = "turns", .otherwise = "it stays", .example = "100000", RM_RANGE(1, 1e18)),
                         MAYBE, struct rm_ring_file_event, for_turns),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("supply", "Which supplies, as in `supplies`. Of trip, reset and ripple; of power_cycle their chains.",
               .otherwise = "required of them", .example = "c01/1"),
        MAYBE, struct rm_ring_file_event, supply, 1, SUPPLY_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("amplitude", "In the setpoint's unit. Of ripple.", .otherwise = "required of ripple",
                                 .example = "0.01", RM_RANGE(0, 1e9), .apart = true),
                          MAYBE, struct rm_ring_file_event, amplitude),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("hz", "Its frequency. Of ripple.", .unit = "Hz", .otherwise = "required of ripple",
                                 .example = "300", RM_RANGE(0, 1e7), .apart = true),
                          MAYBE, struct rm_ring_file_event, hz),
    CYAML_FIELD_STRING_PTR(RM_KEY("instrument",
                                  "Which instrument, entry or pattern; bpm01/2 is the second BPM of one. Of frozen, "
                                  "noisy, offset, dead, inverted, swapped_cables and good.",
                                  .otherwise = "required of them", .example = "bpm01/2", .apart = true),
                           MAYBE, struct rm_ring_file_event, instrument, 1, READING_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("with", "The BPM whose cable is at the other's place. Of swapped_cables.",
                                  .otherwise = "required of swapped_cables", .example = "bpm02/1", .apart = true),
                           MAYBE, struct rm_ring_file_event, with, 1, READING_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("x_um", "RMS of noisy, amount of offset, amplitude of kick and injection.",
                                 .unit = "µm", .otherwise = "of kick beam.kick_um or 100, else 0", .example = "100",
                                 RM_RANGE(-1e5, 1e5), .apart = true),
                          MAYBE, struct rm_ring_file_event, x_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("y_um", "The same vertically.", .unit = "µm", .otherwise = "as x_um of kick, else 0",
                                 .example = "100", RM_RANGE(-1e5, 1e5), .apart = true),
                          MAYBE, struct rm_ring_file_event, y_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("ma", "What is injected. Of injection.", .unit = "mA",
                                 .otherwise = "what is missing of machine.current_ma", .example = "1", RM_RANGE(0, 1e4),
                                 .apart = true),
                          MAYBE, struct rm_ring_file_event, ma),
    CYAML_FIELD_BOOL_PTR(RM_KEY("misfires", "The kicker does not fire, and what is injected is lost. Of injection.",
                                .otherwise = "false", .example = "true", .apart = true),
                         MAYBE, struct rm_ring_file_event, misfires),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_event_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_event, fields)};
cyaml_schema_value_t const rm_ring_event_alone_schema = {CYAML_VALUE_MAPPING(ALONE, struct rm_ring_file_event, fields)};

char const *rm_ring_event_name(enum rm_ring_event_kind kind) {
    for (size_t k = 0; k < CYAML_ARRAY_LEN(kinds); ++k)
        if (kinds[k].val == (int64_t)kind)
            return kinds[k].str;
    return "unknown";
}
