// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <string.h>

#include "m.h"

static void skip_line(struct rm_m_parser *parser) {
    char const *const end = memchr(parser->at, '\n', (size_t)(parser->end - parser->at));
    parser->at = end != NULL ? end : parser->end;
}

void rm_m_skip(struct rm_m_parser *parser, bool lines) {
    for (;;) {
        char const c = *parser->at;
        if (c == '%' || c == '#') {
            skip_line(parser);
        } else if (strncmp(parser->at, "...", 3) == 0) {
            skip_line(parser);
            if (parser->at < parser->end) {
                ++parser->at;
                ++parser->line;
            }
        } else if (c == '\n' && lines) {
            ++parser->at;
            ++parser->line;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++parser->at;
        } else {
            return;
        }
    }
}

bool rm_m_accept(struct rm_m_parser *parser, char mark) {
    rm_m_skip(parser, !parser->in_matrix);
    if (*parser->at != mark || parser->at == parser->end)
        return false;
    ++parser->at;
    return true;
}

void rm_m_here(struct rm_m_parser *parser) { rm_reading_at(parser->reading, "line %u", parser->line); }

bool rm_m_expect(struct rm_m_parser *parser, char mark, char const *where) {
    if (rm_m_accept(parser, mark))
        return true;
    rm_m_here(parser);
    return rm_reading_fail(parser->reading, "expected '%c' %s, found \"%.20s\"", mark, where, parser->at);
}

void rm_m_name(struct rm_m_parser *parser, char name[RM_M_NAME_BYTES]) {
    size_t length = 0;
    rm_m_skip(parser, !parser->in_matrix);
    while (length < RM_M_NAME_BYTES - 1 && (isalpha((unsigned char)*parser->at) || *parser->at == '_' ||
                                            (length != 0 && isdigit((unsigned char)*parser->at))))
        name[length++] = *parser->at++;
    name[length] = '\0';
}
