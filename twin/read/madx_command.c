// SPDX-License-Identifier: Apache-2.0
/** What statements do: set variables, define elements, lines and sequences, and the few commands that matter. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

/** A statement that is being looked at. */
struct statement {
    struct rm_madx *madx;
    char const *path;
    char const *at;
    uint32_t line;
};

/* Commands about which a lattice need not care. */
static char const *const ignored[] = {
    "option",   "title",      "set",       "value",       "show",    "print",    "printf",     "plot",
    "setplot",  "resplot",    "select",    "twiss",       "survey",  "save",     "system",     "assign",
    "eoption",  "flatten",    "create",    "fill",        "write",   "setvars",  "match",      "endmatch",
    "vary",     "constraint", "lmdif",     "jacobian",    "simplex", "weight",   "global",     "ibs",
    "touschek", "aperture",   "track",     "endtrack",    "start",   "run",      "observe",    "emit",
    "help",     "delete",     "savebeta",  "coguess",     "eprint",  "esave",    "sodd",       "dynap",
    "envelope", "use_macro",  "readtable", "readmytable", "chdir",   "copyfile", "removefile", "renamefile",
    "resbeam",  "sixtrack",   "correct",   "usemonitor",  "usekick", "csave",    "sxfwrite"};

static void skip(struct statement *statement) {
    while (isspace((unsigned char)*statement->at))
        ++statement->at;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || strchr("_.$'%", c) != NULL; }

/** A name, maybe in quotes; empty: none is next. */
static bool read_name(struct statement *statement, char name[RM_MADX_NAME_BYTES]) {
    skip(statement);
    size_t length = 0;
    bool const quoted = *statement->at == '"';
    statement->at += quoted ? 1 : 0;
    while (*statement->at != '\0' && length < RM_MADX_NAME_BYTES - 1 &&
           (quoted ? *statement->at != '"' : is_name(*statement->at)))
        name[length++] = *statement->at++;
    name[length] = '\0';
    statement->at += quoted && *statement->at == '"' ? 1 : 0;
    if (length == RM_MADX_NAME_BYTES - 1)
        return rm_reading_fail(statement->madx->reading, "a name is longer than %d: %.40s...", RM_MADX_NAME_BYTES - 1,
                               name);
    skip(statement);
    return true;
}

/** = or := ; 0: neither. */
static char read_equals(struct statement *statement) {
    skip(statement);
    bool const deferred = statement->at[0] == ':' && statement->at[1] == '=';
    if (!deferred && *statement->at != '=')
        return 0;
    statement->at += deferred ? 2 : 1;
    skip(statement);
    return deferred ? ':' : '=';
}

static bool set_variable(struct statement *statement, char const *name, bool deferred) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_attribute value = {.line = statement->line};
    value.text = rm_reading_text(madx->reading, statement->at, strlen(statement->at));
    if (value.text == NULL || (!deferred && !rm_madx_fix(madx, &value)))
        return false;
    value.name = "";
    struct rm_madx_object *const variable = rm_madx_define(madx, name, RM_MADX_VARIABLE, statement->line);
    if (variable != NULL)
        variable->value = value;
    return variable != NULL;
}

static bool join(struct rm_madx *madx, struct rm_madx_attributes *to, struct rm_madx_attributes const *more) {
    struct rm_madx_attribute *const list =
        rm_reading_take(madx->reading, (size_t)to->count + more->count + 1, sizeof *list);
    if (list == NULL)
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < to->count; ++i) /* what is said anew goes */
        if (rm_madx_attribute(more, to->list[i].name) == NULL)
            list[count++] = to->list[i];
    for (uint32_t i = 0; i < more->count; ++i)
        list[count++] = more->list[i];
    *to = (struct rm_madx_attributes){list, count};
    return true;
}

static bool append(struct rm_madx *madx, struct rm_madx_entry **first, struct rm_madx_entry **last, char const *name,
                   struct rm_madx_attributes const *attributes, uint32_t line) {
    struct rm_madx_entry *const entry = rm_reading_take(madx->reading, 1, sizeof *entry);
    char *const copy = rm_reading_text(madx->reading, name, strlen(name));
    if (entry == NULL || copy == NULL)
        return false;
    *entry = (struct rm_madx_entry){.name = copy, .attributes = *attributes, .line = line};
    if (*first == NULL)
        *first = entry;
    else
        (*last)->next = entry;
    *last = entry;
    return true;
}

/** A line's list, behind LINE: = (…). */
static bool define_line(struct statement *statement, char const *label) {
    struct rm_madx *const madx = statement->madx;
    if (read_equals(statement) == 0 || *statement->at != '(')
        return rm_reading_fail(madx->reading, "line %.60s: expected = (ELEMENT, ...)", label);
    char *const list = rm_reading_text(madx->reading, statement->at, strlen(statement->at));
    struct rm_madx_object *const line =
        list != NULL ? rm_madx_define(madx, label, RM_MADX_LINE, statement->line) : NULL;
    if (line == NULL)
        return false;
    line->value.text = list;
    madx->last = line;
    return true;
}

static bool define_element(struct statement *statement, char const *label, char const *base,
                           struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_object const *const from = rm_madx_find(madx, base);
    struct rm_madx_attributes all = {0};
    if (from != NULL && from->kind == RM_MADX_ELEMENT)
        all = from->attributes;
    char *const copy = rm_reading_text(madx->reading, base, strlen(base));
    if (copy == NULL || !join(madx, &all, attributes))
        return false;
    struct rm_madx_object *const element = rm_madx_define(madx, label, RM_MADX_ELEMENT, statement->line);
    if (element == NULL)
        return false;
    element->base = copy;
    element->attributes = all;
    return true;
}

static bool define_sequence(struct statement *statement, char const *label,
                            struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_object *const sequence = rm_madx_define(madx, label, RM_MADX_SEQUENCE, statement->line);
    if (sequence == NULL)
        return false;
    sequence->attributes = *attributes;
    madx->open = sequence;
    madx->last = sequence;
    return true;
}

/** LABEL : CLASS, attributes. In a sequence it also stands there. */
static bool define(struct statement *statement, char const *label) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_attributes attributes;
    char base[RM_MADX_NAME_BYTES];
    rm_madx_at(madx, statement->line, label);
    if (!read_name(statement, base))
        return false;
    if (base[0] == '\0')
        return rm_reading_fail(madx->reading, "expected a class behind the colon, found \"%.20s\"", statement->at);
    if (strcasecmp(base, "line") == 0)
        return define_line(statement, label);
    if (*statement->at != ',' && *statement->at != '\0')
        return rm_reading_fail(madx->reading, "expected ',' behind %.60s, found \"%.20s\"", base, statement->at);
    if (!rm_madx_attributes(madx, statement->at, statement->line, &attributes))
        return false;
    if (strcasecmp(base, "sequence") == 0)
        return define_sequence(statement, label, &attributes);
    if (!define_element(statement, label, base, &attributes))
        return false;
    return madx->open == NULL ||
           append(madx, &madx->open->entries, &madx->open->last_entry, label, &attributes, statement->line);
}

/** BEAM of a sequence, or of all. What is said again is set anew. */
static bool set_beam(struct statement *statement, struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
    char name[RM_MADX_NAME_BYTES + 8];
    char const *const sequence = rm_madx_word(madx, attributes, "sequence");
    snprintf(name, sizeof name, "beam%%%.*s", RM_MADX_NAME_BYTES, sequence != NULL ? sequence : "");
    struct rm_madx_object *beam = rm_madx_find(madx, name);
    if (beam == NULL)
        beam = rm_madx_define(madx, name, RM_MADX_BEAM, statement->line);
    return beam != NULL && join(madx, &beam->attributes, attributes);
}

static bool call_file(struct statement *statement, struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_attribute const *const file = rm_madx_attribute(attributes, "file");
    if (file == NULL)
        return rm_reading_fail(madx->reading, "CALL needs file = \"NAME\"");
    if (madx->depth >= RM_MOST_DEPTH / 4)
        return rm_reading_fail(madx->reading, "files CALL each other more than %d deep", RM_MOST_DEPTH / 4);
    size_t const length = strlen(file->text);
    bool const quoted = length >= 2 && (file->text[0] == '"' || file->text[0] == '\'');
    char const *const slash = strrchr(statement->path, '/');
    char const *const name = file->text + (quoted ? 1 : 0);
    int const folder = slash == NULL || *name == '/' ? 0 : (int)(slash - statement->path + 1);
    char path[1024];
    if (snprintf(path, sizeof path, "%.*s%.*s", folder, statement->path, (int)length - (quoted ? 2 : 0), name) >=
        (int)sizeof path)
        return rm_reading_fail(madx->reading, "the path of the called file is too long");
    char const *text;
    size_t count;
    if (!rm_reading_load(madx->reading, path, &text, &count))
        return false;
    char const *const outer = madx->reading->path;
    char *const inner = rm_reading_text(madx->reading, path, strlen(path));
    if (inner == NULL)
        return false;
    ++madx->depth;
    madx->reading->path = inner;
    bool const held = rm_madx_run(madx, inner, text, count);
    madx->reading->path = outer;
    --madx->depth;
    return held;
}

static bool edit(struct statement *statement, char const *command, struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
    if (strcasecmp(command, "endedit") == 0) {
        madx->edited = NULL;
        return true;
    }
    if (strcasecmp(command, "seqedit") == 0) {
        char const *const name = rm_madx_word(madx, attributes, "sequence");
        madx->edited = name != NULL ? rm_madx_find(madx, name) : NULL;
        if (madx->edited == NULL || (madx->edited->kind != RM_MADX_SEQUENCE && madx->edited->kind != RM_MADX_LINE))
            return rm_reading_fail(madx->reading, "SEQEDIT of %.60s, which is no line or sequence; define it before",
                                   name != NULL ? name : "nothing");
        return true;
    }
    char const *const element = rm_madx_word(madx, attributes, "element");
    if (madx->edited == NULL || element == NULL)
        return rm_reading_fail(madx->reading,
                               "INSTALL stands between SEQEDIT and ENDEDIT, with element = NAME, at = m");
    char const *const class = rm_madx_word(madx, attributes, "class");
    static struct rm_madx_attributes const nothing = {0};
    if (rm_madx_find(madx, element) == NULL && class != NULL && !define_element(statement, element, class, &nothing))
        return false;
    return append(madx, &madx->edited->installs, &madx->edited->last_install, element, attributes, statement->line);
}

static bool use(struct statement *statement, struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
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
static bool mention(struct statement *statement, char const *name, struct rm_madx_attributes const *attributes) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_object *const object = rm_madx_find(madx, name);
    if (madx->open != NULL)
        return append(madx, &madx->open->entries, &madx->open->last_entry, name, attributes, statement->line);
    if (object != NULL && (object->kind == RM_MADX_ELEMENT || object->kind == RM_MADX_SEQUENCE))
        return join(madx, &object->attributes, attributes);
    return rm_reading_fail(madx->reading,
                           "%.60s is no command that is read here and no element; take it out, or define the "
                           "element before",
                           name);
}

static bool command(struct statement *statement, char const *name) {
    struct rm_madx *const madx = statement->madx;
    struct rm_madx_attributes attributes;
    if (is_ignored(name))
        return true;
    if (!rm_madx_attributes(madx, statement->at, statement->line, &attributes))
        return false;
    if (strcasecmp(name, "endsequence") == 0) {
        madx->open = NULL;
        return true;
    }
    if (strcasecmp(name, "beam") == 0)
        return set_beam(statement, &attributes);
    if (strcasecmp(name, "call") == 0)
        return call_file(statement, &attributes);
    if (strcasecmp(name, "use") == 0)
        return use(statement, &attributes);
    if (strcasecmp(name, "seqedit") == 0 || strcasecmp(name, "endedit") == 0 || strcasecmp(name, "install") == 0)
        return edit(statement, name, &attributes);
    madx->stopped = strcasecmp(name, "stop") == 0 || strcasecmp(name, "exit") == 0 || strcasecmp(name, "quit") == 0;
    madx->ended = madx->stopped || strcasecmp(name, "return") == 0;
    return madx->ended || mention(statement, name, &attributes);
}

bool rm_madx_statement(struct rm_madx *madx, char const *path, char const *text, uint32_t line) {
    static char const *const qualifiers[] = {"const", "real", "int", "shared"};
    struct statement statement = {madx, path, text, line};
    char name[RM_MADX_NAME_BYTES];
    if (!read_name(&statement, name))
        return false;
    for (int i = 0; i < 4; ++i)
        if (strcasecmp(name, qualifiers[i]) == 0 && is_name(*statement.at)) {
            if (!read_name(&statement, name))
                return false;
            i = -1;
        }
    if (name[0] == '\0')
        return rm_reading_fail(madx->reading, "expected a command or a definition, found \"%.20s\"", statement.at);
    char const equals = read_equals(&statement);
    if (equals != 0)
        return set_variable(&statement, name, equals == ':');
    if (*statement.at == ':') {
        ++statement.at;
        return define(&statement, name);
    }
    if (*statement.at != ',' && *statement.at != '\0' && !is_ignored(name))
        return rm_reading_fail(madx->reading, "%.60s and what is behind it are not understood: \"%.20s\"", name,
                               statement.at);
    return command(&statement, name);
}
