#if canImport(CCurl)
  import CCurl
  import PortableFoundation
  import Streams

  /// The thread of a transport's sockets: connects them by libcurl, and waits for them with epoll.
  // @unchecked Sendable: other threads reach `inbox` and `end`; all else belongs to the loop's thread.
  final class CurlSocketLoop: @unchecked Sendable {
    /// What another thread wants of the loop.
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

    let multi: OpaquePointer
    let configuration: CurlTransport.Configuration
    private let share = ccurl_share_init()
    /// Any thread appends and wakes the loop under it, so that there is a loop to wake; the loop takes all at once.
    private let inbox = Locked(Inbox())
    /// Who waits for the end. Taken by any thread and, once, by the loop; the actions are called behind it.
    private let end = Locked((isOver: false, actions: [@Sendable () -> Void]()))

    /// What is read from any socket, before it is taken apart.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    /// The time at the beginning of the turn.
    private(set) var now = Deadline.now()
    private var live: [ObjectIdentifier: CurlSocket] = [:]
    private var connecting: [ObjectIdentifier: CurlSocket] = [:]
    /// Those that have more to read than they were given time for, which epoll may not know of inside TLS.
    private(set) var eager: [CurlSocket] = []
    /// Those that have taken messages in this turn, which are written together.
    private var unflushed: [CurlSocket] = []
    /// Counts the turns, so that a socket is served once in each.
    private var turn: UInt64 = 0
    private var nextCheck = Deadline.never

    init?(_ configuration: CurlTransport.Configuration) {
      guard let multi = ccurl_multi_init() else {
        scratch.deallocate()
        if let share { ccurl_share_cleanup(share) }
        return nil
      }
      (self.multi, self.configuration) = (multi, configuration)
      // Nothing is kept for another: libcurl before 7.86 closes the connection of a handle that has gone when its cache is
      // full, and before 7.73 at its end.
      ccurl_multi_set_long(multi, Int32(CCURL_MULTI_MAXCONNECTS), 1)
    }

    deinit { scratch.deallocate() }

    /// Starts the thread; what the system says where there can be none.
    func start() -> Int32 {
      let me = Unmanaged.passRetained(self)
      let code = ccurl_start_thread(
        "NetLayer.socket",
        { context in context.map { Unmanaged<CurlSocketLoop>.fromOpaque($0).takeRetainedValue().run() } },
        me.toOpaque())
      if code != 0 {
        me.release()
        endAll()
      }
      return code
    }

    // MARK: Called from any thread

    /// Hands `command` to the loop; `false` if the loop has ended.
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

    /// Calls `action` when the loop has ended, on its thread; immediately if it has.
    func whenEnded(_ action: @escaping @Sendable () -> Void) {
      let hasEnded = end.withLock { end in
        if !end.isOver { end.actions.append(action) }
        return end.isOver
      }
      if hasEnded { action() }
    }

    private func wake(_ inbox: inout Inbox) {
      guard inbox.isAsleep else { return }
      inbox.isAsleep = false
      ccurl_multi_wakeup(multi)
    }

    // MARK: The loop's thread

    /// Begins to connect what `socket` has prepared; 0 where that goes.
    func connect(_ socket: CurlSocket, _ handle: CurlHandle) -> Int32 {
      let code = ccurl_multi_add(multi, handle.easy)
      if code == 0 { connecting[ObjectIdentifier(handle)] = socket }
      return code
    }

    func makeHandle() -> CurlHandle? { CurlHandle(configuration, multi: multi, share: share) }

    /// Lets go of a handle, which closes its connection.
    func release(_ handle: CurlHandle) {
      connecting[ObjectIdentifier(handle)] = nil
      ccurl_multi_remove(multi, handle.easy)
    }

    func remove(_ socket: CurlSocket) { live[ObjectIdentifier(socket)] = nil }

    /// Comes back to `socket` in the next turn, once.
    func comeBack(to socket: CurlSocket) {
      guard !socket.isEager else { return }
      socket.isEager = true
      eager.append(socket)
    }

    /// Writes what `socket` has to send behind the commands of this turn, once.
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

    /// Looks at all sockets no later than at `time`.
    func look(at time: UInt64) { nextCheck = Swift.min(nextCheck, time) }

    private func run() {
      // A TLS library writes without MSG_NOSIGNAL; blocked, SIGPIPE stays with this thread and does nothing.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      while takeInbox() {
        let patience = eager.isEmpty ? milliseconds(until: nextCheck) : 0
        ccurl_multi_wait(multi, patience > 0 && fallAsleep() ? patience : 0)
        now = Deadline.now()
        ccurl_multi_work(multi)
        deliverConnected()
        deliverUsable()
        if now >= nextCheck { checkLimits() }
      }
      endAll()
    }

    /// `false` when the loop is to end.
    private func takeInbox() -> Bool {
      let (commands, shallEnd) = inbox.withLock { inbox in
        inbox.isAsleep = false
        defer { inbox.commands = [] }
        return (inbox.commands, inbox.shallEnd)
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
      case .cancel(let socket): socket.cancel("the caller disposed the socket to \(socket.place)")
      }
    }

    private func deliverConnected() {
      var code: Int32 = 0
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

    /// A minute at most, which bounds what a missed wake-up could cost.
    private func milliseconds(until time: UInt64) -> Int32 {
      let wait = time == Deadline.never ? 60_000 : time <= now ? 0 : (time - now + 999_999) / 1_000_000
      return Int32(Swift.min(wait, 60_000))
    }

    private func endAll() {
      let commands = inbox.withLock { inbox in
        inbox.isOver = true
        defer { inbox.commands = [] }
        return inbox.commands
      }
      for command in commands {
        if case .open(let socket) = command { live[ObjectIdentifier(socket)] = socket }
        if case .send(let socket, let message, let completion) = command { socket.write(message, completion) }
      }
      flushAll()
      for socket in Array(live.values) {
        socket.cancel("the CurlTransport was shut down while the socket to \(socket.place) was open", .goingAway)
      }
      eager = []
      ccurl_multi_cleanup(multi)
      if let share { ccurl_share_cleanup(share) }
      let actions = end.withLock { end in
        defer { end = (true, []) }
        return end.actions
      }
      for action in actions { action() }
    }
  }
#endif
