#ifndef CURL_LOOP_H
#define CURL_LOOP_H

// The baseline for the other clients: a minimal C program that repeatedly fetches a URL with libcurl's multi interface.
// libcurl is loaded at run time, so that no header is required.

// Loads libcurl. Returns NULL, or the reason why that failed.
const char *curl_loop_load(void);

// How the loops use connections.
enum {
  CURL_LOOP_KEEPS = 0,
  // A new connection for each request, which resumes the TLS session of the one before.
  CURL_LOOP_RESUMES = 1,
  // A new connection for each request, with a full handshake.
  CURL_LOOP_STARTS_OVER = 2
};

// What is requested: the URL, the file of the certificate or NULL, whether over HTTP/2, the use of connections, and the
// expected number of bytes.
typedef struct {
  const char *url, *certificate;
  int http2, connections;
  long bytes;
} curl_loop_target;

// Keeps `in_flight` requests in flight for `seconds`, and then waits for those still in flight. Returns the number of responses
// with status 200 and the expected number of bytes, or -1 if any response differed.
long curl_loop_run(curl_loop_target target, int in_flight, double seconds);

// Sends one request at a time for `seconds` from this thread, with a background thread that runs libcurl: the least that a
// client with a blocking or awaiting call does. Returns the same as `curl_loop_run`.
long curl_loop_run_on_thread(curl_loop_target target, double seconds);

#endif
