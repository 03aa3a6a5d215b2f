#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams

  /// The event loop of a transport's WebSockets, on its own thread: connects with libcurl, and waits with epoll.
  // @unchecked Sendable: other threads use only `inbox`; everything else belongs to the loop's thread.
  final class CurlWebSocketLoop: CurlThread, @unchecked Sendable {
    enum Command {
      case open(CurlWebSocket)
      case send(CurlWebSocket, WebSocketMessage, @Sendable (NetworkError?) -> Void)
      case close(CurlWebSocket, CloseCode, String)
      case resume(CurlWebSocket)
      case cancel(CurlWebSocket)
    }

    private struct Inbox {
      var commands: [Command] = []
      var isAsleep = false
      var isClosing = false
      var isOver = false
    }

    /// The commands. Any thread appends and wakes the loop under the lock, so that the loop still exists; the loop
    /// takes all in one step.
    private let inbox = Locked(Inbox())

    private(set) var scratch = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var live: [ObjectIdentifier: CurlWebSocket] = [:]
    private var connecting: [ObjectIdentifier: CurlWebSocket] = [:]
    /// The WebSockets with more data to read than one turn allows, which epoll may not report inside TLS.
    private(set) var eager: [CurlWebSocket] = []
    /// The WebSockets that have accepted messages in this turn. The loop writes all messages of a WebSocket together.
    private var unflushed: [CurlWebSocket] = []

    override init?(_ configuration: CurlTransport.Configuration) {
      super.init(configuration)
      scratch = .allocate(byteCount: 1 << 16, alignment: 16)
      ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 1)  // see Quirks/OpenConnections.swift
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
        inbox.isClosing = true
        wake(&inbox)
      }
    }

    private func wake(_ inbox: inout Inbox) {
      guard inbox.isAsleep else { return }
      inbox.isAsleep = false
      ccurl_multi_wakeup(multi)
    }

    // MARK: The loop's thread

    /// Starts to connect a prepared WebSocket. Returns 0, or libcurl's error code.
    func connect(_ webSocket: CurlWebSocket, _ handle: CurlHandle) -> Int32 {
      let code = ccurl_multi_add(multi, handle.easy)
      if code == 0 { connecting[ObjectIdentifier(handle)] = webSocket }
      return code
    }

    func makeHandle() -> CurlHandle? { CurlHandle(configuration, multi: multi, share: share) }

    func release(_ handle: CurlHandle) {
      connecting[ObjectIdentifier(handle)] = nil
      ccurl_multi_remove(multi, handle.easy)
    }

    func remove(_ webSocket: CurlWebSocket) { live[ObjectIdentifier(webSocket)] = nil }

    /// Serves `webSocket` in the next turn, once.
    func serveNextTurn(_ webSocket: CurlWebSocket) {
      guard !webSocket.isEager else { return }
      webSocket.isEager = true
      eager.append(webSocket)
    }

    /// Flushes `webSocket` once, after all commands of this turn.
    func flushSoon(_ webSocket: CurlWebSocket) {
      guard !webSocket.isUnflushed else { return }
      webSocket.isUnflushed = true
      unflushed.append(webSocket)
    }

    private func flushAll() {
      for webSocket in unflushed {
        webSocket.isUnflushed = false
        webSocket.flush()
        webSocket.update()
      }
      unflushed.removeAll(keepingCapacity: true)
    }

    /// Checks all WebSockets at `time` or earlier.
    func look(at time: UInt64) { nextCheck = Swift.min(nextCheck, time) }

    override func run() {
      while takeInbox() {
        let timeout = eager.isEmpty ? milliseconds(until: nextCheck) : 0
        ccurl_multi_wait(multi, timeout > 0 && fallAsleep() ? timeout : 0)
        now = Deadline.now()
        ccurl_multi_work(multi)
        deliverConnected()
        deliverUsable()
        if now >= nextCheck { checkLimits() }
      }
    }

    /// Performs the commands. Returns `false` if the loop must end.
    private func takeInbox() -> Bool {
      let (commands, isClosing) = inbox.withLock { inbox in
        inbox.isAsleep = false
        return (exchange(&inbox.commands, with: []), inbox.isClosing)
      }
      if !commands.isEmpty { now = Deadline.now() }
      for command in commands { perform(command) }
      flushAll()
      return !isClosing
    }

    private func fallAsleep() -> Bool {
      inbox.withLock { inbox in
        inbox.isAsleep = inbox.commands.isEmpty && !inbox.isClosing
        return inbox.isAsleep
      }
    }

    private func perform(_ command: Command) {
      switch command {
      case .open(let webSocket):
        live[ObjectIdentifier(webSocket)] = webSocket
        webSocket.begin()
      case .send(let webSocket, let message, let completion): webSocket.write(message, completion)
      case .close(let webSocket, let code, let reason): webSocket.beginClosing(code, reason)
      case .resume(let webSocket): webSocket.continueAfterPause()
      case .cancel(let webSocket): webSocket.cancel("the caller disposed the socket to \(webSocket.hostAndPort)")
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
      var others: [CurlWebSocket] = []
      swap(&others, &eager)
      turn += 1
      var what: Int32 = 0
      while let context = ccurl_multi_next_usable(multi, &what) {
        serve(Unmanaged<CurlWebSocket>.fromOpaque(context).takeUnretainedValue(), what)
      }
      for webSocket in others where webSocket.turn != turn { serve(webSocket, Int32(CCURL_READABLE)) }
    }

    private func serve(_ webSocket: CurlWebSocket, _ what: Int32) {
      let reads = webSocket.isEager ? Int32(CCURL_READABLE) : 0
      (webSocket.isEager, webSocket.turn) = (false, turn)
      webSocket.ready(what | reads)
    }

    private func checkLimits() {
      nextCheck = Deadline.never
      for webSocket in Array(live.values) { webSocket.checkLimits() }
    }

    override func endAll() {
      let commands = inbox.withLock { inbox in
        inbox.isOver = true
        return exchange(&inbox.commands, with: [])
      }
      for command in commands {
        if case .open(let webSocket) = command { live[ObjectIdentifier(webSocket)] = webSocket }
        if case .send(let webSocket, let message, let completion) = command { webSocket.write(message, completion) }
      }
      flushAll()
      for webSocket in Array(live.values) {
        webSocket.cancel(
          "the CurlTransport was shut down while the socket to \(webSocket.hostAndPort) was open", .goingAway)
      }
      eager = []
      cleanUp()
    }
  }
#endif
