// SPDX-License-Identifier: Apache-2.0
/** The inside of message.h: bodies that are longer than a few numbers. */
#ifndef RM_STANDBY_LINK_MESSAGE_PARTS_H
#define RM_STANDBY_LINK_MESSAGE_PARTS_H

#include "standby/link/cursor.h"
#include "standby/link/message.h"

/* message_status.c. A HELLO of a later version may be longer: what is behind is left alone. */
void rm_peer_hello_write(struct rm_peer_writer *writer, struct rm_peer_hello const *hello);
bool rm_peer_hello_read(struct rm_peer_reader *reader, struct rm_peer_hello *hello);
bool rm_peer_status_write(struct rm_peer_writer *writer, struct rm_peer_status const *status);
bool rm_peer_status_read(struct rm_peer_reader *reader, struct rm_peer_status *status);

/* message_data.c */
bool rm_peer_vector_write(struct rm_peer_writer *writer, struct rm_peer_vector const *vector);
bool rm_peer_vector_read(struct rm_peer_reader *reader, struct rm_peer_vector *vector);
bool rm_peer_step_write(struct rm_peer_writer *writer, struct rm_peer_step const *step);
bool rm_peer_step_read(struct rm_peer_reader *reader, struct rm_peer_step *step);

/* message_copy.c */
void rm_peer_want_write(struct rm_peer_writer *writer, struct rm_peer_want const *want);
bool rm_peer_want_read(struct rm_peer_reader *reader, struct rm_peer_want *want);
void rm_peer_offer_write(struct rm_peer_writer *writer, struct rm_peer_offer const *offer);
bool rm_peer_offer_read(struct rm_peer_reader *reader, struct rm_peer_offer *offer);
bool rm_peer_chunk_write(struct rm_peer_writer *writer, struct rm_peer_chunk const *chunk);
bool rm_peer_chunk_read(struct rm_peer_reader *reader, struct rm_peer_chunk *chunk);

#endif
