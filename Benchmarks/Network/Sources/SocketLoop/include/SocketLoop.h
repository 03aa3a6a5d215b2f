#ifndef SOCKET_LOOP_H
#define SOCKET_LOOP_H

// The limit that WebSocket clients are compared with: as little C as opens one over a plain socket, sends messages
// and reads their echoes. It checks neither the key of the response nor the content of the echoes.

#include <stdbool.h>

typedef struct {
  double seconds, cpu_seconds;
} socket_loop_result;

// Echoes `count` messages of `bytes` bytes with the server at 127.0.0.1:`port`, at most `in_flight` of them at a time;
// 0 is no limit. Returns NULL, or a description of the failure.
const char *socket_loop_run(
  int port, bool is_text, long bytes, long count, long in_flight, socket_loop_result *result);

#endif
