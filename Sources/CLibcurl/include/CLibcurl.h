#ifndef CCURL_H
#define CCURL_H

// The interface to libcurl, which is loaded at run time: no header, library or -dev package is needed to build. The
// declarations are written for the ABI that libcurl.so.4 has had since 2006. C is needed because setopt and getinfo are
// variadic.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CCoding.h"
#include "CDeflate.h"
#include "CLibcurlConstants.h"
#include "CSuffix.h"

// The data of curl_version_info. Strings live as long as the process; NULL if unknown.
typedef struct {
  unsigned int number;  // 0x075801 for 7.88.1
  const char *version;
  const char *tls;
  int features;
  const char *ca_file;
  const char *ca_directory;
} ccurl_info;

// Loads and initializes libcurl once. Returns NULL, or the reason why it can't be used. Thread-safe.
const char *ccurl_load(void);
ccurl_info ccurl_get_info(void);

typedef struct ccurl_slist {
  char *data;
  struct ccurl_slist *next;
} ccurl_slist;

typedef size_t (*ccurl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_callback)(void *context, int64_t offset, int origin);
typedef int (*ccurl_prereq_callback)(void *context, char *remote, char *local, int remote_port, int local_port);
typedef int (*ccurl_debug_callback)(void *easy, int kind, char *data, size_t size, void *context);
typedef int (*ccurl_progress_callback)(void *context, int64_t to_receive, int64_t received, int64_t to_send,
                                       int64_t sent);

void *ccurl_easy_init(void);
void ccurl_easy_cleanup(void *easy);
void ccurl_easy_reset(void *easy);
const char *ccurl_easy_strerror(ccurl_code code);
// Sets the URL of the next transfers, as text and, if `parses` is set, parsed: libcurl copies a parsed URL faster than it parses the text for
// each transfer. `*parsed` must outlive these transfers. It is NULL at first; the caller passes it again for another
// URL, and ends it with ccurl_url_cleanup. libcurl reports an invalid URL when the transfer starts.
ccurl_code ccurl_easy_set_url(void *easy, void **parsed, const char *url, bool parses);
void ccurl_url_cleanup(void *parsed);
ccurl_code ccurl_easy_set_long(void *easy, ccurl_option option, long value);
ccurl_code ccurl_easy_set_int64(void *easy, ccurl_option option, int64_t value);
ccurl_code ccurl_easy_set_pointer(void *easy, ccurl_option option, const void *value);
ccurl_code ccurl_easy_set_data_callback(void *easy, ccurl_option option, ccurl_data_callback value);
ccurl_code ccurl_easy_set_seek_callback(void *easy, ccurl_option option, ccurl_seek_callback value);
ccurl_code ccurl_easy_set_prereq_callback(void *easy, ccurl_option option, ccurl_prereq_callback value);
ccurl_code ccurl_easy_set_progress_callback(void *easy, ccurl_option option, ccurl_progress_callback value);
ccurl_code ccurl_easy_set_debug_callback(void *easy, ccurl_option option, ccurl_debug_callback value);
int64_t ccurl_easy_get_int64(void *easy, ccurl_infoname info);  // -1 if unknown
long ccurl_easy_get_long(void *easy, ccurl_infoname info);      // -1 if unknown
ccurl_code ccurl_easy_pause(void *easy, int what);
// Send and receive on the connection of a handle with CURLOPT_CONNECT_ONLY, while it is in its multi handle.
ccurl_code ccurl_easy_send(void *easy, const void *bytes, size_t count, size_t *sent);
ccurl_code ccurl_easy_receive(void *easy, void *bytes, size_t count, size_t *received);
int ccurl_easy_get_socket(void *easy);  // -1 without one
ccurl_code ccurl_easy_set_blob(void *easy, ccurl_option option, const void *bytes, size_t count);  // copied

// The measurements of a transfer. Times are in microseconds from its start; -1 if unknown.
typedef struct {
  int64_t name_lookup, connect, tls;  // 0 for a reused connection
  int64_t pretransfer, first_byte, sent, received;
  int64_t posttransfer;  // -1 before libcurl 8.10
  long port, http_version;
  bool reused;
  const char *address;  // until the handle is used again
} ccurl_metrics;
ccurl_metrics ccurl_easy_get_metrics(void *easy);

// A store of TLS sessions for the easy handles of one thread.
void *ccurl_share_init(void);
void ccurl_share_cleanup(void *share);

// The data about an easy handle's transfer: its CURLOPT_PRIVATE.
typedef struct {
  void *owner;
  int socket;           // of its connection; -1 without one
  uint64_t connection;  // the number of its connection, counted from 1
  uint32_t lane;        // the number of the lane that it counts for
  bool is_watched;      // whether the end of its TLS connection is watched
  int socket_error;     // the error of a socket that could not be created; 0 without one
} ccurl_transfer;

// A multi handle with the sockets and timers that it waits for. For one thread, except the wake-up.
typedef struct ccurl_multi ccurl_multi;
ccurl_multi *ccurl_multi_init(void);
void ccurl_multi_cleanup(ccurl_multi *multi);
void ccurl_multi_set_long(ccurl_multi *multi, ccurl_multi_option option, long value);
// Reports the connections that `easy` opens and closes to `multi`, and failures to open one to `transfer`. Call it before
// adding the handle, and again after a reset.
void ccurl_easy_watch(void *easy, ccurl_multi *multi, ccurl_transfer *transfer);
int ccurl_multi_add(ccurl_multi *multi, void *easy);
void ccurl_multi_remove(ccurl_multi *multi, void *easy);
// Runs due timers, and waits for sockets for at most the given time.
void ccurl_multi_wait(ccurl_multi *multi, int milliseconds);
// Runs libcurl for the sockets that were ready after a wait.
void ccurl_multi_work(ccurl_multi *multi);
// Runs libcurl for all sockets that it waits for, although no event occurred.
void ccurl_multi_prod(ccurl_multi *multi);
// The events to watch on a socket for its user instead of libcurl, until it is closed. 0 watches none.
enum { CCURL_READABLE = 1, CCURL_WRITABLE = 2 };
// Watches a socket for `user`. Has no effect if the socket's number no longer belongs to `connection`.
void ccurl_multi_use(ccurl_multi *multi, int socket, uint64_t connection, void *user, int what);
// Returns the number of the connection that uses `socket`; 0 if unknown.
uint64_t ccurl_multi_connection(const ccurl_multi *multi, int socket);
// Stops watching a socket for its user, and shuts its connection down if `shuts_down` is set.
void ccurl_multi_leave(ccurl_multi *multi, int socket, uint64_t connection, bool shuts_down);
// Takes the next user whose socket was ready after the wait, and its events; NULL if there is no other.
void *ccurl_multi_next_usable(ccurl_multi *multi, int *what);
// Returns the uptime in nanoseconds of the last input on the transfer's connection; 0 without input.
int64_t ccurl_multi_last_input(const ccurl_multi *multi, const ccurl_transfer *transfer);
// Returns whether libcurl waits for input on the transfer's connection; true if the connection is unknown.
bool ccurl_multi_reads(const ccurl_multi *multi, const ccurl_transfer *transfer);
// Watches the TLS connection of `easy` for its close_notify alert. Call it in a callback of the handle. Has an effect
// only with OpenSSL, with which libcurl accepts a connection without the alert as properly closed.
void ccurl_multi_watch_tls(ccurl_multi *multi, void *easy, ccurl_transfer *transfer);
// Returns whether that alert has arrived.
bool ccurl_multi_is_notified(const ccurl_multi *multi, const ccurl_transfer *transfer);
// Returns whether the transfer's connection is still open locally.
bool ccurl_multi_is_open(const ccurl_multi *multi, const ccurl_transfer *transfer);
// Counts a request on the transfer's connection. Returns the number of its requests.
int ccurl_multi_count_use(ccurl_multi *multi, const ccurl_transfer *transfer);
// Records that the transfer uses the connection with this local port.
void ccurl_multi_note_port(ccurl_multi *multi, ccurl_transfer *transfer, int port);
// Records that the transfer uses a connection to the Unix domain socket `path`: the newest one, or the only one if it
// is not new.
void ccurl_multi_note_file(ccurl_multi *multi, ccurl_transfer *transfer, const char *path, bool is_new);
// Returns the number of the next open connection, and its lane; 0 after the last one. `socket` must be -1 at first.
uint64_t ccurl_multi_next_connection(const ccurl_multi *multi, int *socket, uint32_t *lane);
// Returns whether a request must not be sent over the connection with this local port: the connection is distrusted, or
// has received its end or, unless that is tolerated, other input. Without an event, it is only examined if `inspects` is
// set. It is then also unfit if it has been idle for more than `longest_idle` nanoseconds, unless that is 0.
bool ccurl_multi_is_unfit(ccurl_multi *multi, void *easy, const ccurl_transfer *transfer, int port, bool inspects,
                          bool tolerates_input, int64_t longest_idle);
// Ends the transfer's connection for all its transfers, and prevents it from being reused.
void ccurl_multi_shut_down(ccurl_multi *multi, const ccurl_transfer *transfer);
// Prevents the transfer's connection from being reused.
void ccurl_multi_distrust(ccurl_multi *multi, const ccurl_transfer *transfer);
// Ends the current wait or the next one. Callable from any thread.
void ccurl_multi_wakeup(ccurl_multi *multi);
// Returns whether this process is a child of `fork` without `exec` whose parent had loaded libcurl: it has none of the
// threads.
bool ccurl_is_forked(void);
// Takes the next finished transfer: its owner and its result code; NULL if there is none.
void *ccurl_multi_next_done(ccurl_multi *multi, ccurl_code *code);

#endif
