#ifndef CURL_LOOP_H
#define CURL_LOOP_H

// The baseline for the other clients: a minimal C program that repeatedly fetches a URL with libcurl's multi interface.
// libcurl is loaded at run time, so that no header is required.

// Loads libcurl. Returns NULL, or the reason why that failed.
const char *curl_loop_load(void);

// Keeps `in_flight` requests for `url` in flight for `seconds`, and then waits for those still in flight. Returns the number
// of responses with status 200 and the expected number of bytes, or -1 if any response differed.
long curl_loop_run(const char *url, int in_flight, double seconds, long expected_bytes);

#endif
