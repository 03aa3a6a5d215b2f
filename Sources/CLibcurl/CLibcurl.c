#ifdef __linux__

// For secure_getenv.
#define _GNU_SOURCE 1

#include "CLibcurl.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "Linking.h"

#ifdef CCURL_LINKED
// An instruction to lld, the linker of the Static Linux SDK. Other linkers need -lcurl.
#pragma comment(lib, "curl")
#endif

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
  int msg;  // 1: done
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
} message;

// The functions of libcurl that are used: result, name after curl_, parameters.
#define FUNCTIONS(X) \
  X(int, global_init, (long)) \
  X(version_data *, version_info, (int)) \
  X(void *, easy_init, (void)) \
  X(void, easy_cleanup, (void *)) \
  X(void, easy_reset, (void *)) \
  X(const char *, easy_strerror, (int)) \
  X(int, easy_setopt, (void *, int, ...)) \
  X(int, easy_getinfo, (void *, int, ...)) \
  X(int, easy_pause, (void *, int)) \
  X(int, easy_send, (void *, const void *, size_t, size_t *)) \
  X(int, easy_recv, (void *, void *, size_t, size_t *)) \
  X(void *, url, (void)) \
  X(void, url_cleanup, (void *)) \
  X(int, url_set, (void *, int, const char *, unsigned int)) \
  X(void *, share_init, (void)) \
  X(int, share_cleanup, (void *)) \
  X(int, share_setopt, (void *, int, ...)) \
  X(void *, multi_init, (void)) \
  X(int, multi_cleanup, (void *)) \
  X(int, multi_setopt, (void *, int, ...)) \
  X(int, multi_add_handle, (void *, void *)) \
  X(int, multi_remove_handle, (void *, void *)) \
  X(int, multi_socket_action, (void *, int, int, int *)) \
  X(message *, multi_info_read, (void *, int *))

static struct {
#define DECLARE(result, name, parameters) result(*name) parameters;
  FUNCTIONS(DECLARE)
} curl;

static const char too_old[] = "libcurl is older than 7.68; update it";
static const char *failure;
static ccurl_info info;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void note_fork(void);

// The functions of libcurl's OpenSSL that detect the end of a connection. libcurl accepts a connection that ends
// without a close_notify alert as properly closed (with OpenSSL 1.1.1 and 3, all versions up to 8.14). The alert may have
// been read together with a response, and then waits in OpenSSL's buffer.
static struct {
  void (*set_info_callback)(void *, void (*)(const void *, int, int));
  int (*has_pending)(const void *);
} tls;

static void load_tls(void *library, const char *version) {
#ifdef CCURL_LINKED
  // Not with a library that may be BoringSSL. There, libcurl alone decides about the end of a connection.
  (void)library;
  (void)version;
#else
  // If the process has several OpenSSL libraries, use libcurl's: another one's functions would misread its structures.
  // The lookup covers libcurl and its dependencies. It finds nothing if libcurl contains an OpenSSL that it hides.
  if (version == NULL || strncmp(version, "OpenSSL/", 8) != 0) return;
  *(void **)&tls.set_info_callback = dlsym(library, "SSL_set_info_callback");
  *(void **)&tls.has_pending = dlsym(library, "SSL_has_pending");
#endif
}

static void load(void) {
  static const char *const names[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};
  void *library = NULL;
  // Ignored for programs with more privileges than their caller.
  const char *chosen = secure_getenv("NETLAYER_LIBCURL");
  if (chosen != NULL && *chosen != 0 && (library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL)) == NULL) {
    static char reason[512];
    snprintf(reason, sizeof reason, "the libcurl of NETLAYER_LIBCURL can't be loaded (%s); set another path, or unset the variable", dlerror());
    failure = reason;
    return;
  }
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = OPEN(names[i]);
  }
  if (library == NULL) {
    failure = "libcurl.so.4, libcurl.so or libcurl-gnutls.so.4 was not found; install libcurl (Debian: libcurl4)";
    return;
  }
  const struct {
    void *function;
    void **slot;
  } symbols[] = {
#define LOOK_UP(result, name, parameters) {FIND(library, curl_##name), (void **)&curl.name},
    FUNCTIONS(LOOK_UP)
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = symbols[i].function;
    if (*symbols[i].slot == NULL) {
      failure = curl.version_info == NULL ? "the library that was loaded is not libcurl; check NETLAYER_LIBCURL" : too_old;
      return;
    }
  }
  if (curl.global_init(3) != 0) {  // CURL_GLOBAL_ALL
    failure = "curl_global_init failed: the TLS library of libcurl could not be initialized";
    return;
  }
  const version_data *data = curl.version_info(5);  // CURLVERSION_SIXTH: libcurl returns the version that it supports
  if (data->version_num < 0x074400) {
    failure = too_old;
    return;
  }
  pthread_atfork(NULL, NULL, note_fork);
  load_tls(library, data->ssl_version);
  info.number = data->version_num;
  info.version = data->version;
  info.tls = data->ssl_version;
  info.features = data->features;
  if (data->age >= 6) {
    info.ca_file = data->cainfo;
    info.ca_directory = data->capath;
  }
}

const char *ccurl_load(void) {
  pthread_once(&once, load);
  return failure;
}

ccurl_info ccurl_get_info(void) { return info; }

void *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(void *easy) { curl.easy_cleanup(easy); }
void ccurl_easy_reset(void *easy) { curl.easy_reset(easy); }

int ccurl_easy_set_url(void *easy, void **parsed, const char *url) {
  // CURLOPT_CURLU, CURLUPART_URL, and the flags with which libcurl parses the text of CURLOPT_URL.
  enum { PARSED_URL = 10282, WHOLE = 0, ANY_SCHEME = 1 << 3, PATH_AS_IS = 1 << 4 };
  if (*parsed == NULL) *parsed = curl.url();
  // Before 8.3.0, libcurl loses the zone of an IPv6 address in the copy of a parsed URL (curl 11549).
  bool is_complete = info.number >= 0x080300 || strchr(url, '[') == NULL;
  bool is_parsed = *parsed != NULL && is_complete && curl.url_set(*parsed, WHOLE, url, ANY_SCHEME | PATH_AS_IS) == 0;
  curl.easy_setopt(easy, PARSED_URL, is_parsed ? *parsed : NULL);
  return curl.easy_setopt(easy, CCURL_URL, url);
}

void ccurl_url_cleanup(void *parsed) { curl.url_cleanup(parsed); }

const char *ccurl_easy_strerror(int code) { return curl.easy_strerror(code); }
#define SETTER(name, type) \
  int ccurl_easy_set_##name(void *easy, int option, type value) { return curl.easy_setopt(easy, option, value); }
SETTER(long, long)
SETTER(int64, int64_t)
SETTER(pointer, const void *)
SETTER(data_callback, ccurl_data_callback)
SETTER(seek_callback, ccurl_seek_callback)
SETTER(progress_callback, ccurl_progress_callback)
SETTER(debug_callback, ccurl_debug_callback)
SETTER(prereq_callback, ccurl_prereq_callback)

int64_t ccurl_easy_get_int64(void *easy, int what) {
  int64_t value = -1;
  return curl.easy_getinfo(easy, what, &value) == 0 ? value : -1;
}
long ccurl_easy_get_long(void *easy, int what) {
  long value = -1;
  return curl.easy_getinfo(easy, what, &value) == 0 ? value : -1;
}

int ccurl_easy_send(void *easy, const void *bytes, size_t count, size_t *sent) {
  return curl.easy_send(easy, bytes, count, sent);
}
int ccurl_easy_receive(void *easy, void *bytes, size_t count, size_t *received) {
  return curl.easy_recv(easy, bytes, count, received);
}
int ccurl_easy_get_socket(void *easy) {
  int socket = -1;
  return curl.easy_getinfo(easy, 0x50002c, &socket) == 0 ? socket : -1;  // CURLINFO_ACTIVESOCKET
}
int ccurl_easy_pause(void *easy, int what) { return curl.easy_pause(easy, what); }
int ccurl_easy_set_blob(void *easy, int option, const void *bytes, size_t count) {
  struct {
    const void *data;
    size_t length;
    unsigned int flags;
  } blob = {bytes, count, 1};  // CURL_BLOB_COPY
  return curl.easy_setopt(easy, option, &blob);
}
ccurl_metrics ccurl_easy_get_metrics(void *easy) {
  ccurl_metrics metrics = {
    .pretransfer = ccurl_easy_get_int64(easy, 0x600035), .first_byte = ccurl_easy_get_int64(easy, 0x600036),
    .sent = ccurl_easy_get_int64(easy, 0x600007), .received = ccurl_easy_get_int64(easy, 0x600008),
    .port = ccurl_easy_get_long(easy, 0x200028), .http_version = ccurl_easy_get_long(easy, 0x20002e),
  };
  curl.easy_getinfo(easy, 0x100020, &metrics.address);
  // Without an established connection, none was reused.
  metrics.reused = metrics.pretransfer > 0 && metrics.address != NULL && *metrics.address != 0
                   && ccurl_easy_get_long(easy, 0x20001a) == 0;
  if (!metrics.reused) {
    metrics.name_lookup = ccurl_easy_get_int64(easy, 0x600033);
    metrics.connect = ccurl_easy_get_int64(easy, 0x600034);
    metrics.tls = ccurl_easy_get_int64(easy, 0x600038);
  }
  return metrics;
}

void *ccurl_share_init(void) {
  void *share = curl.share_init();
  if (share != NULL) curl.share_setopt(share, 1, 4);  // CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION
  return share;
}
void ccurl_share_cleanup(void *share) { curl.share_cleanup(share); }

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
  // The state by descriptor. `wanted` has the events that libcurl waits for, `watched` those that epoll watches, and
  // `is_connection` is set for connections. `is_unread` is set if an event occurred that nobody waited for.
  struct {
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
  } *sockets;
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

enum { INFO_PRIVATE = 0x100015 };
enum { POLL_IN = 1, POLL_OUT = 2, POLL_INOUT = 3, POLL_ERROR = 4, POLL_REMOVE = 4 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Makes room for `socket`; returns false without memory.
static bool make_room(ccurl_multi *multi, int socket) {
  if (socket < multi->count) return true;
  int count = (socket | 255) + 1;
  void *larger = realloc(multi->sockets, (size_t)count * sizeof *multi->sockets);
  if (larger == NULL) return false;
  multi->sockets = larger;
  memset(multi->sockets + multi->count, 0, (size_t)(count - multi->count) * sizeof *multi->sockets);
  multi->count = count;
  return true;
}

static void watch(ccurl_multi *multi, int socket, uint8_t what) {
  uint8_t before = multi->sockets[socket].watched;
  if (before == what) return;
  struct epoll_event event = {.events = ((what & POLL_IN) ? EPOLLIN | EPOLLRDHUP : 0u) | ((what & POLL_OUT) ? EPOLLOUT : 0u), .data.fd = socket};
  int change = what == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  int result = epoll_ctl(multi->epoll, change, socket, &event);
  // Some versions close a socket that was never connected without a callback. Another socket may have its number now.
  if (result != 0 && what != 0) {
    result = epoll_ctl(multi->epoll, before == 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  }
  multi->sockets[socket].watched = result == 0 ? what : 0;
}

enum { DISTRUSTED = 2 };

static void set_unread(ccurl_multi *multi, int socket, uint8_t is_unread) {
  multi->unread += (is_unread != 0) - (multi->sockets[socket].is_unread != 0);
  multi->sockets[socket].is_unread = is_unread;
}

static bool is_connected(int socket) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  return getpeername(socket, (struct sockaddr *)&address, &length) == 0;
}

// Called when the events that libcurl waits for change. Between two requests of a connection, it waits for none. The
// socket is then watched for input until an event occurs or it is closed. This saves two system calls per request, and
// detects input that no request expects: libcurl 8.23 does not check for it before it reuses a connection.
static int socket_changed(void *easy, int socket, int what, void *context, void *unused) {
  (void)unused;
  ccurl_multi *multi = context;
  if (socket < 0 || !make_room(multi, socket)) return 0;
  ccurl_transfer *transfer = NULL;
  if (what != POLL_REMOVE && curl.easy_getinfo(easy, INFO_PRIVATE, &transfer) == 0 && transfer != NULL) {
    transfer->socket = socket;
    transfer->connection = multi->sockets[socket].connection;
    multi->sockets[socket].lane = transfer->lane;
  }
  if (multi->sockets[socket].user != NULL) return 0;
  uint8_t wanted = what == POLL_REMOVE ? 0 : (uint8_t)(what & POLL_INOUT);
  multi->sockets[socket].wanted = wanted;
  if (wanted != 0 && multi->sockets[socket].is_unread != DISTRUSTED) set_unread(multi, socket, 0);
  bool is_idle = wanted == 0 && multi->sockets[socket].is_connection
                 && (multi->sockets[socket].watched == POLL_IN || is_connected(socket));
  if (wanted == 0) multi->sockets[socket].is_connection = is_idle;
  watch(multi, socket, is_idle ? POLL_IN : wanted);
  return 0;
}

static int timer_changed(void *handle, long milliseconds, void *context) {
  (void)handle;
  ccurl_multi *multi = context;
  multi->deadline = milliseconds < 0 ? -1 : milliseconds == 0 ? 0 : now() + (int64_t)milliseconds * 1000000;
  return 0;
}

// The curl_sockaddr of libcurl.
typedef struct {
  int family, type, protocol;
  unsigned int length;
  struct sockaddr address;
} socket_address;

// Records the error, because libcurl does not report why a socket could not be created.
static int open_socket(void *context, int purpose, const socket_address *address) {
  (void)purpose;
  int made = socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
  if (made < 0) ((ccurl_transfer *)context)->socket_error = errno;
  return made;
}

static bool is_unix(int socket) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  return getsockname(socket, (struct sockaddr *)&address, &length) == 0 && address.ss_family == AF_UNIX;
}

static int socket_opened(void *context, int socket, int purpose) {
  (void)purpose;
  // The number of unsent bytes that the system accepts (tcp(7)). Otherwise it would accept megabytes, and their slow
  // transmission would look like silence. Bytes in transit do not count, so the throughput is not affected.
  int limit = 1 << 15;
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, sizeof limit);
  ccurl_multi *multi = context;
  if (make_room(multi, socket)) {
    // The recorded state belongs to an earlier socket with the same number.
    watch(multi, socket, 0);
    // A Unix domain socket connects immediately, and may receive its first response before libcurl waits for any event.
    multi->sockets[socket].is_unix = is_unix(socket);
    multi->sockets[socket].lane = 0;
    set_unread(multi, socket, multi->sockets[socket].is_unix);
    multi->sockets[socket].is_connection = 1;
    multi->sockets[socket].local_port = 0;
    multi->sockets[socket].last_input = 0;
    multi->sockets[socket].uses = 0;
    multi->sockets[socket].tls = NULL;
    multi->sockets[socket].is_notified = false;
    multi->sockets[socket].user = NULL;
    multi->sockets[socket].connection = ++multi->connections;
    watch(multi, socket, multi->sockets[socket].wanted);
  }
  return 0;
}

// Called before the number can be reused. Epoll would keep watching a closed socket that a child process has inherited.
static int socket_closed(void *context, int socket) {
  ccurl_multi *multi = context;
  if (socket >= 0 && socket < multi->count) {
    watch(multi, socket, 0);
    set_unread(multi, socket, 0);
    if (multi->sockets[socket].connection != 0) {
      unsigned place = multi->closings++ % CLOSED;
      multi->closed[place].connection = multi->sockets[socket].connection;
      multi->closed[place].is_notified = multi->sockets[socket].is_notified;
    }
    multi->sockets[socket].wanted = multi->sockets[socket].is_connection = 0;
    multi->sockets[socket].connection = 0;
    multi->sockets[socket].tls = NULL;
    multi->sockets[socket].user = NULL;
  }
  return close(socket);
}

void ccurl_easy_watch(void *easy, ccurl_multi *multi, ccurl_transfer *transfer) {
  curl.easy_setopt(easy, 20163, open_socket);  // CURLOPT_OPENSOCKETFUNCTION, OPENSOCKETDATA
  curl.easy_setopt(easy, 10164, transfer);
  curl.easy_setopt(easy, 20148, socket_opened);  // CURLOPT_SOCKOPTFUNCTION, SOCKOPTDATA
  curl.easy_setopt(easy, 10149, multi);
  curl.easy_setopt(easy, 20208, socket_closed);  // CURLOPT_CLOSESOCKETFUNCTION, CLOSESOCKETDATA
  curl.easy_setopt(easy, 10209, multi);
}

ccurl_multi *ccurl_multi_init(void) {
  ccurl_multi *multi = calloc(1, sizeof *multi);
  if (multi == NULL) return NULL;
  multi->deadline = -1;
  multi->epoll = epoll_create1(EPOLL_CLOEXEC);
  multi->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = multi->wakeup};
  if (multi->epoll >= 0 && multi->wakeup >= 0 && epoll_ctl(multi->epoll, EPOLL_CTL_ADD, multi->wakeup, &event) == 0) {
    multi->handle = curl.multi_init();
  }
  if (multi->handle == NULL) {
    ccurl_multi_cleanup(multi);
    return NULL;
  }
  curl.multi_setopt(multi->handle, 20001, socket_changed);  // CURLMOPT_SOCKETFUNCTION, SOCKETDATA
  curl.multi_setopt(multi->handle, 10002, multi);
  curl.multi_setopt(multi->handle, 20004, timer_changed);  // CURLMOPT_TIMERFUNCTION, TIMERDATA
  curl.multi_setopt(multi->handle, 10005, multi);
  return multi;
}

void ccurl_multi_cleanup(ccurl_multi *multi) {
  if (multi->handle != NULL) curl.multi_cleanup(multi->handle);
  if (multi->epoll >= 0) close(multi->epoll);
  if (multi->wakeup >= 0) close(multi->wakeup);
  free(multi->sockets);
  free(multi);
}

int ccurl_multi_set_long(ccurl_multi *multi, int option, long value) {
  return curl.multi_setopt(multi->handle, option, value);
}
int ccurl_multi_add(ccurl_multi *multi, void *easy) {
  int code = curl.multi_add_handle(multi->handle, easy);
  if (code == 0) multi->added++;
  return code;
}
void ccurl_multi_remove(ccurl_multi *multi, void *easy) {
  if (curl.multi_remove_handle(multi->handle, easy) == 0) multi->added--;
}

// Returns whether the last known connection of `transfer` is open.
static bool is_open(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  return transfer->connection != 0 && transfer->socket < multi->count
         && multi->sockets[transfer->socket].connection == transfer->connection;
}

// The multi handle whose loop runs on this thread.
static _Thread_local ccurl_multi *current;

static void note_alert(const void *ssl, int where, int alert) {
  if (where != 0x4004 || alert != 0x100 || current == NULL) return;  // SSL_CB_READ_ALERT, a warning: close_notify
  for (int socket = 0; socket < current->count; socket++) {
    if (current->sockets[socket].tls != ssl) continue;
    current->sockets[socket].is_notified = true;
  }
}

// Returns OpenSSL's connection of `easy`; NULL without one, or if its functions are unknown.
static void *openssl(void *easy) {
  struct {
    int backend;
    void *internals;
  } *session = NULL;
  // CURLINFO_TLS_SSL_PTR, CURLSSLBACKEND_OPENSSL
  if (tls.set_info_callback == NULL || tls.has_pending == NULL) return NULL;
  if (curl.easy_getinfo(easy, 0x40002d, &session) != 0 || session == NULL || session->backend != 1) return NULL;
  return session->internals;
}

void ccurl_multi_watch_tls(ccurl_multi *multi, void *easy, ccurl_transfer *transfer) {
  void *connection = is_open(multi, transfer) ? openssl(easy) : NULL;
  transfer->is_watched = connection != NULL;
  if (connection == NULL || multi->sockets[transfer->socket].tls == connection) return;
  multi->sockets[transfer->socket].tls = connection;
  tls.set_info_callback(connection, note_alert);
}

bool ccurl_multi_is_notified(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  if (is_open(multi, transfer)) return multi->sockets[transfer->socket].is_notified;
  for (unsigned i = 0; i < CLOSED; i++) {
    if (multi->closed[i].connection == transfer->connection) return multi->closed[i].is_notified;
  }
  return false;
}

// Runs due timers. Returns true if transfers have ended, for which nobody waits any more.
static bool run_timers(ccurl_multi *multi) {
  if (multi->deadline < 0 || (multi->deadline > 0 && multi->deadline > now())) return false;
  int running = 0;
  multi->deadline = -1;
  curl.multi_socket_action(multi->handle, -1, 0, &running);  // CURL_SOCKET_TIMEOUT
  return running < multi->added;
}

static int wait_until_timer(const ccurl_multi *multi, int milliseconds) {
  if (multi->deadline < 0) return milliseconds;
  int64_t left = multi->deadline - now();
  int64_t wait = left <= 0 ? 0 : (left + 999999) / 1000000;
  return wait < milliseconds ? (int)wait : milliseconds;
}

void ccurl_multi_wait(ccurl_multi *multi, int milliseconds) {
  current = multi;
  // First start the transfers that were added just now.
  if (run_timers(multi)) milliseconds = 0;
  int wait = milliseconds == 0 ? 0 : wait_until_timer(multi, milliseconds);
  multi->ready = epoll_wait(multi->epoll, multi->events, EVENTS, wait);
}

void ccurl_multi_work(ccurl_multi *multi) {
  int64_t time = multi->ready > 0 ? now() : 0;
  multi->usables = 0;
  for (int i = 0; i < multi->ready; i++) {
    int socket = multi->events[i].data.fd, running = 0;
    uint32_t ready = multi->events[i].events;
    if (socket == multi->wakeup) {
      uint64_t times;
      while (read(socket, &times, sizeof times) < 0 && errno == EINTR) {}
      continue;
    }
    // An earlier event of this batch may have closed it.
    if (socket >= multi->count || multi->sockets[socket].watched == 0) continue;
    if (multi->sockets[socket].user != NULL) {
      multi->usable[multi->usables].socket = socket;
      multi->usable[multi->usables].connection = multi->sockets[socket].connection;
      multi->usable[multi->usables++].what =
        ((ready & EPOLLOUT) ? POLL_OUT : 0) | ((ready & ~(uint32_t)EPOLLOUT) ? POLL_IN : 0);
      continue;
    }
    if (multi->sockets[socket].wanted == 0) {
      watch(multi, socket, 0);
      if (multi->sockets[socket].is_unread == 0) set_unread(multi, socket, 1);
      continue;
    }
    if (ready & EPOLLIN) multi->sockets[socket].last_input = time;
    int what = ((ready & (EPOLLIN | EPOLLHUP)) ? POLL_IN : 0) | ((ready & EPOLLOUT) ? POLL_OUT : 0)
               | ((ready & EPOLLERR) ? POLL_ERROR : 0);
    curl.multi_socket_action(multi->handle, socket, what, &running);
  }
  multi->ready = 0;
}

void ccurl_multi_prod(ccurl_multi *multi) {
  for (int socket = 0; socket < multi->count; socket++) {
    int running = 0;
    if (multi->sockets[socket].wanted != 0) curl.multi_socket_action(multi->handle, socket, 0, &running);
  }
}

// Returns whether `socket` still belongs to `connection`, and not to a later one.
static bool is_same(const ccurl_multi *multi, int socket, uint64_t connection) {
  return socket >= 0 && socket < multi->count && multi->sockets[socket].connection == connection;
}

uint64_t ccurl_multi_connection(const ccurl_multi *multi, int socket) {
  return socket >= 0 && socket < multi->count ? multi->sockets[socket].connection : 0;
}

void ccurl_multi_use(ccurl_multi *multi, int socket, uint64_t connection, void *user, int what) {
  if (!is_same(multi, socket, connection)) return;
  multi->sockets[socket].user = user;
  multi->sockets[socket].wanted = 0;
  watch(multi, socket, (uint8_t)what);
}

void ccurl_multi_leave(ccurl_multi *multi, int socket, uint64_t connection) {
  if (!is_same(multi, socket, connection)) return;
  ccurl_multi_use(multi, socket, connection, NULL, 0);
  // Later versions close it themselves, with close_notify inside TLS.
  if (info.number < 0x075600) shutdown(socket, SHUT_RDWR);
}

void *ccurl_multi_next_usable(ccurl_multi *multi, int *what) {
  while (multi->usables > 0) {
    int i = --multi->usables, socket = multi->usable[i].socket;
    // An earlier user may have closed it.
    if (multi->sockets[socket].user == NULL || multi->sockets[socket].connection != multi->usable[i].connection) continue;
    *what = multi->usable[i].what;
    return multi->sockets[socket].user;
  }
  return NULL;
}

int64_t ccurl_multi_last_input(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  return is_open(multi, transfer) ? multi->sockets[transfer->socket].last_input : 0;
}

bool ccurl_multi_reads(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  return !is_open(multi, transfer) || (multi->sockets[transfer->socket].wanted & POLL_IN) != 0;
}

bool ccurl_multi_is_open(const ccurl_multi *multi, const ccurl_transfer *transfer) { return is_open(multi, transfer); }

int ccurl_multi_count_use(ccurl_multi *multi, const ccurl_transfer *transfer) {
  return is_open(multi, transfer) ? ++multi->sockets[transfer->socket].uses : 0;
}

// Returns the local port of a connection; 0 if it has none, as a Unix domain socket.
static in_port_t local_port(int socket) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return 0;
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

void ccurl_multi_note_port(ccurl_multi *multi, ccurl_transfer *transfer, int port) {
  if (port <= 0) return;
  if (is_open(multi, transfer) && multi->sockets[transfer->socket].local_port == port) return;
  for (int socket = 0; socket < multi->count; socket++) {
    if (multi->sockets[socket].connection == 0) continue;
    if (multi->sockets[socket].local_port == 0) multi->sockets[socket].local_port = local_port(socket);
    if (multi->sockets[socket].local_port != port) continue;
    transfer->socket = socket;
    transfer->connection = multi->sockets[socket].connection;
    return;
  }
}

// Returns whether a connection goes to the Unix domain socket `path`.
static bool goes_to(int socket, const char *path) {
  struct sockaddr_un address = {0};
  socklen_t length = sizeof address;
  return getpeername(socket, (struct sockaddr *)&address, &length) == 0 && address.sun_family == AF_UNIX
         && strncmp(address.sun_path, path, sizeof address.sun_path) == 0;
}

void ccurl_multi_note_file(ccurl_multi *multi, ccurl_transfer *transfer, const char *path, bool is_new) {
  int found = -1, count = 0;
  for (int socket = 0; socket < multi->count; socket++) {
    if (multi->sockets[socket].connection == 0 || !multi->sockets[socket].is_unix || !goes_to(socket, path)) continue;
    if (found < 0 || multi->sockets[found].connection < multi->sockets[socket].connection) found = socket;
    count++;
  }
  if (found < 0 || (!is_new && count > 1)) return;
  transfer->socket = found;
  transfer->connection = multi->sockets[found].connection;
  multi->sockets[found].lane = transfer->lane;
}

uint64_t ccurl_multi_next_connection(const ccurl_multi *multi, int *socket, uint32_t *lane) {
  while (++*socket < multi->count) {
    if (multi->sockets[*socket].connection == 0) continue;
    *lane = multi->sockets[*socket].lane;
    return multi->sockets[*socket].connection;
  }
  return 0;
}

// Returns whether `socket` has ended, or has other unread input that is not tolerated.
static bool has_input(int socket, bool tolerates_input) {
  struct pollfd state = {.fd = socket, .events = POLLRDHUP};
  if (poll(&state, 1, 0) > 0) return true;
  char byte;
  ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count > 0 && !tolerates_input);
}

bool ccurl_multi_is_unfit(ccurl_multi *multi, void *easy, const ccurl_transfer *transfer, int port, bool looks,
                          bool tolerates_input, int64_t longest_idle) {
  void *connection = looks && !tolerates_input ? openssl(easy) : NULL;
  if (connection != NULL && tls.has_pending(connection) != 0) return true;
  if (looks && is_open(multi, transfer)) {
    int64_t last = multi->sockets[transfer->socket].last_input;
    if (longest_idle > 0 && last > 0 && now() - last > longest_idle) return true;
    if (has_input(transfer->socket, tolerates_input)) return true;
  }
  if (multi->unread == 0) return false;
  if (port < 0) port = 0;
  for (int socket = 0; socket < multi->count; socket++) {
    if (!multi->sockets[socket].is_unread || local_port(socket) != port) continue;
    return multi->sockets[socket].is_unread == DISTRUSTED || has_input(socket, tolerates_input);
  }
  return false;
}

void ccurl_multi_distrust(ccurl_multi *multi, const ccurl_transfer *transfer) {
  if (!is_open(multi, transfer)) return;
  // A connection without a port can't be distinguished from the others, so it is shut down.
  if (multi->sockets[transfer->socket].is_unix) shutdown(transfer->socket, SHUT_RDWR);
  else set_unread(multi, transfer->socket, DISTRUSTED);
}

void ccurl_multi_shut_down(ccurl_multi *multi, const ccurl_transfer *transfer) {
  if (!is_open(multi, transfer)) return;
  ccurl_multi_distrust(multi, transfer);
  shutdown(transfer->socket, SHUT_RDWR);
}

void ccurl_multi_wakeup(ccurl_multi *multi) {
  uint64_t once = 1;
  while (write(multi->wakeup, &once, sizeof once) < 0 && errno == EINTR) {}
}

void *ccurl_multi_next_done(ccurl_multi *multi, int *code) {
  int left = 0;
  const message *next;
  while ((next = curl.multi_info_read(multi->handle, &left)) != NULL) {
    ccurl_transfer *transfer = NULL;
    if (next->msg != 1) continue;
    *code = next->data.result;
    if (curl.easy_getinfo(next->easy, INFO_PRIVATE, &transfer) == 0 && transfer != NULL) return transfer->owner;
  }
  return NULL;
}

static atomic_bool is_forked;
static void note_fork(void) { atomic_store(&is_forked, true); }
bool ccurl_is_forked(void) { return atomic_load_explicit(&is_forked, memory_order_relaxed); }

#endif
