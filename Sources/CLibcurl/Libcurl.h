#ifndef LIBCURL_H
#define LIBCURL_H

// What the files of this module share. Include it first.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1  // secure_getenv, POLLRDHUP
#endif

#include <netinet/in.h>
#include <sys/epoll.h>

#include "CLibcurl.h"
#include "Linking.h"

// The start of libcurl's curl_version_info_data. `age` determines the fields that exist.
typedef struct {
  int age;
  const char *version;
  unsigned int version_num;
  const char *host;
  int features;
  const char *ssl_version;
  long ssl_version_num;
  const char *libz_version;
  const char *const *protocols;
  const char *ares;
  int ares_num;
  const char *libidn;
  int iconv_ver_num;
  const char *libssh_version;
  unsigned int brotli_ver_num;
  const char *brotli_version;
  unsigned int nghttp2_ver_num;
  const char *nghttp2_version;
  const char *quic_version;
  const char *cainfo;  // from age 6 on (7.70)
  const char *capath;
} version_data;

typedef struct {
  int msg;
  void *easy;
  union {
    void *whatever;
    ccurl_code result;
  } data;
} message;

#define HIDDEN __attribute__((visibility("hidden")))

// The functions of libcurl that are used: result, name after curl_, parameters.
#define FUNCTIONS(X) \
  X(int, global_init, (long)) \
  X(version_data *, version_info, (int)) \
  X(void *, easy_init, (void)) \
  X(void, easy_cleanup, (void *)) \
  X(void, easy_reset, (void *)) \
  X(const char *, easy_strerror, (ccurl_code)) \
  X(ccurl_code, easy_setopt, (void *, ccurl_option, ...)) \
  X(ccurl_code, easy_getinfo, (void *, ccurl_infoname, ...)) \
  X(ccurl_code, easy_pause, (void *, int)) \
  X(ccurl_code, easy_send, (void *, const void *, size_t, size_t *)) \
  X(ccurl_code, easy_recv, (void *, void *, size_t, size_t *)) \
  X(void *, url, (void)) \
  X(void, url_cleanup, (void *)) \
  X(int, url_set, (void *, int, const char *, unsigned int)) \
  X(void *, share_init, (void)) \
  X(int, share_cleanup, (void *)) \
  X(int, share_setopt, (void *, int, ...)) \
  X(void *, multi_init, (void)) \
  X(int, multi_cleanup, (void *)) \
  X(int, multi_setopt, (void *, ccurl_multi_option, ...)) \
  X(int, multi_add_handle, (void *, void *)) \
  X(int, multi_remove_handle, (void *, void *)) \
  X(int, multi_socket_action, (void *, int, int, int *)) \
  X(message *, multi_info_read, (void *, int *))

extern HIDDEN struct ccurl_functions {
#define DECLARE(result, name, parameters) result(*name) parameters;
  FUNCTIONS(DECLARE)
} ccurl;

extern HIDDEN ccurl_info ccurl_loaded;

// The functions of libcurl's OpenSSL that detect the end of a connection. libcurl accepts a connection that ends
// without a close_notify alert as properly closed (with OpenSSL 1.1.1 and 3, all versions up to 8.14). The alert may have
// been read together with a response, and then waits in OpenSSL's buffer.
extern HIDDEN struct ccurl_openssl {
  void (*set_info_callback)(void *, void (*)(const void *, int, int));
  int (*has_pending)(const void *);
} ccurl_tls;

// Looks up the functions of the OpenSSL that `library` uses.
HIDDEN void ccurl_tls_load(void *library, const char *version);
// Returns OpenSSL's connection of `easy`; NULL without one, or if its functions are unknown.
HIDDEN void *ccurl_tls_connection(void *easy);
// The multi handle whose loop runs on this thread.
extern HIDDEN _Thread_local ccurl_multi *ccurl_current;

// A descriptor and its connection. `wanted` has the events that libcurl waits for, `watched` those that epoll watches, and
// `is_connection` is set for connections. `is_unread` is set if an event occurred that nobody waited for.
typedef struct {
  uint8_t wanted, watched, is_connection, is_unread;
  in_port_t local_port;
  // The connection of OpenSSL if it is watched, and whether its close_notify alert has arrived.
  const void *tls;
  bool is_notified;
  bool is_unix;
  // The lane of the last transfer on it.
  uint32_t lane;
  int64_t last_input;
  uint64_t connection;
  int uses;
  // The user that reads and writes it without libcurl.
  void *user;
} ccurl_socket;

// The multi handle, and the epoll instance for its sockets. libcurl reports the sockets that it waits for, and is
// called for those that are ready. The cost of a turn depends on the number of ready sockets, not of requests in
// flight.
enum { EVENTS = 128, CLOSED = 256 };
struct ccurl_multi {
  void *handle;
  int epoll, wakeup;
  // The number of easy handles in it.
  int added;
  // The time in nanoseconds at which libcurl must be called; -1 for never.
  int64_t deadline;
  // By descriptor.
  ccurl_socket *sockets;
  int count;
  // The number of unread sockets.
  int unread;
  // The number of connections opened so far.
  uint64_t connections;
  // The connections closed last, and whether the server had ended them with a close_notify alert.
  struct {
    uint64_t connection;
    bool is_notified;
  } closed[CLOSED];
  unsigned closings;
  // The events after the last wait.
  struct epoll_event events[EVENTS];
  int ready;
  // The sockets of users that were ready after the last wait.
  struct {
    int socket, what;
    uint64_t connection;
  } usable[EVENTS];
  int usables;
};

// Returns whether the last known connection of `transfer` is open.
static inline bool is_open(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  return transfer->connection != 0 && transfer->socket < multi->count
         && multi->sockets[transfer->socket].connection == transfer->connection;
}

// Returns the local port of a connection; 0 if it has none, as a Unix domain socket.
HIDDEN in_port_t ccurl_local_port(int socket);

#endif
