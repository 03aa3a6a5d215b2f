import PortableFoundation

/// The progress of a transfer. The name `Progress` belongs to Foundation.
public struct TransferProgress: Sendable, Hashable {
  /// The number of bytes of the request's body sent so far.
  public var sent: Int64
  /// The number of bytes of the request's body; `nil` if unknown.
  public var sendTotal: Int64?
  /// The number of bytes of the response's body received so far, as sent on the wire, which may be compressed.
  public var received: Int64
  /// The number of bytes of the response's body; `nil` if the server does not announce it.
  public var receiveTotal: Int64?
  /// The rate in received bytes per second, over the last few seconds; `nil` if it is not yet or never measured.
  public var bytesPerSecond: Double?

  /// Creates a progress value. By default, nothing has been transferred.
  public init(
    sent: Int64 = 0, sendTotal: Int64? = nil, received: Int64 = 0, receiveTotal: Int64? = nil,
    bytesPerSecond: Double? = nil
  ) {
    self.sent = sent
    self.sendTotal = sendTotal
    self.received = received
    self.receiveTotal = receiveTotal
    self.bytesPerSecond = bytesPerSecond
  }

  package init(of request: Request, _ response: Response) {
    let sent = request.body.byteCount
    let received = Int64(response.body.count)
    self.init(sent: sent ?? 0, sendTotal: sent, received: received, receiveTotal: received)
  }

  /// The estimated remaining time at the current rate; `nil` if unknown.
  public var timeLeft: Duration? {
    guard let receiveTotal, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    return Duration(clampingSeconds: max(0, Double(receiveTotal) - Double(received)) / bytesPerSecond)
  }

  /// The received fraction, from 0 to 1; `nil` if the total is unknown.
  public var fractionReceived: Double? { Self.fraction(received, of: receiveTotal) }
  /// The sent fraction, from 0 to 1; `nil` if the total is unknown.
  public var fractionSent: Double? { Self.fraction(sent, of: sendTotal) }

  /// Returns the progress, at least as far as `last`. Redirects and retries send the body again, and a displayed
  /// progress must not move backwards.
  func following(_ last: TransferProgress) -> TransferProgress {
    var next = self
    next.sent = Swift.max(sent, last.sent)
    next.received = Swift.max(received, last.received)
    next.sendTotal = sendTotal.map { Swift.max($0, next.sent) }
    next.receiveTotal = receiveTotal.map { Swift.max($0, next.received) }
    return next
  }

  private static func fraction(_ part: Int64, of whole: Int64?) -> Double? {
    guard let whole else { return nil }
    return whole <= 0 ? 1 : min(1, max(0, Double(part) / Double(whole)))
  }
}

/// A closure that receives the progress of a transfer, one call at a time, before the result: from a network on the backend's
/// `mapping` scheduler, from a transport on its own thread.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void
