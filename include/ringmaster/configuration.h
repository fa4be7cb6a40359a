// SPDX-License-Identifier: Apache-2.0
/** An application's own file, read into a struct of its own.
 *
 * The application says which keys the file may have, each with the member that takes its value:
 *
 *     struct mine {
 *         double gain, period_s;
 *         char *response;
 *     };
 *
 *     static struct rm_key const keys[] = {
 *         RM_KEY_NUMBER(struct mine, gain, "gain", "Share that is corrected per step.", .fallback = "0.5",
 *                       RM_BETWEEN(0, 1)),
 *         RM_KEY_NUMBER(struct mine, period_s, "period_ms", "From one look to the next.", .unit = "ms",
 *                       .fallback = "100", RM_BETWEEN(1, 1e6), .scale = 1e-3),
 *         RM_KEY_TEXT(struct mine, response, "response", "The response matrix, a file.", .required = true),
 *         RM_KEYS_END,
 *     };
 *
 * and reads it in `open`:
 *
 *     struct mine mine = {0};
 *     struct rm_errors errors = {.count = 0};
 *     if (rm_configuration_load(setup->configuration, keys, &mine, NULL, &errors) != RM_OK)
 *         return rm_errors_report(&errors, setup->name, setup->configuration, error);
 *     …
 *     rm_configuration_free(keys, &mine);
 *
 * The file is YAML. All that is wrong with it is told at once, with its place, what was expected, and what may have
 * been meant:
 *
 *     mine.yaml:3:1: unknown key "gian", expected one of: gain, period_ms, response (did you mean "gain"?)
 *     mine.yaml:4:12: period_ms: found 0, expected 1 to 1000000
 *
 * A key that is not in the file has its `fallback`; without one, a number is NaN, a whole number 0, a text NULL, a list
 * of 0 entries. So it is with the keys of a mapping that is not in the file, required ones included.
 *
 * Cold path only: it allocates and opens files. In the library `ringmaster-support`.
 */
#ifndef RINGMASTER_CONFIGURATION_H
#define RINGMASTER_CONFIGURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/errors.h>

/** What a key's value is. The macros below choose it, and look whether the member is of the type that it needs. */
enum rm_key_kind {
    RM_KEY_IS_NUMBER,
    RM_KEY_IS_WHOLE,
    RM_KEY_IS_TRUTH,
    RM_KEY_IS_WORD,
    RM_KEY_IS_TEXT,
    RM_KEY_IS_MAPPING,
    /** A list: of numbers, of texts, of mappings. */
    RM_KEY_IS_NUMBERS,
    RM_KEY_IS_TEXTS,
    RM_KEY_IS_MAPPINGS,
};

struct rm_key {
    /** Name in the file, of at most 23 bytes; NULL ends a list of keys. */
    char const *name;
    /** What the key is for, in a sentence. */
    char const *help;
    enum rm_key_kind kind;
    bool required;
    /** The pages that show all keys leave it out, because it does not go with the rest. */
    bool apart;
    /** Of a text, such as an expression: people may write a number without quotes, as YAML then takes it. */
    bool or_number;
    /** Where the member is in its struct; of a list, also where its uint32_t number of entries is. */
    size_t at, count_at;
    /** Unit in the file. */
    char const *unit;
    /** The default as a file would give it. NULL: there is none. */
    char const *fallback;
    /** The default in words, where it is no constant: "the first one's". */
    char const *otherwise;
    /** An example where there is no default. */
    char const *example;
    /** Range of a number, bytes of a text, entries of a list. Both 0: any number; 1 to 4095 bytes; 0 to 1024 entries.
     */
    double least, most;
    /** The member of a number gets the file's times this, for another unit. 0: the same. */
    double scale;
    /** The words that there are, ended by NULL. The member gets the index of the one in the file. */
    char const *const *words;
    /** Keys of a mapping, or of each entry of a list of mappings. */
    struct rm_key const *keys;
    /** Bytes of an entry of a list of mappings. */
    size_t entry_bytes;
};

/** Where a member is; refused by the compiler where it is not of type `wanted`. */
// NOLINTBEGIN(bugprone-macro-parentheses): a type in _Generic stands without
#define RM_MEMBER(type, member, wanted)                                                                                \
    (offsetof(type, member) + 0 * sizeof(_Generic(((type *)NULL)->member, wanted : 0)))
// NOLINTEND(bugprone-macro-parentheses)

/** A decimal number: double. */
#define RM_KEY_NUMBER(type, member, key, text, ...)                                                                    \
    { .name = key, .help = text, .kind = RM_KEY_IS_NUMBER, .at = RM_MEMBER(type, member, double), ##__VA_ARGS__ }
/** A whole number from 0 to 2^32 − 1, also hexadecimal after 0x: uint32_t. */
#define RM_KEY_WHOLE(type, member, key, text, ...)                                                                     \
    { .name = key, .help = text, .kind = RM_KEY_IS_WHOLE, .at = RM_MEMBER(type, member, uint32_t), ##__VA_ARGS__ }
/** `true` or `false`: bool. */
#define RM_KEY_TRUTH(type, member, key, text, ...)                                                                     \
    { .name = key, .help = text, .kind = RM_KEY_IS_TRUTH, .at = RM_MEMBER(type, member, bool), ##__VA_ARGS__ }
/** One of `.words`: uint32_t, or an enum. */
#define RM_KEY_WORD(type, member, key, text, ...)                                                                      \
    { .name = key, .help = text, .kind = RM_KEY_IS_WORD, .at = RM_MEMBER(type, member, uint32_t), ##__VA_ARGS__ }
/** Text: char *. */
#define RM_KEY_TEXT(type, member, key, text, ...)                                                                      \
    { .name = key, .help = text, .kind = RM_KEY_IS_TEXT, .at = RM_MEMBER(type, member, char *), ##__VA_ARGS__ }
/** A mapping with these keys: a struct within the struct. */
#define RM_KEY_MAPPING(type, member, key, text, members, ...)                                                          \
    {                                                                                                                  \
        .name = key, .help = text, .kind = RM_KEY_IS_MAPPING, .at = offsetof(type, member), .keys = members,           \
        ##__VA_ARGS__                                                                                                  \
    }
/** A list of numbers: double *. */
#define RM_KEY_NUMBERS(type, member, count, key, text, ...)                                                            \
    {                                                                                                                  \
        .name = key, .help = text, .kind = RM_KEY_IS_NUMBERS, .at = RM_MEMBER(type, member, double *),                 \
        .count_at = RM_MEMBER(type, count, uint32_t), ##__VA_ARGS__                                                    \
    }
/** A list of texts: char **. */
#define RM_KEY_TEXTS(type, member, count, key, text, ...)                                                              \
    {                                                                                                                  \
        .name = key, .help = text, .kind = RM_KEY_IS_TEXTS, .at = RM_MEMBER(type, member, char **),                    \
        .count_at = RM_MEMBER(type, count, uint32_t), ##__VA_ARGS__                                                    \
    }
/** A list of mappings with these keys: a pointer to structs, which come zeroed but for the keys' members. */
#define RM_KEY_MAPPINGS(type, member, count, key, text, members, ...)                                                  \
    {                                                                                                                  \
        .name = key, .help = text, .kind = RM_KEY_IS_MAPPINGS, .at = offsetof(type, member),                           \
        .count_at = RM_MEMBER(type, count, uint32_t), .keys = members, .entry_bytes = sizeof *((type *)NULL)->member,  \
        ##__VA_ARGS__                                                                                                  \
    }
#define RM_KEYS_END                                                                                                    \
    { .name = NULL }

/** What the value must keep: a number its range, a text its bytes, a list its entries. */
#define RM_BETWEEN(low, high) .least = (low), .most = (high)

/** Judges what keys cannot, such as two values that must fit together, and reads the files that the file names. Adds
 * what it refuses to `errors`, and returns the code of the first. It is called also where a number is out of its range,
 * so that people are told everything at once. */
typedef enum rm_code rm_configuration_check(char const *path, void *values, struct rm_errors *errors);

/** Reads the file into `*values`, a zeroed struct, of which only the keys' members are written; `check` may be NULL.
 * `path` is NULL where the application's entry names no file: then each key has its default, and a required one is
 * refused.
 * RM_OK when nothing is wrong: then the texts and lists are the struct's, until rm_configuration_free. Otherwise adds
 * all that is wrong to `errors`, returns the first one's code, and the struct holds nothing to be freed but what the
 * check has put there: RM_E_SYSTEM when the file cannot be read, RM_E_CONFIG, RM_E_NO_SPACE. */
enum rm_code rm_configuration_load(char const *path, struct rm_key const *keys, void *values,
                                   rm_configuration_check *check, struct rm_errors *errors);

/** Frees the texts and lists of the keys' members, and sets these to none. */
void rm_configuration_free(struct rm_key const *keys, void *values);

/** Adds "FILE:LINE:COLUMN: KEY: text" to the errors: for a check. The place is that of the key's value
 * ("families[1].plant.delay_us"), or of the nearest that is there above it. Returns RM_E_CONFIG. */
enum rm_code rm_configuration_refuse(struct rm_errors *errors, char const *path, char const *key, char const *format,
                                     ...) __attribute__((format(printf, 4, 5)));

/** The path of a file that the file at `path` names: from its folder, unless `name` begins with a slash. To be freed;
 * NULL without memory. */
char *rm_configuration_beside(char const *path, char const *name);

#endif
