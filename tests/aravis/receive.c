// SPDX-License-Identifier: Apache-2.0
/** Receives frames of a GigE Vision camera by Aravis alone, for comparison: aravis-receive ADDRESS OURS COUNT FILE. Writes
 * each whole frame to FILE: u64 number, u32 pixel format, width, height, bytes (little-endian), and the bytes. Ends
 * after COUNT frames, whole or not, and prints a line of JSON: how many were whole, and packets sent again. */
#include <arv.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFERS = 16, TIMEOUT_US = 20000000, PACKET_BYTES = 1500 };

static void check(GError const *error, char const *what) {
    if (error != NULL)
        errx(1, "%s: %s", what, error->message);
}

/** By its address alone, so that a router may be between. */
static ArvCamera *camera_open(char const *address, char const *our_address) {
    GError *error = NULL;
    GInetAddress *const ours = g_inet_address_new_from_string(our_address);
    GInetAddress *const its = g_inet_address_new_from_string(address);
    ArvDevice *const device = arv_gv_device_new(ours, its, &error);
    check(error, address);
    ArvCamera *const camera = arv_camera_new_with_device(device, &error);
    check(error, address);
    g_object_unref(device);
    g_object_unref(its);
    g_object_unref(ours);
    arv_camera_gv_set_packet_size(camera, PACKET_BYTES, &error);
    check(error, "packet size");
    return camera;
}

static ArvStream *stream_open(ArvCamera *camera) {
    GError *error = NULL;
    ArvStream *const stream = arv_camera_create_stream(camera, NULL, NULL, &error);
    check(error, "stream");
    size_t const bytes = arv_camera_get_payload(camera, &error);
    check(error, "payload");
    for (int i = 0; i < BUFFERS; ++i)
        arv_stream_push_buffer(stream, arv_buffer_new(bytes, NULL));
    return stream;
}

static void frame_write(ArvBuffer *buffer, FILE *file) {
    size_t bytes;
    void const *const data = arv_buffer_get_data(buffer, &bytes);
    uint64_t const number = arv_buffer_get_frame_id(buffer);
    uint32_t const head[] = {arv_buffer_get_image_pixel_format(buffer), (uint32_t)arv_buffer_get_image_width(buffer),
                             (uint32_t)arv_buffer_get_image_height(buffer), (uint32_t)bytes};
    if (fwrite(&number, sizeof number, 1, file) != 1 || fwrite(head, sizeof head, 1, file) != 1 ||
        fwrite(data, 1, bytes, file) != bytes)
        err(1, "cannot write");
}

int main(int argc, char **argv) {
    if (argc != 5)
        errx(2, "expected ADDRESS OURS COUNT FILE");
    FILE *const file = fopen(argv[4], "we");
    if (file == NULL)
        err(1, "%s", argv[4]);
    ArvCamera *const camera = camera_open(argv[1], argv[2]);
    ArvStream *const stream = stream_open(camera);
    GError *error = NULL;
    arv_camera_start_acquisition(camera, &error);
    check(error, "acquisition");
    long const count = strtol(argv[3], NULL, 10);
    long whole = 0;
    for (long i = 0; i < count; ++i) {
        ArvBuffer *const buffer = arv_stream_timeout_pop_buffer(stream, TIMEOUT_US);
        if (buffer == NULL)
            errx(1, "no frame came, after %ld", i);
        if (arv_buffer_get_status(buffer) == ARV_BUFFER_STATUS_SUCCESS) {
            frame_write(buffer, file);
            ++whole;
        }
        arv_stream_push_buffer(stream, buffer);
    }
    arv_camera_stop_acquisition(camera, NULL);
    printf("{\"frames\": %ld, \"whole\": %ld, \"resent\": %" PRIu64 "}\n", count, whole,
           arv_stream_get_info_uint64_by_name(stream, "n_resent_packets"));
    g_object_unref(stream);
    g_object_unref(camera);
    return fclose(file) == 0 ? 0 : 1;
}
