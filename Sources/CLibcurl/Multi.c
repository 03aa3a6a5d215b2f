#ifdef __linux__

#include "Libcurl.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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
  struct epoll_event event = {.events = ((what & CURL_POLL_IN) ? EPOLLIN | EPOLLRDHUP : 0u) | ((what & CURL_POLL_OUT) ? EPOLLOUT : 0u), .data.fd = socket};
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
  ccurl_socket *state = &multi->sockets[socket];
  ccurl_transfer *transfer = NULL;
  if (what != CURL_POLL_REMOVE && ccurl.easy_getinfo(easy, CURLINFO_PRIVATE, &transfer) == 0 && transfer != NULL) {
    transfer->socket = socket;
    transfer->connection = state->connection;
    state->lane = transfer->lane;
  }
  if (state->user != NULL) return 0;
  uint8_t wanted = what == CURL_POLL_REMOVE ? 0 : (uint8_t)(what & CURL_POLL_INOUT);
  state->wanted = wanted;
  if (wanted != 0 && state->is_unread != DISTRUSTED) set_unread(multi, socket, 0);
  bool is_idle = wanted == 0 && state->is_connection && (state->watched == CURL_POLL_IN || is_connected(socket));
  if (wanted == 0) state->is_connection = is_idle;
  // libcurl also reads without an event, such as just after it has sent a request.
  if (is_idle) state->last_input = now();
  watch(multi, socket, is_idle ? CURL_POLL_IN : wanted);
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

// Lets the system notice a peer that is gone without a word after 60 s and three probes of 10 s: a link that is down, or a
// balancer that has forgotten the connection. libcurl's own options know the number of probes only since 8.9.
static void keep_alive(int socket) {
  int on = 1, idle = 60, interval = 10, probes = 3;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static int socket_opened(void *context, int socket, int purpose) {
  (void)purpose;
  // The number of unsent bytes that the system accepts (tcp(7)). Otherwise it would accept megabytes, and their slow
  // transmission would look like silence. Bytes in transit do not count, so the throughput is not affected.
  int limit = 1 << 15;
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, sizeof limit);
  ccurl_multi *multi = context;
  if (!make_room(multi, socket)) return 0;
  ccurl_socket *state = &multi->sockets[socket];
  // The recorded state belongs to an earlier socket with the same number.
  watch(multi, socket, 0);
  // A Unix domain socket connects immediately, and may receive its first response before libcurl waits for any event.
  bool is_local = is_unix(socket);
  if (!is_local) keep_alive(socket);
  set_unread(multi, socket, is_local);
  *state = (ccurl_socket){
    .wanted = state->wanted, .is_connection = 1, .is_unread = is_local, .is_unix = is_local,
    .connection = ++multi->connections,
  };
  watch(multi, socket, state->wanted);
  return 0;
}

// Called before the number can be reused. Epoll would keep watching a closed socket that a child process has inherited.
static int socket_closed(void *context, int socket) {
  ccurl_multi *multi = context;
  if (socket >= 0 && socket < multi->count) {
    ccurl_socket *state = &multi->sockets[socket];
    watch(multi, socket, 0);
    set_unread(multi, socket, 0);
    if (state->connection != 0) {
      unsigned place = multi->closings++ % CLOSED;
      multi->closed[place].connection = state->connection;
      multi->closed[place].is_notified = state->is_notified;
    }
    *state = (ccurl_socket){0};
  }
  return close(socket);
}

void ccurl_easy_watch(void *easy, ccurl_multi *multi, ccurl_transfer *transfer) {
  ccurl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  ccurl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
  ccurl.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, socket_opened);
  ccurl.easy_setopt(easy, CURLOPT_SOCKOPTDATA, multi);
  ccurl.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_closed);
  ccurl.easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, multi);
}

ccurl_multi *ccurl_multi_init(void) {
  ccurl_multi *multi = calloc(1, sizeof *multi);
  if (multi == NULL) return NULL;
  multi->deadline = -1;
  multi->epoll = epoll_create1(EPOLL_CLOEXEC);
  multi->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // Edge-triggered: each write wakes the loop once, and nothing has to read the counter.
  struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = multi->wakeup};
  if (multi->epoll >= 0 && multi->wakeup >= 0 && epoll_ctl(multi->epoll, EPOLL_CTL_ADD, multi->wakeup, &event) == 0) {
    multi->handle = ccurl.multi_init();
  }
  if (multi->handle == NULL) {
    ccurl_multi_cleanup(multi);
    return NULL;
  }
  ccurl.multi_setopt(multi->handle, CURLMOPT_SOCKETFUNCTION, socket_changed);
  ccurl.multi_setopt(multi->handle, CURLMOPT_SOCKETDATA, multi);
  ccurl.multi_setopt(multi->handle, CURLMOPT_TIMERFUNCTION, timer_changed);
  ccurl.multi_setopt(multi->handle, CURLMOPT_TIMERDATA, multi);
  return multi;
}

void ccurl_multi_cleanup(ccurl_multi *multi) {
  if (multi->handle != NULL) ccurl.multi_cleanup(multi->handle);
  if (multi->epoll >= 0) close(multi->epoll);
  if (multi->wakeup >= 0) close(multi->wakeup);
  free(multi->sockets);
  free(multi);
}

void ccurl_multi_set_long(ccurl_multi *multi, ccurl_multi_option option, long value) {
  ccurl.multi_setopt(multi->handle, option, value);
}
int ccurl_multi_add(ccurl_multi *multi, void *easy) {
  int code = ccurl.multi_add_handle(multi->handle, easy);
  if (code == 0) multi->added++;
  return code;
}
void ccurl_multi_remove(ccurl_multi *multi, void *easy) {
  if (ccurl.multi_remove_handle(multi->handle, easy) == 0) multi->added--;
}

// Runs due timers. Returns true if transfers have ended, for which nobody waits any more.
static bool run_timers(ccurl_multi *multi) {
  if (multi->deadline < 0 || (multi->deadline > 0 && multi->deadline > now())) return false;
  int running = 0;
  multi->deadline = -1;
  ccurl.multi_socket_action(multi->handle, CURL_SOCKET_TIMEOUT, 0, &running);
  return running < multi->added;
}

static int wait_until_timer(const ccurl_multi *multi, int milliseconds) {
  if (multi->deadline < 0) return milliseconds;
  int64_t left = multi->deadline - now();
  int64_t wait = left <= 0 ? 0 : (left + 999999) / 1000000;
  return wait < milliseconds ? (int)wait : milliseconds;
}

void ccurl_multi_wait(ccurl_multi *multi, int milliseconds) {
  ccurl_current = multi;
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
    if (socket == multi->wakeup) continue;
    // An earlier event of this batch may have closed it.
    if (socket >= multi->count || multi->sockets[socket].watched == 0) continue;
    if (multi->sockets[socket].user != NULL) {
      multi->usable[multi->usables].socket = socket;
      multi->usable[multi->usables].connection = multi->sockets[socket].connection;
      multi->usable[multi->usables++].what =
        ((ready & EPOLLOUT) ? CCURL_WRITABLE : 0) | ((ready & ~(uint32_t)EPOLLOUT) ? CCURL_READABLE : 0);
      continue;
    }
    if (multi->sockets[socket].wanted == 0) {
      watch(multi, socket, 0);
      if (multi->sockets[socket].is_unread == 0) set_unread(multi, socket, 1);
      continue;
    }
    if (ready & EPOLLIN) multi->sockets[socket].last_input = time;
    int what = ((ready & (EPOLLIN | EPOLLHUP)) ? CURL_CSELECT_IN : 0) | ((ready & EPOLLOUT) ? CURL_CSELECT_OUT : 0)
               | ((ready & EPOLLERR) ? CURL_CSELECT_ERR : 0);
    ccurl.multi_socket_action(multi->handle, socket, what, &running);
  }
  multi->ready = 0;
}

void ccurl_multi_prod(ccurl_multi *multi) {
  for (int socket = 0; socket < multi->count; socket++) {
    int running = 0;
    if (multi->sockets[socket].wanted != 0) ccurl.multi_socket_action(multi->handle, socket, 0, &running);
  }
}

// Returns whether `socket` still belongs to `connection`, and not to a later one.
static bool is_same(const ccurl_multi *multi, int socket, uint64_t connection) {
  return socket >= 0 && socket < multi->count && multi->sockets[socket].connection == connection;
}

void ccurl_multi_use(ccurl_multi *multi, int socket, uint64_t connection, void *user, int what) {
  if (!is_same(multi, socket, connection)) return;
  multi->sockets[socket].user = user;
  multi->sockets[socket].wanted = 0;
  watch(multi, socket, (uint8_t)what);
}

void ccurl_multi_leave(ccurl_multi *multi, int socket, uint64_t connection, bool shuts_down) {
  if (!is_same(multi, socket, connection)) return;
  ccurl_multi_use(multi, socket, connection, NULL, 0);
  if (shuts_down) shutdown(socket, SHUT_RDWR);
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

// Returns whether `socket` has ended, or has other unread input that is not tolerated.
static bool has_input(int socket, bool tolerates_input) {
  struct pollfd state = {.fd = socket, .events = POLLRDHUP};
  if (poll(&state, 1, 0) > 0) return true;
  char byte;
  ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count > 0 && !tolerates_input);
}

bool ccurl_multi_is_unfit(ccurl_multi *multi, void *easy, const ccurl_transfer *transfer, int port, bool inspects,
                          bool tolerates_input, int64_t longest_idle) {
  void *connection = inspects && !tolerates_input ? ccurl_tls_connection(easy) : NULL;
  if (connection != NULL && ccurl_tls.has_pending(connection) != 0) return true;
  if (inspects && is_open(multi, transfer)) {
    int64_t last = multi->sockets[transfer->socket].last_input;
    if (longest_idle > 0 && last > 0 && now() - last > longest_idle) return true;
    if (has_input(transfer->socket, tolerates_input)) return true;
  }
  if (multi->unread == 0) return false;
  if (port < 0) port = 0;
  for (int socket = 0; socket < multi->count; socket++) {
    ccurl_socket *state = &multi->sockets[socket];
    if (!state->is_unread) continue;
    // Asked once for each connection: with 256 of them over TLS, this was 40 system calls for each request.
    if (state->local_port == 0) state->local_port = ccurl_local_port(socket);
    if (state->local_port != port) continue;
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

void *ccurl_multi_next_done(ccurl_multi *multi, ccurl_code *code) {
  int left = 0;
  const message *next;
  while ((next = ccurl.multi_info_read(multi->handle, &left)) != NULL) {
    ccurl_transfer *transfer = NULL;
    if (next->msg != CURLMSG_DONE) continue;
    *code = next->data.result;
    if (ccurl.easy_getinfo(next->easy, CURLINFO_PRIVATE, &transfer) == 0 && transfer != NULL) return transfer->owner;
  }
  return NULL;
}

#endif
