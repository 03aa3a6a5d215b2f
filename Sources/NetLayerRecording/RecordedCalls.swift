import PortableFoundation
import Streams

/// The calls of a recorder: a state machine without threads. It redacts what it keeps.
struct RecordedCalls {
  /// An event with its time, without the bytes that are not kept.
  struct Noted: Sendable {
    private(set) var event: CallEvent
    let now: Date
    let uptime: Duration
    /// The source of a response.
    private(set) var source = Response.Source.network
    /// The number of bytes of a body, of which the event has only the start.
    private(set) var bodySize = 0
    /// Whether the request has a body that is not kept, because a part of it would match no request of a replay.
    let hidesBody: Bool

    init(_ event: CallEvent, at now: Date, uptime: Duration, keeping limit: Int) {
      (self.event, self.now, self.uptime) = (event, now, uptime)
      hidesBody = (event.request.body.byteCount ?? 0) > limit
      if hidesBody || (event.kind != .sent && event.kind != .received) { self.event.request.body = .none }
      if let response = event.response {
        (source, bodySize) = (response.source, response.body.count)
        self.event.response?.context = Context()
        self.event.response?.body = Self.start(of: response.body, limit)
      }
      if let chunk = event.data { (bodySize, self.event.data) = (chunk.count, Self.start(of: chunk, limit)) }
      if let error = event.error {
        self.event.error = NetworkError(kind: error.kind, code: error.code, message: "", reason: error.reason)
        self.event.error?.metrics = error.metrics
      }
    }

    /// The number of bytes that wait with the event.
    var size: Int {
      var size = 512 + Int(event.request.body.byteCount ?? 0) + (event.response?.body.count ?? 0)
      size += event.data?.count ?? event.serverEvent?.data.utf8.count ?? 0
      switch event.message {
      case .text(let text)?: size += text.utf8.count
      case .binary(let bytes)?: size += bytes.count
      case nil: break
      }
      return size
    }

    private static func start(of bytes: Data, _ limit: Int) -> Data {
      bytes.count > limit ? bytes.prefix(limit).withUnsafeBytes { Data($0) } : bytes
    }
  }

  /// The maximum number of messages or events of a stream, and of bytes of each.
  private static let (maxMessages, maxMessageSize) = (200, 4 << 10)

  let maxCalls: Int
  let maxSize: Int
  let maxBodySize: Int
  /// The recorder's redaction, and the same with the names of the backend of the current event.
  private let ownRedaction: Redaction
  private var redaction: Redaction
  private(set) var dropped = 0
  /// The number of changes and removals until now, and the last change of each call.
  private var revision = Recorder.Revision()
  private var revisions: [Int: Int] = [:]
  private var entries: [Int: Recorder.Entry] = [:]
  /// The last number of an entry, and the number of the entry of each call, whose own number counts the calls of the process.
  private var lastNumber = 0
  private var numbers: [Int: Int] = [:]
  private var sizes: [Int: Int] = [:]
  private var size = 0
  /// The calls that have ended.
  private var ended = Heap<Int>()

  init(maxCalls: Int, maxSize: Int, maxBodySize: Int, redaction: Redaction) {
    (self.maxCalls, self.maxSize, self.maxBodySize) = (maxCalls, maxSize, maxBodySize)
    (ownRedaction, self.redaction) = (redaction, redaction)
  }

  var all: [Recorder.Entry] { entries.values.sorted { $0.number < $1.number } }

  /// Returns the calls that have changed after a revision, the oldest first.
  func changes(since last: Recorder.Revision) -> Recorder.Changes {
    var changes = Recorder.Changes(revision: revision, entries: [], numbers: nil, dropped: dropped)
    if revision.changes > last.changes {
      changes.entries = revisions.filter { $0.value > last.changes }.keys.sorted().compactMap { entries[$0] }
    }
    if revision.removals > last.removals { changes.numbers = Set(revisions.keys) }
    return changes
  }

  subscript(number: Int) -> Recorder.Entry? { entries[number] }

  mutating func skip(_ count: Int) {
    guard count > 0 else { return }
    dropped += count
    revision.removals += 1
  }

  /// Removes the calls that have ended.
  mutating func clear() {
    for (number, entry) in entries where entry.state != .open { remove(number) }
    ended = Heap()
    dropped = 0
  }

  /// Applies an event. Events of a dropped call have no effect.
  mutating func apply(_ noted: Noted) {
    let event = noted.event
    redaction = event.request.redaction(adding: ownRedaction)
    if event.kind == .started {
      lastNumber += 1
      numbers[event.call] = lastNumber
      var entry = Recorder.Entry(
        number: lastNumber, call: event.call, request: event.request, at: noted.now, uptime: noted.uptime,
        redaction: redaction)
      entry.endpoint = event.endpoint.map { "\($0)" }
      return store(entry)
    }
    guard let number = numbers[event.call], var entry = entries[number] else { return }
    change(&entry, noted)
    store(entry)
  }

  private func change(_ entry: inout Recorder.Entry, _ noted: Noted) {
    let event = noted.event
    switch event.kind {
    case .sent: send(&entry, noted)
    case .head: if let response = event.response { entry.change { open(&$0, response) } }
    case .chunk: if let chunk = event.data { entry.change { add(chunk, noted.bodySize, to: &$0) } }
    case .messageSent, .messageReceived:
      if let message = event.message { entry.change { add(message, event.kind == .messageSent, noted, to: &$0) } }
    case .event: if let received = event.serverEvent { entry.change { add(received, noted, to: &$0) } }
    case .finished: finish(&entry, noted)
    case .closed:
      entry.change { attempt in
        end(&attempt, noted)
        attempt.failure = event.error.map(failure)
      }
      end(&entry, event.error == nil ? .done : .failed, noted)
    case .pause: entry.pause = event.duration
    case .received: if let response = event.response { receive(&entry, response, noted) }
    case .decoded: entry.decoding = (entry.decoding ?? .zero) + (event.duration ?? .zero)
    case .failed: if let error = event.error { fail(&entry, error, noted) }
    case .cancelled: if entry.state == .open { end(&entry, .cancelled, noted) }
    default: break
    }
  }

  // MARK: Attempts

  private func send(_ entry: inout Recorder.Entry, _ noted: Noted) {
    var archived = HAREntry(
      noted.event.request, .success(Response(request: noted.event.request, status: 0)), started: noted.now,
      redaction: redaction)
    if noted.hidesBody { archived.requestBody = .unknown }
    entry.attempts.append(
      Recorder.Entry.Attempt(archived, started: noted.now, begin: noted.uptime, pause: entry.pause.take()))
  }

  private func open(_ attempt: inout Recorder.Entry.Attempt, _ response: Response) {
    attempt.streamed = Data()
    attempt.isSocket = response.status == 101
    if attempt.isSocket { attempt.archived.resourceType = "websocket" }
    attempt.archived.status = response.status
    attempt.archived.responseHeaders = redaction.redacted(response.headers)
  }

  private func add(_ chunk: Data, _ count: Int, to attempt: inout Recorder.Entry.Attempt) {
    attempt.bodySize += count
    let room = maxBodySize - (attempt.streamed?.count ?? 0)
    if room > 0 { attempt.streamed?.append(chunk.prefix(room)) }
  }

  private func add(
    _ message: WebSocketMessage, _ isSent: Bool, _ noted: Noted, to attempt: inout Recorder.Entry.Attempt
  ) {
    let (opcode, data) =
      switch message {
      case .text(let text): (1, start(of: text))
      case .binary(let bytes):
        (2, redaction.binaryMessage(bytes, limit: Self.maxMessageSize)?.base64EncodedString() ?? "")
      }
    let archived = HAREntry.Message(
      isSent: isSent, time: noted.now.timeIntervalSince1970, opcode: opcode, data: data)
    attempt.archived.messages = attempt.archived.messages.suffix(Self.maxMessages - 1) + [archived]
  }

  private func add(_ event: ServerSentEvent, _ noted: Noted, to attempt: inout Recorder.Entry.Attempt) {
    let archived = HAREntry.Event(
      time: noted.now.timeIntervalSince1970, name: start(of: event.event), id: start(of: event.id),
      data: start(of: event.data))
    attempt.archived.events = attempt.archived.events.suffix(Self.maxMessages - 1) + [archived]
    attempt.archived.resourceType = "eventsource"
  }

  private func finish(_ entry: inout Recorder.Entry, _ noted: Noted) {
    entry.change { attempt in
      let isStreamed = attempt.streamed != nil
      if var response = noted.event.response {
        if let streamed = attempt.streamed { response.body = streamed } else { attempt.bodySize = noted.bodySize }
        fill(&attempt, noted.event.request, response)
      } else if let error = noted.event.error {
        attempt.failure = failure(error)
        attempt.metrics = error.metrics
        if isStreamed {
          setBody(&attempt, attempt.streamed ?? Data())
        } else {
          let kept = attempt.archived
          attempt.archived = HAREntry(
            noted.event.request, .failure(error), started: attempt.started, redaction: redaction)
          attempt.archived.requestBody = kept.requestBody
        }
      }
      attempt.streamed = nil
      end(&attempt, noted)
      guard isStreamed else { return }
      attempt.archived.failure = attempt.failure.map(\.archived)
    }
    // The result of a streamed call was its head.
    guard entry.duration == nil, entry.attempts.last?.archived.status != 0, entry.hasResult else { return }
    guard let error = noted.event.error else { return end(&entry, .done, noted) }
    fail(&entry, error, noted)
  }

  private func fail(_ entry: inout Recorder.Entry, _ error: NetworkError, _ noted: Noted) {
    entry.failure = failure(error)
    end(&entry, error.kind == .cancelled ? .cancelled : .failed, noted)
  }

  /// Fills an attempt with its complete response, and with the redirects before it.
  private func fill(_ attempt: inout Recorder.Entry.Attempt, _ request: Request, _ response: Response) {
    let kept = attempt.archived
    var head = response
    head.body = Data()
    var all = HAREntry.entries(of: request, .success(head), started: attempt.started, redaction: redaction)
    attempt.metrics = response.metrics
    guard var last = all.popLast() else { return }
    last.responseHeaders = redaction.redacted(response.headers)
    last.requestBody = kept.requestBody
    (last.events, last.resourceType) = (kept.events, kept.resourceType)
    (attempt.archived, attempt.redirects) = (last, all)
    setBody(&attempt, response.body)
  }

  private func receive(_ entry: inout Recorder.Entry, _ response: Response, _ noted: Noted) {
    entry.hasResult = true
    if let source = noted.event.sharedFrom, source != noted.event.call { entry.sharedWith = numbers[source] }
    entry.source = noted.source
    if entry.attempts.isEmpty {
      send(&entry, noted)
      entry.change { attempt in
        attempt.bodySize = noted.bodySize
        fill(&attempt, noted.event.request, response)
        end(&attempt, noted)
      }
    }
    if entry.attempts.last?.streamed == nil { end(&entry, .done, noted) }
  }

  private func end(_ attempt: inout Recorder.Entry.Attempt, _ noted: Noted) {
    attempt.duration = noted.uptime - attempt.begin
    if attempt.metrics == nil {
      attempt.archived.time = (noted.uptime - attempt.begin).milliseconds
      attempt.archived.timings.wait = attempt.archived.time
    }
  }

  private func end(_ entry: inout Recorder.Entry, _ state: Recorder.Entry.State, _ noted: Noted) {
    entry.state = state
    entry.duration = noted.uptime - entry.begin
  }

  private func failure(_ error: NetworkError) -> Recorder.Entry.Failure {
    Recorder.Entry.Failure(kind: error.kind, code: error.code, reason: redaction.redacted(error.reason))
  }

  // MARK: Bodies

  /// Keeps the start of a body, without its secrets. Those of a body that is neither UTF-8 nor binary can't be found.
  private func setBody(_ attempt: inout Recorder.Entry.Attempt, _ bytes: Data) {
    var body = Data(bytes.prefix(maxBodySize))
    let isWhole = attempt.bodySize <= body.count
    if !isWhole { body.removeLast(body.unfinishedScalar) }
    if String(validating: body, as: UTF8.self) != nil, !body.contains(0) {
      body = Data(redaction.bytes(body, isCut: !isWhole))
    } else if Self.isBinary(attempt.archived.responseHeaders["Content-Type"]) {
      body = redaction.binaryBody(body, isCut: !isWhole) ?? Data()
    } else {
      body = Data()
    }
    attempt.archived.body = body
    attempt.archived.fullCount = isWhole && !(body.isEmpty && !bytes.isEmpty) ? nil : attempt.bodySize
  }

  private static func isBinary(_ type: String?) -> Bool {
    let type = MediaType(type ?? "").essence
    return type.hasPrefix("image/") || type.hasPrefix("font/") || type == "application/octet-stream"
  }

  /// Returns the start of a text of a stream, without secrets.
  private func start(of text: String) -> String { redaction.start(of: text, limit: Self.maxMessageSize) }

  // MARK: Limits

  private mutating func store(_ entry: Recorder.Entry) {
    revision.changes += 1
    revisions[entry.number] = revision.changes
    if entry.state != .open, entries[entry.number]?.state == .open { ended.insert(entry.number) }
    keep(entry)
    while entries.count > maxCalls || size > maxSize, let number = ended.removeFirst() {
      remove(number)
      dropped += 1
    }
    // Only open calls are left: of the one that grows, the former half is dropped.
    while size > maxSize, var open = entries[entry.number], open.dropsHalf() { keep(open) }
  }

  private mutating func keep(_ entry: Recorder.Entry) {
    let new = entry.size
    size += new - (sizes[entry.number] ?? 0)
    (entries[entry.number], sizes[entry.number]) = (entry, new)
  }

  private mutating func remove(_ number: Int) {
    if let entry = entries.removeValue(forKey: number) { numbers[entry.call] = nil }
    revisions[number] = nil
    revision.removals += 1
    size -= sizes.removeValue(forKey: number) ?? 0
  }
}

extension Recorder.Entry {
  fileprivate mutating func change(_ body: (inout Attempt) -> Void) {
    guard !attempts.isEmpty else { return }
    body(&attempts[attempts.count - 1])
  }

  /// Drops the former half of the messages and events, or of the attempts. Returns whether there was anything to drop.
  fileprivate mutating func dropsHalf() -> Bool {
    var isChanged = false
    change { attempt in
      let (messages, events) = (attempt.archived.messages.count, attempt.archived.events.count)
      attempt.archived.messages.removeFirst((messages + 1) / 2)
      attempt.archived.events.removeFirst((events + 1) / 2)
      isChanged = messages + events > 0
      guard !isChanged, attempt.streamed?.isEmpty == false else { return }
      attempt.streamed = Data()
      isChanged = true
    }
    guard !isChanged, attempts.count > 1 else { return isChanged }
    attempts.removeFirst(attempts.count / 2)
    return true
  }
}

extension Recorder.Entry.Failure {
  fileprivate var archived: HAREntry.Failure { HAREntry.Failure(kind: kind.rawValue, code: code, reason: reason) }
}
