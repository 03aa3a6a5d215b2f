import PortableFoundation

/// A body of newline-delimited JSON (NDJSON, JSON Lines): the elements of an asynchronous sequence, one a line.
///
/// ```swift
/// try await network.fetch(.post("/import", lines: JSONLines(once: rows)))
/// ```
/// The backend's `encoder` writes each element; `prettyPrinted` is ignored. Elements are pulled from the sequence as the
/// socket takes them, at most 256 KB and one line ahead, so that the sequence may be longer than memory. When the request
/// ends early, the task that iterates the sequence is cancelled. What the sequence throws fails the request with
/// `invalidRequest`, and an element that can't be written with `encoding`.
public struct JSONLines: Sendable {
  typealias Encode = @Sendable (any Sendable & Encodable) throws -> Data

  /// The maximum time in seconds that the transport waits for the next element; 0 sets no limit. See
  /// `Request.BodyStream.chunkTimeout`.
  public var elementTimeout: Double = 0
  private let make: @Sendable (@escaping Encode) -> Request.BodyStream

  /// The elements of a sequence that exists once: what would have to send the body again, such as a retry or a redirect, fails
  /// instead.
  public init<Elements: AsyncSequence & Sendable>(once elements: Elements)
  where Elements.Element: Encodable & Sendable {
    make = { encode in Request.BodyStream(once: elements.map { try encode($0) }) }
  }

  /// The elements of a sequence that can be sent again: `sequence` is called for each time, and returns a sequence that
  /// begins at the start.
  public init<Elements: AsyncSequence & Sendable>(sequence: @escaping @Sendable () throws -> Elements)
  where Elements.Element: Encodable & Sendable {
    make = { encode in Request.BodyStream(sequence: { try sequence().map { try encode($0) } }) }
  }

  /// The body, written by `encoder`.
  func body(_ encoder: JSONParameterEncoder) -> Request.BodyStream {
    var stream = make { element in Data((try encoder.line(of: element) + "\n").utf8) }
    stream.chunkTimeout = elementTimeout
    return stream
  }
}
