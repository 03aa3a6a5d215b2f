/// How far a transfer is (article row 1.8). Named so, since `Progress` is Foundation's.
public struct TransferProgress: Sendable, Hashable {
  /// Bytes of the body sent so far, as they go over the wire.
  public var sent: Int64
  /// Bytes of the body to send in all; `nil` where that is not known.
  public var toSend: Int64?
  /// Bytes of the body received so far, as they come over the wire: compressed, where the server compresses.
  public var received: Int64
  /// Bytes of the body to receive in all; `nil` where the server does not say.
  public var toReceive: Int64?
  /// Bytes received a second, over the last seconds; `nil` where nobody measures it or not yet.
  public var bytesPerSecond: Double?

  /// A progress with nothing transferred, where nothing else is given.
  public init(
    sent: Int64 = 0, toSend: Int64? = nil, received: Int64 = 0, toReceive: Int64? = nil, bytesPerSecond: Double? = nil
  ) {
    self.sent = sent
    self.toSend = toSend
    self.received = received
    self.toReceive = toReceive
    self.bytesPerSecond = bytesPerSecond
  }

  /// That of an exchange which is over.
  init(of request: Request, _ response: Response) {
    let sent = request.body.byteCount
    let received = Int64(response.body.count)
    self.init(sent: sent ?? 0, toSend: sent, received: received, toReceive: received)
  }

  /// How many seconds the rest will take at this rate; `nil` where that is not known.
  public var secondsLeft: Double? {
    guard let toReceive, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    return Double(max(0, toReceive - received)) / bytesPerSecond
  }

  /// The received share, from 0 to 1; `nil` where the whole is not known.
  public var fractionReceived: Double? { Self.fraction(received, of: toReceive) }
  /// The sent share, from 0 to 1; `nil` where the whole is not known.
  public var fractionSent: Double? { Self.fraction(sent, of: toSend) }

  /// The same, no less than `last`: a redirect or a repetition sends the body again, and what is shown does not go back.
  func following(_ last: TransferProgress) -> TransferProgress {
    var next = self
    next.sent = Swift.max(sent, last.sent)
    next.received = Swift.max(received, last.received)
    next.toSend = toSend.map { Swift.max($0, next.sent) }
    next.toReceive = toReceive.map { Swift.max($0, next.received) }
    return next
  }

  private static func fraction(_ part: Int64, of whole: Int64?) -> Double? {
    guard let whole else { return nil }
    return whole == 0 ? 1 : min(1, Double(part) / Double(whole))
  }
}

/// A closure that receives the progress of a transfer, one call at a time, before the result: from a network on the backend's
/// `mapping` scheduler, from a transport on its own thread.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void
