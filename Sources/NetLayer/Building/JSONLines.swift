import PortableFoundation

/// A body of newline-delimited JSON (NDJSON, JSON Lines): the elements of an asynchronous sequence, one per line.
///
/// ```swift
/// try await network.fetch(.post("/import", .lines(JSONLines(once: rows))))
/// ```
/// The backend's `encoder` writes each element; `prettyPrinted` is ignored. Elements are pulled from the sequence at
/// the pace of the socket, at most 256 KB and one line ahead. An error thrown by the sequence fails the request with
/// `invalidRequest`, and an element that can't be encoded with `encoding`.
public struct JSONLines: Sendable {
  typealias Encode = @Sendable (any Sendable & Encodable) throws -> Data

  /// The maximum time that the transport waits for the next element; `nil`, the default, for no limit. See
  /// `Request.BodyStream.chunkTimeout`.
  public var elementTimeout: Duration?
  private let make: @Sendable (@escaping Encode) -> Request.BodyStream

  /// Creates a body from a sequence that can be iterated once. A retry or a redirect that needs the body again fails
  /// instead.
  public init<Elements: AsyncSequence & Sendable>(once elements: Elements)
  where Elements.Element: Encodable & Sendable {
    make = { encode in Request.BodyStream(once: elements.map { try encode($0) }) }
  }

  /// Creates a body from a sequence that can be sent again. `sequence` is called for each attempt and returns a
  /// sequence that starts at the beginning.
  public init<Elements: AsyncSequence & Sendable>(sequence: @escaping @Sendable () throws -> Elements)
  where Elements.Element: Encodable & Sendable {
    make = { encode in Request.BodyStream(sequence: { try sequence().map { try encode($0) } }) }
  }

  func body(_ encoder: JSONParameterEncoder) -> Request.BodyStream {
    var stream = make { element in Data((try encoder.line(of: element) + "\n").utf8) }
    stream.chunkTimeout = elementTimeout
    return stream
  }
}
