import Dispatch
import PortableFoundation
import Synchronization

/// The server's thread, which waits with `poll`, reads requests, calls the handler and writes responses.
///
/// `poll` is available on every platform, unlike `epoll`. Up to 256 connections, its cost is negligible compared with
/// the other system calls of a request.
// @unchecked Sendable: `connections`, `descriptors` and `scratch` are used only on the loop's thread; the rest is
// immutable or atomic.
final class ServerLoop: @unchecked Sendable {
  let log: RequestLog
  private let listener: Socket
  private let handler: TestServer.Handler
  private let maxBodySize: TestServer.BodyLimit?
  private let maxConnections: Int
  /// Whether a new connection at the limit closes the one that has been idle the longest.
  private let closesIdle: Bool
  private let expectation: @Sendable (TestServer.Request) -> Int
  private let cut: @Sendable (TestServer.Request) -> Int?
  private let wakeReader: Int32
  private let wakeWriter: Int32
  /// Set by `stop()`, read by the loop.
  private let stopping = Atomic<Bool>(false)
  private let finished = DispatchGroup()
  // The loop of the current thread, if it is a loop's thread.
  private static let running = ThreadPointer()

  private var connections: [ServerConnection] = []
  private var descriptors: [pollfd] = []
  private var timed = 0
  private var anyClosed = false
  private var acceptsMore: Bool
  /// Whether the last connection was not accepted because the process has no free descriptor.
  private var lacksDescriptors = false
  private var accepted = 0
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

  init(
    listener: Socket, log: RequestLog, maxBodySize: TestServer.BodyLimit?, maxConnections: Int, closesIdle: Bool,
    expectation: @escaping @Sendable (TestServer.Request) -> Int,
    cut: @escaping @Sendable (TestServer.Request) -> Int?, accepts: Bool, handler: @escaping TestServer.Handler
  ) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw TestServer.Failure("pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    wakeReader = ends[0]
    wakeWriter = ends[1]
    self.listener = listener
    self.log = log
    self.maxBodySize = maxBodySize
    self.maxConnections = maxConnections
    self.closesIdle = closesIdle
    self.handler = handler
    self.expectation = expectation
    self.cut = cut
    acceptsMore = accepts
  }

  deinit {
    scratch.deallocate()
    _ = close(wakeReader)
    _ = close(wakeWriter)
  }

  func start() throws {
    finished.enter()
    do {
      try DetachedThread.start("TestServer") { [self] in
        Self.running.value = Unmanaged.passUnretained(self).toOpaque()
        run()
        finished.leave()
      }
    } catch {
      finished.leave()
      throw TestServer.Failure("pthread_create", errno: SystemError.code(of: error) ?? EAGAIN)
    }
  }

  func stop() {
    if !stopping.exchange(true, ordering: .acquiringAndReleasing) {
      var byte: UInt8 = 0
      _ = write(wakeWriter, &byte, 1)
    }
    // A handler runs on the loop's thread, where waiting for the loop would deadlock.
    if Self.running.value != Unmanaged.passUnretained(self).toOpaque() { finished.wait() }
  }

  private func run() {
    descriptors = [
      pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while !stopping.load(ordering: .acquiring) {
      descriptors[1].events = acceptsMore ? Int16(POLLIN) : 0
      let ready = poll(&descriptors, nfds_t(descriptors.count), waitMilliseconds())
      if ready < 0, errno != EINTR { break }
      // The descriptors of other parts of the process may be free again, which no event reports.
      if lacksDescriptors { (acceptsMore, lacksDescriptors) = (true, false) }
      if ready > 0 { serveReady() }
      if timed > 0 { serveTimed() }
      if anyClosed { removeClosed() }
      if ready > 0, descriptors[1].revents != 0 { acceptAll() }
    }
    for connection in connections { connection.close() }
    log.openCount.store(0, ordering: .relaxed)
    connections = []
    listener.close()
  }

  private func serveReady() {
    for index in connections.indices {
      let events = Int32(descriptors[index + 2].revents)
      guard events != 0 else { continue }
      let connection = connections[index]
      // Otherwise `poll` would report the end of the connection again and again.
      if !connection.reads, events & Int32(POLLHUP | POLLERR) != 0 { connection.close() }
      if events & Int32(POLLIN | POLLHUP | POLLERR) != 0, connection.fill(scratch) { drive(connection) }
      if events & Int32(POLLOUT) != 0, !connection.isClosed { drive(connection) }
      descriptors[index + 2].events = connection.wantedEvents
      if connection.isClosed { anyClosed = true }
    }
  }

  private func serveTimed() {
    let now = DispatchTime.now().uptimeNanoseconds
    for index in connections.indices where connections[index].isDue(now) {
      drive(connections[index])
      descriptors[index + 2].events = connections[index].wantedEvents
      if connections[index].isClosed { anyClosed = true }
    }
  }

  private func drive(_ connection: ServerConnection) {
    let wasTimed = connection.due != nil
    connection.drive(expectation, cut) { request in
      log.append(request)
      return handler(request)
    }
    let isTimed = connection.due != nil
    if wasTimed != isTimed { timed += isTimed ? 1 : -1 }
  }

  private func removeClosed() {
    anyClosed = false
    var index = connections.count - 1
    while index >= 0 {
      if connections[index].isClosed {
        if connections[index].due != nil { timed -= 1 }
        connections.swapAt(index, connections.count - 1)
        descriptors.swapAt(index + 2, descriptors.count - 1)
        connections.removeLast()
        descriptors.removeLast()
        log.openCount.subtract(1, ordering: .relaxed)
      }
      index -= 1
    }
    acceptsMore = true
  }

  private func acceptAll() {
    while true {
      // At the limit, the connection stays in the backlog until another connection closes.
      let isFull = connections.count >= maxConnections
      guard !isFull || closesIdle && connections.contains(where: \.isIdle) else {
        acceptsMore = false
        return
      }
      guard let socket = listener.acceptNext() else {
        if errno == EMFILE || errno == ENFILE { (acceptsMore, lacksDescriptors) = (false, true) }
        return
      }
      if isFull {
        connections.filter(\.isIdle).min { $0.lastActivity < $1.lastActivity }?.close()
        removeClosed()
      }
      accepted += 1
      log.connectionCount.add(1, ordering: .relaxed)
      log.openCount.add(1, ordering: .relaxed)
      connections.append(ServerConnection(socket, number: accepted, log: log, maxBodySize: maxBodySize))
      descriptors.append(pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0))
    }
  }

  private func waitMilliseconds() -> Int32 {
    let longest: Int32 = lacksDescriptors ? 100 : -1
    guard timed > 0, let nearest = connections.lazy.compactMap(\.due).min() else { return longest }
    let now = DispatchTime.now().uptimeNanoseconds
    let wait = nearest <= now ? 0 : Int32(clamping: (nearest - now + 999_999) / 1_000_000)
    return lacksDescriptors ? Swift.min(wait, longest) : wait
  }
}
