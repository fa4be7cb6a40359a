// SPDX-License-Identifier: Apache-2.0
/** What a statement is, and the commands that matter: BEAM, CALL, USE. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "madx_text.h"

/* Commands about which a lattice need not care. */
static char const *const ignored[] = {
    "option",    "title",       "set",     "value",    "show",       "print",      "printf",   "plot",
    "setplot",   "resplot",     "twiss",   "survey",   "save",       "system",     "assign",   "eoption",
    "create",    "fill",        "write",   "setvars",  "match",      "endmatch",   "vary",     "constraint",
    "lmdif",     "jacobian",    "simplex", "weight",   "global",     "ibs",        "touschek", "aperture",
    "track",     "endtrack",    "start",   "run",      "observe",    "emit",       "help",     "delete",
    "savebeta",  "coguess",     "eprint",  "esave",    "sodd",       "dynap",      "envelope", "use_macro",
    "readtable", "readmytable", "chdir",   "copyfile", "removefile", "renamefile", "resbeam",  "sixtrack",
    "correct",   "usemonitor",  "usekick", "csave",    "sxfwrite"};

/** BEAM of a sequence, or of all. What is said again is set anew. */
static bool set_beam(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes) {
    char name[RM_MADX_NAME_BYTES + 8];
    char const *const sequence = rm_madx_word(madx, attributes, "sequence");
    snprintf(name, sizeof name, "beam%%%.*s", RM_MADX_NAME_BYTES, sequence != NULL ? sequence : "");
    struct rm_madx_object *beam = rm_madx_find(madx, name);
    if (beam == NULL)
        beam = rm_madx_define(madx, name, RM_MADX_BEAM);
    return beam != NULL && rm_madx_join(madx, &beam->attributes, attributes);
}

static bool call_file(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes) {
    struct rm_madx_attribute_value const *const file = rm_madx_attribute(attributes, "file");
    if (file == NULL)
        return rm_reading_fail(madx->reading, "CALL needs file = \"NAME\"");
    if (madx->depth >= RM_MOST_DEPTH / 2)
        return rm_reading_fail(madx->reading, "files CALL each other more than %d deep", RM_MOST_DEPTH / 2);
    size_t const length = strlen(file->text);
    bool const quoted = length >= 2 && (file->text[0] == '"' || file->text[0] == '\'');
    char const *const slash = strrchr(madx->here.path, '/');
    char const *const name = file->text + (quoted ? 1 : 0);
    int const folder = slash == NULL || *name == '/' ? 0 : (int)(slash - madx->here.path + 1);
    char path[1024];
    if (snprintf(path, sizeof path, "%.*s%.*s", folder, madx->here.path, (int)length - (quoted ? 2 : 0), name) >=
        (int)sizeof path)
        return rm_reading_fail(madx->reading, "the path of the called file is too long");
    char const *text;
    size_t count;
    if (!rm_reading_load(madx->reading, path, &text, &count))
        return false;
    char *const inner = rm_reading_text(madx->reading, path, strlen(path));
    if (inner == NULL || !rm_madx_round(madx, count))
        return false;
    ++madx->depth;
    bool const held = rm_madx_run(madx, inner, text, count);
    --madx->depth;
    return held;
}

static bool use_sequence(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes) {
    char const *used = rm_madx_word(madx, attributes, "sequence");
    if (used == NULL)
        used = rm_madx_word(madx, attributes, "period");
    if (used == NULL && attributes->count != 0)
        used = attributes->list[0].name; /* USE, NAME */
    madx->used = used;
    return used != NULL ? true : rm_reading_fail(madx->reading, "USE needs sequence = NAME");
}

static bool is_ignored(char const *command) {
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; ++i)
        if (strcasecmp(command, ignored[i]) == 0)
            return true;
    return strncasecmp(command, "ptc_", 4) == 0;
}

/** Something already defined that is named again: in a sequence it stands there, elsewhere its attributes change. */
static bool mention_object(struct rm_madx *madx, char const *name, struct rm_madx_attribute_list const *attributes) {
    struct rm_madx_object *const object = rm_madx_find(madx, name);
    if (madx->open != NULL)
        return rm_madx_append(madx, madx->open, name, attributes);
    if (object != NULL && (object->kind == RM_MADX_ELEMENT || object->kind == RM_MADX_SEQUENCE))
        return rm_madx_join(madx, &object->attributes, attributes);
    return rm_reading_fail(madx->reading,
                           "%.60s is no command that is read here and no element; take it out, or define the "
                           "element before",
                           name);
}

/** What has no attributes to be looked at, or has them looked at by others. */
static bool run_madx_command(struct rm_madx *madx, char const *name, char const *text) {
    struct rm_madx_attribute_list attributes;
    if (strcasecmp(name, "exec") == 0)
        return rm_madx_exec(madx, text);
    if (is_ignored(name))
        return true;
    if (*text != ',' && *text != '\0')
        return rm_reading_fail(madx->reading, "%.60s and what is behind it are not understood: \"%.20s\"", name, text);
    if (!rm_madx_attributes(madx, text, &attributes))
        return false;
    if (strcasecmp(name, "endsequence") == 0) {
        madx->open = NULL;
        return true;
    }
    if (strcasecmp(name, "beam") == 0)
        return set_beam(madx, &attributes);
    if (strcasecmp(name, "call") == 0)
        return call_file(madx, &attributes);
    if (strcasecmp(name, "use") == 0)
        return use_sequence(madx, &attributes);
    if (strcasecmp(name, "select") == 0)
        return rm_madx_select(madx, &attributes);
    if (rm_madx_is_edit(name))
        return rm_madx_edit(madx, name, &attributes);
    madx->stopped = strcasecmp(name, "stop") == 0 || strcasecmp(name, "exit") == 0 || strcasecmp(name, "quit") == 0;
    madx->ended = madx->stopped || strcasecmp(name, "return") == 0;
    return madx->ended || mention_object(madx, name, &attributes);
}

/** Passes CONST, REAL, INT and SHARED in front of a name. */
static bool read_defined(struct rm_madx *madx, char const **text, char name[RM_MADX_NAME_BYTES]) {
    static char const *const qualifiers[] = {"const", "real", "int", "shared"};
    if (!rm_madx_read_name(madx, text, name))
        return false;
    for (int i = 0; i < 4; ++i)
        if (strcasecmp(name, qualifiers[i]) == 0 && (isalnum((unsigned char)**text) || **text == '_')) {
            if (!rm_madx_read_name(madx, text, name))
                return false;
            i = -1;
        }
    return true;
}

bool rm_madx_statement(struct rm_madx *madx, char const *text) {
    char name[RM_MADX_NAME_BYTES];
    if (!read_defined(madx, &text, name))
        return false;
    if (name[0] == '\0')
        return rm_reading_fail(madx->reading, "expected a command or a definition, found \"%.20s\"", text);
    char const equals = rm_madx_read_equals(&text);
    if (equals != 0)
        return rm_madx_set_variable(madx, name, text, equals == ':');
    if (*text == ':')
        return rm_madx_define_labelled(madx, name, text + 1);
    return run_madx_command(madx, name, text);
}
