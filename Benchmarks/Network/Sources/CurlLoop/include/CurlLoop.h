#ifndef CURL_LOOP_H
#define CURL_LOOP_H

// The limit that the others are compared with: as little C as fetches a URL over and over through libcurl's multi
// interface. libcurl is found at run time, so that no header is needed.

// NULL, or why there is no libcurl.
const char *curl_loop_load(void);

// Keeps `in_flight` requests for `url` running for `seconds`, then lets those in flight end. Gives how many ended with
// status 200 and the expected number of bytes, or -1 if any did not.
long curl_loop_run(const char *url, int in_flight, double seconds, long expected_bytes);

#endif
