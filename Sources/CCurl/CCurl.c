#ifdef __linux__

#include "CCurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The head of libcurl's curl_version_info_data, as far as it is read here; `age` says which fields exist.
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

static struct {
  int (*global_init)(long);
  version_data *(*version_info)(int);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *);
  void (*easy_reset)(void *);
  const char *(*easy_strerror)(int);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_getinfo)(void *, int, ...);
  int (*easy_pause)(void *, int);
  void *(*share_init)(void);
  int (*share_cleanup)(void *);
  int (*share_setopt)(void *, int, ...);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *);
  int (*multi_setopt)(void *, int, ...);
  int (*multi_add_handle)(void *, void *);
  int (*multi_remove_handle)(void *, void *);
  int (*multi_socket_action)(void *, int, int, int *);
  message *(*multi_info_read)(void *, int *);
} curl;

static const char too_old[] = "the libcurl found is older than 7.68; update libcurl";
static const char *failure;
static ccurl_info info;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  static const char *const names[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "no libcurl.so.4, libcurl.so or libcurl-gnutls.so.4 was found; install libcurl (Debian: libcurl4)";
    return;
  }
  const struct {
    const char *name;
    void **slot;
  } symbols[] = {
    {"curl_global_init", (void **)&curl.global_init},
    {"curl_version_info", (void **)&curl.version_info},
    {"curl_easy_init", (void **)&curl.easy_init},
    {"curl_easy_cleanup", (void **)&curl.easy_cleanup},
    {"curl_easy_reset", (void **)&curl.easy_reset},
    {"curl_easy_strerror", (void **)&curl.easy_strerror},
    {"curl_easy_setopt", (void **)&curl.easy_setopt},
    {"curl_easy_getinfo", (void **)&curl.easy_getinfo},
    {"curl_easy_pause", (void **)&curl.easy_pause},
    {"curl_share_init", (void **)&curl.share_init},
    {"curl_share_cleanup", (void **)&curl.share_cleanup},
    {"curl_share_setopt", (void **)&curl.share_setopt},
    {"curl_multi_init", (void **)&curl.multi_init},
    {"curl_multi_cleanup", (void **)&curl.multi_cleanup},
    {"curl_multi_setopt", (void **)&curl.multi_setopt},
    {"curl_multi_add_handle", (void **)&curl.multi_add_handle},
    {"curl_multi_remove_handle", (void **)&curl.multi_remove_handle},
    {"curl_multi_socket_action", (void **)&curl.multi_socket_action},
    {"curl_multi_info_read", (void **)&curl.multi_info_read},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = dlsym(library, symbols[i].name);
    if (*symbols[i].slot == NULL) {
      failure = too_old;
      return;
    }
  }
  if (curl.global_init(3) != 0) {  // CURL_GLOBAL_ALL
    failure = "curl_global_init failed: libcurl's TLS library could not be set up";
    return;
  }
  const version_data *data = curl.version_info(5);  // CURLVERSION_SIXTH: libcurl answers with what it has
  if (data->version_num < 0x074400) {
    failure = too_old;
    return;
  }
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
const char *ccurl_easy_strerror(int code) { return curl.easy_strerror(code); }
int ccurl_easy_set_long(void *easy, int option, long value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_set_int64(void *easy, int option, int64_t value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_set_pointer(void *easy, int option, const void *value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_set_data_callback(void *easy, int option, ccurl_data_callback value) {
  return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_seek_callback(void *easy, int option, ccurl_seek_callback value) {
  return curl.easy_setopt(easy, option, value);
}

int ccurl_easy_set_progress_callback(void *easy, int option, ccurl_progress_callback value) {
  return curl.easy_setopt(easy, option, value);
}

int ccurl_easy_set_prereq_callback(void *easy, int option, ccurl_prereq_callback value) {
  return curl.easy_setopt(easy, option, value);
}
int64_t ccurl_easy_get_int64(void *easy, int what) {
  int64_t value = -1;
  return curl.easy_getinfo(easy, what, &value) == 0 ? value : -1;
}
long ccurl_easy_get_long(void *easy, int what) {
  long value = -1;
  return curl.easy_getinfo(easy, what, &value) == 0 ? value : -1;
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
  // Where no connection has stood, none was kept.
  metrics.reused = metrics.pretransfer > 0 && ccurl_easy_get_long(easy, 0x20001a) == 0;
  if (!metrics.reused) {
    metrics.name_lookup = ccurl_easy_get_int64(easy, 0x600033);
    metrics.connect = ccurl_easy_get_int64(easy, 0x600034);
    metrics.tls = ccurl_easy_get_int64(easy, 0x600038);
  }
  curl.easy_getinfo(easy, 0x100020, &metrics.address);
  return metrics;
}

void *ccurl_share_init(void) {
  void *share = curl.share_init();
  if (share != NULL) curl.share_setopt(share, 1, 4);  // CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION
  return share;
}
void ccurl_share_cleanup(void *share) { curl.share_cleanup(share); }

// The multi handle and what waits for its sockets. libcurl says which sockets it waits for, and is told of those that are
// ready: a turn costs what is ready, not what is in flight.
struct ccurl_multi {
  void *handle;
  int epoll, wakeup;
  // Easy handles in it.
  int added;
  // When libcurl wants to be called whatever happens, in nanoseconds; -1 for never.
  int64_t deadline;
  // By descriptor: what libcurl waits for, what epoll watches, whether it is a connection's, and whether something came
  // for which nobody waited.
  struct {
    uint8_t wanted, watched, is_connection, is_unread;
  } *sockets;
  int count;
  // How many are unread.
  int unread;
};

enum { POLL_IN = 1, POLL_OUT = 2, POLL_INOUT = 3, POLL_ERROR = 4, POLL_REMOVE = 4 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Makes room for `socket`; false without memory.
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
  struct epoll_event event = {.events = ((what & POLL_IN) ? EPOLLIN : 0u) | ((what & POLL_OUT) ? EPOLLOUT : 0u), .data.fd = socket};
  int change = what == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  int result = epoll_ctl(multi->epoll, change, socket, &event);
  // Some versions close a socket that never was connected without a word; another may have its number now.
  if (result != 0 && what != 0) {
    result = epoll_ctl(multi->epoll, before == 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  }
  multi->sockets[socket].watched = result == 0 ? what : 0;
}

static void set_unread(ccurl_multi *multi, int socket, uint8_t is_unread) {
  multi->unread += is_unread - multi->sockets[socket].is_unread;
  multi->sockets[socket].is_unread = is_unread;
}

// libcurl waits for something else. Between two requests of a connection that is nothing, for a moment: it stays watched,
// which saves two system calls a request, until it is ready in vain or closed.
static int socket_changed(void *easy, int socket, int what, void *context, void *unused) {
  (void)easy;
  (void)unused;
  ccurl_multi *multi = context;
  if (socket < 0 || !make_room(multi, socket)) return 0;
  uint8_t wanted = what == POLL_REMOVE ? 0 : (uint8_t)(what & POLL_INOUT);
  multi->sockets[socket].wanted = wanted;
  if (wanted != 0) set_unread(multi, socket, 0);
  if (wanted == 0 && multi->sockets[socket].watched == POLL_IN && multi->sockets[socket].is_connection) return 0;
  if (wanted == 0) multi->sockets[socket].is_connection = 0;
  watch(multi, socket, wanted);
  return 0;
}

static int timer_changed(void *handle, long milliseconds, void *context) {
  (void)handle;
  ccurl_multi *multi = context;
  multi->deadline = milliseconds < 0 ? -1 : milliseconds == 0 ? 0 : now() + (int64_t)milliseconds * 1000000;
  return 0;
}

static int socket_opened(void *context, int socket, int purpose) {
  (void)purpose;
  // How much the system takes of what it can't send yet (tcp(7)). Else it would take megabytes, and how slowly they go
  // would look like silence; what is on its way over the network does not count, so no speed is lost.
  int limit = 1 << 15;
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, sizeof limit);
  ccurl_multi *multi = context;
  if (make_room(multi, socket)) {
    // What is known of its number is of another that had it before.
    watch(multi, socket, 0);
    set_unread(multi, socket, 0);
    multi->sockets[socket].is_connection = 1;
    watch(multi, socket, multi->sockets[socket].wanted);
  }
  return 0;
}

// Before the number may name another: what epoll watches outlives a close where a child process has inherited the socket.
static int socket_closed(void *context, int socket) {
  ccurl_multi *multi = context;
  if (socket >= 0 && socket < multi->count) {
    watch(multi, socket, 0);
    set_unread(multi, socket, 0);
    multi->sockets[socket].wanted = multi->sockets[socket].is_connection = 0;
  }
  return close(socket);
}

void ccurl_easy_watch(void *easy, ccurl_multi *multi) {
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

// Does what is due; true when transfers have ended by it, which nobody waits for any more.
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

void ccurl_multi_run(ccurl_multi *multi, int milliseconds) {
  enum { ROOM = 128 };
  struct epoll_event events[ROOM];
  // First what was added just now begins.
  if (run_timers(multi)) milliseconds = 0;
  int count = epoll_wait(multi->epoll, events, ROOM, milliseconds == 0 ? 0 : wait_until_timer(multi, milliseconds));
  for (int i = 0; i < count; i++) {
    int socket = events[i].data.fd, running = 0;
    uint32_t ready = events[i].events;
    if (socket == multi->wakeup) {
      uint64_t times;
      while (read(socket, &times, sizeof times) < 0 && errno == EINTR) {}
      continue;
    }
    // An earlier one of this batch may have closed it.
    if (socket >= multi->count || multi->sockets[socket].watched == 0) continue;
    if (multi->sockets[socket].wanted == 0) {
      watch(multi, socket, 0);
      set_unread(multi, socket, 1);
      continue;
    }
    int what = ((ready & (EPOLLIN | EPOLLHUP)) ? POLL_IN : 0) | ((ready & EPOLLOUT) ? POLL_OUT : 0)
               | ((ready & EPOLLERR) ? POLL_ERROR : 0);
    curl.multi_socket_action(multi->handle, socket, what, &running);
  }
}

bool ccurl_multi_has_unread(const ccurl_multi *multi, int port) {
  if (multi->unread == 0) return false;
  for (int socket = 0; socket < multi->count; socket++) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char byte;
    if (!multi->sockets[socket].is_unread || getsockname(socket, (struct sockaddr *)&address, &length) != 0) continue;
    in_port_t own = address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                                  : ((struct sockaddr_in *)&address)->sin_port;
    if (ntohs(own) == port) return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }
  return false;
}

void ccurl_multi_wakeup(ccurl_multi *multi) {
  uint64_t once = 1;
  while (write(multi->wakeup, &once, sizeof once) < 0 && errno == EINTR) {}
}

void *ccurl_multi_next_done(ccurl_multi *multi, int *code) {
  int left = 0;
  const message *next;
  while ((next = curl.multi_info_read(multi->handle, &left)) != NULL) {
    void *context = NULL;
    if (next->msg != 1) continue;
    *code = next->data.result;
    if (curl.easy_getinfo(next->easy, 0x100015, &context) == 0 && context != NULL) return context;  // CURLINFO_PRIVATE
  }
  return NULL;
}

void ccurl_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#endif
