#include "SocketLoop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

// Several messages are written with one call while they are small.
enum { BATCH = 1 << 16, HEAD = 14, READ = 1 << 16 };

typedef struct {
  int socket;
  long bytes, count, in_flight;
  uint8_t first;
  long framed, received;
  // The frames that are being written.
  uint8_t *output;
  size_t output_count, offset;
  // The head of the frame that is being read, and how much of its payload is missing.
  uint8_t head[HEAD];
  size_t head_count;
  uint64_t missing;
  uint8_t *input;
} echo;

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static const char *open_socket(echo *e, int port) {
  e->socket = socket(AF_INET, SOCK_STREAM, 0);
  if (e->socket < 0) return "no socket";
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(e->socket, (struct sockaddr *)&address, sizeof address) != 0) return "the server does not listen";
  int one = 1;
  setsockopt(e->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  char head[512];
  int length = snprintf(
    head, sizeof head,
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", port);
  if (send(e->socket, head, (size_t)length, MSG_NOSIGNAL) != length) return "the opening request was not sent";
  size_t count = 0;
  char response[4096];
  while (count < sizeof response - 1) {
    // Byte by byte, so that no frame is read with the response.
    if (recv(e->socket, response + count, 1, 0) != 1) return "the server closed the connection";
    response[++count] = 0;
    if (count >= 4 && memcmp(response + count - 4, "\r\n\r\n", 4) == 0) break;
  }
  if (strncmp(response, "HTTP/1.1 101", 12) != 0) return "the server did not respond with 101";
  return fcntl(e->socket, F_SETFL, O_NONBLOCK) == 0 ? NULL : "no non-blocking socket";
}

static void append_frame(echo *e) {
  uint8_t *at = e->output + e->output_count;
  size_t bytes = (size_t)e->bytes;
  *at++ = e->first;
  if (bytes <= 125) {
    *at++ = (uint8_t)(0x80 | bytes);
  } else {
    int size = bytes <= 0xFFFF ? 2 : 8;
    *at++ = size == 2 ? 0x80 | 126 : 0x80 | 127;
    for (int i = size - 1; i >= 0; i--) *at++ = (uint8_t)(bytes >> (8 * i));
  }
  uint32_t mask = (uint32_t)rand();
  memcpy(at, &mask, 4);
  uint8_t key[4];
  memcpy(key, &mask, 4);
  at += 4;
  for (size_t i = 0; i < bytes; i++) at[i] = 'x' ^ key[i & 3];
  e->output_count = (size_t)(at - e->output) + bytes;
  e->framed++;
}

static bool may_send(const echo *e) {
  return e->framed < e->count && (e->in_flight == 0 || e->framed - e->received < e->in_flight);
}

static const char *write_frames(echo *e) {
  for (;;) {
    if (e->offset == e->output_count) {
      e->offset = e->output_count = 0;
      do {
        if (!may_send(e)) break;
        append_frame(e);
      } while (e->output_count + (size_t)e->bytes + HEAD <= BATCH);
      if (e->output_count == 0) return NULL;
    }
    ssize_t sent = send(e->socket, e->output + e->offset, e->output_count - e->offset, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? NULL : "the connection was lost";
    e->offset += (size_t)sent;
  }
}

// How many bytes the head of a frame has, whose first two are known.
static size_t head_size(uint8_t second) { return second == 126 ? 4 : second == 127 ? 10 : 2; }

static const char *read_frames(echo *e) {
  ssize_t count = recv(e->socket, e->input, READ, 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? NULL : "the connection was lost";
  if (count == 0) return "the server closed the connection";
  size_t at = 0;
  while (at < (size_t)count) {
    if (e->missing > 0) {
      uint64_t part = e->missing < (uint64_t)count - at ? e->missing : (uint64_t)count - at;
      at += part;
      e->missing -= part;
      if (e->missing == 0) e->received++;
      continue;
    }
    e->head[e->head_count++] = e->input[at++];
    if (e->head_count < 2 || e->head_count < head_size(e->head[1])) continue;
    if (e->head[0] != e->first) return "the server did not echo whole messages";
    size_t size = head_size(e->head[1]);
    uint64_t length = size == 2 ? e->head[1] : 0;
    for (size_t i = 2; i < size; i++) length = length << 8 | e->head[i];
    if (length != (uint64_t)e->bytes) return "an echo has another length than the message";
    e->head_count = 0;
    e->missing = length;
  }
  return NULL;
}

static const char *echo_all(echo *e) {
  while (e->received < e->count) {
    const char *failure = write_frames(e);
    if (failure != NULL) return failure;
    struct pollfd poll_for = {e->socket, POLLIN, 0};
    if (e->offset < e->output_count) poll_for.events |= POLLOUT;
    if (poll(&poll_for, 1, 10000) == 0) return "the server was silent for 10 s";
    if ((poll_for.revents & ~POLLOUT) != 0 && (failure = read_frames(e)) != NULL) return failure;
  }
  return NULL;
}

// Sends a close frame, and waits until the server has closed the connection.
static void close_socket(echo *e) {
  static const uint8_t frame[] = {0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8};
  struct pollfd poll_for = {e->socket, POLLIN, 0};
  if (send(e->socket, frame, sizeof frame, MSG_NOSIGNAL) != (ssize_t)sizeof frame) return;
  while (poll(&poll_for, 1, 1000) == 1 && recv(e->socket, e->input, READ, 0) > 0) {}
}

const char *socket_loop_run(
  int port, bool is_text, long bytes, long count, long in_flight, socket_loop_result *result) {
  echo e = {.socket = -1, .bytes = bytes, .count = count, .in_flight = in_flight};
  e.first = is_text ? 0x81 : 0x82;
  if (bytes < 1) return "an echo needs a byte";
  e.output = malloc((size_t)bytes + HEAD + BATCH);
  e.input = malloc(READ);
  const char *failure = e.output == NULL || e.input == NULL ? "out of memory" : open_socket(&e, port);
  if (failure == NULL) {
    double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    failure = echo_all(&e);
    result->seconds = seconds(CLOCK_MONOTONIC) - start;
    result->cpu_seconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (failure == NULL) close_socket(&e);
  }
  if (e.socket >= 0) close(e.socket);
  free(e.output);
  free(e.input);
  return failure;
}
