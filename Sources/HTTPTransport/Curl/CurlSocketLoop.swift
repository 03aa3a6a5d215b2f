#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams

  /// The event loop of a transport's sockets, on its own thread: connects with libcurl, and waits with epoll.
  // @unchecked Sendable: other threads use only `inbox`; everything else belongs to the loop's thread.
  final class CurlSocketLoop: CurlThread, @unchecked Sendable {
    /// A command from another thread to the loop.
    enum Command {
      case open(CurlSocket)
      case send(CurlSocket, SocketMessage, @Sendable (NetworkError?) -> Void)
      case close(CurlSocket, CloseCode, String)
      case resume(CurlSocket)
      case cancel(CurlSocket)
    }

    private struct Inbox {
      var commands: [Command] = []
      var isAsleep = false
      var shallEnd = false
      var isOver = false
    }

    /// The commands. Any thread appends and wakes the loop under the lock, so that the loop still exists; the loop
    /// takes all in one step.
    private let inbox = Locked(Inbox())

    /// The buffer for data read from any socket.
    private(set) var scratch = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var live: [ObjectIdentifier: CurlSocket] = [:]
    private var connecting: [ObjectIdentifier: CurlSocket] = [:]
    /// The sockets with more data to read than one turn allows, which epoll may not report inside TLS.
    private(set) var eager: [CurlSocket] = []
    /// The sockets that have accepted messages in this turn. The loop writes all messages of a socket together.
    private var unflushed: [CurlSocket] = []

    override init?(_ configuration: CurlTransport.Configuration) {
      super.init(configuration)
      scratch = .allocate(byteCount: 1 << 16, alignment: 16)
      // Keeps no connections: if its cache is full, libcurl before 7.86 closes the connection of a removed handle, and
      // before 7.73 also at its end.
      ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 1)
    }

    deinit { scratch.deallocate() }

    // MARK: Called from any thread

    /// Passes `command` to the loop. Returns `false` if the loop has ended.
    func post(_ command: Command) -> Bool {
      inbox.withLock { inbox in
        guard !inbox.isOver else { return false }
        inbox.commands.append(command)
        wake(&inbox)
        return true
      }
    }

    func shutDown() {
      inbox.withLock { inbox in
        guard !inbox.isOver else { return }
        inbox.shallEnd = true
        wake(&inbox)
      }
    }

    private func wake(_ inbox: inout Inbox) {
      guard inbox.isAsleep else { return }
      inbox.isAsleep = false
      ccurl_multi_wakeup(multi)
    }

    // MARK: The loop's thread

    /// Starts to connect a prepared socket. Returns 0, or libcurl's error code.
    func connect(_ socket: CurlSocket, _ handle: CurlHandle) -> Int32 {
      let code = ccurl_multi_add(multi, handle.easy)
      if code == 0 { connecting[ObjectIdentifier(handle)] = socket }
      return code
    }

    func makeHandle() -> CurlHandle? { CurlHandle(configuration, multi: multi, share: share) }

    /// Releases a handle, which closes its connection.
    func release(_ handle: CurlHandle) {
      connecting[ObjectIdentifier(handle)] = nil
      ccurl_multi_remove(multi, handle.easy)
    }

    func remove(_ socket: CurlSocket) { live[ObjectIdentifier(socket)] = nil }

    /// Serves `socket` in the next turn, once.
    func comeBack(to socket: CurlSocket) {
      guard !socket.isEager else { return }
      socket.isEager = true
      eager.append(socket)
    }

    /// Flushes `socket` once, after all commands of this turn.
    func flushSoon(_ socket: CurlSocket) {
      guard !socket.isUnflushed else { return }
      socket.isUnflushed = true
      unflushed.append(socket)
    }

    private func flushAll() {
      for socket in unflushed {
        socket.isUnflushed = false
        socket.flush()
        socket.update()
      }
      unflushed.removeAll(keepingCapacity: true)
    }

    /// Checks all sockets at `time` or earlier.
    func look(at time: UInt64) { nextCheck = Swift.min(nextCheck, time) }

    override func run() {
      while takeInbox() {
        let patience = eager.isEmpty ? milliseconds(until: nextCheck) : 0
        ccurl_multi_wait(multi, patience > 0 && fallAsleep() ? patience : 0)
        now = Deadline.now()
        ccurl_multi_work(multi)
        deliverConnected()
        deliverUsable()
        if now >= nextCheck { checkLimits() }
      }
    }

    /// Performs the commands. Returns `false` if the loop must end.
    private func takeInbox() -> Bool {
      let (commands, shallEnd) = inbox.withLock { inbox in
        inbox.isAsleep = false
        return (exchange(&inbox.commands, with: []), inbox.shallEnd)
      }
      if !commands.isEmpty { now = Deadline.now() }
      for command in commands { perform(command) }
      flushAll()
      return !shallEnd
    }

    private func fallAsleep() -> Bool {
      inbox.withLock { inbox in
        inbox.isAsleep = inbox.commands.isEmpty && !inbox.shallEnd
        return inbox.isAsleep
      }
    }

    private func perform(_ command: Command) {
      switch command {
      case .open(let socket):
        live[ObjectIdentifier(socket)] = socket
        socket.begin()
      case .send(let socket, let message, let completion): socket.write(message, completion)
      case .close(let socket, let code, let reason): socket.beginClosing(code, reason)
      case .resume(let socket): socket.goOn()
      case .cancel(let socket): socket.cancel("the caller disposed the socket to \(socket.hostAndPort)")
      }
    }

    private func deliverConnected() {
      var code = CURLE_OK
      while let context = ccurl_multi_next_done(multi, &code) {
        let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
        connecting.removeValue(forKey: ObjectIdentifier(handle))?.connected(code)
      }
    }

    private func deliverUsable() {
      var others: [CurlSocket] = []
      swap(&others, &eager)
      turn += 1
      var what: Int32 = 0
      while let context = ccurl_multi_next_usable(multi, &what) {
        serve(Unmanaged<CurlSocket>.fromOpaque(context).takeUnretainedValue(), what)
      }
      for socket in others where socket.turn != turn { serve(socket, Int32(CCURL_READABLE)) }
    }

    private func serve(_ socket: CurlSocket, _ what: Int32) {
      let reads = socket.isEager ? Int32(CCURL_READABLE) : 0
      (socket.isEager, socket.turn) = (false, turn)
      socket.ready(what | reads)
    }

    private func checkLimits() {
      nextCheck = Deadline.never
      for socket in Array(live.values) { socket.checkLimits() }
    }

    override func endAll() {
      let commands = inbox.withLock { inbox in
        inbox.isOver = true
        return exchange(&inbox.commands, with: [])
      }
      for command in commands {
        if case .open(let socket) = command { live[ObjectIdentifier(socket)] = socket }
        if case .send(let socket, let message, let completion) = command { socket.write(message, completion) }
      }
      flushAll()
      for socket in Array(live.values) {
        socket.cancel("the CurlTransport was shut down while the socket to \(socket.hostAndPort) was open", .goingAway)
      }
      eager = []
      cleanUp()
    }
  }
#endif
