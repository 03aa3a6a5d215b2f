/// The state of a watched endpoint: the value, and next to it the error and the activity.
///
/// The streams of ``NetLayer/Network/watch(_:every:)`` emit snapshots. They neither fail nor complete, so a screen keeps its last
/// value while there is an error.
public struct Snapshot<Value: Sendable>: Sendable {
  /// The value of the last response with the pending edits applied; `nil` until the first response.
  public var value: Value?
  /// The error of the last request; `nil` after a success.
  public var error: NetworkError?
  /// Whether a request is in flight or due.
  public var isFetching: Bool
  /// Whether the value may be outdated: it was invalidated, its freshness lifetime has passed, or the last request failed.
  public var isStale: Bool
  /// Whether the value contains an edit that no response has replaced yet.
  public var isEdited: Bool

  /// Creates a snapshot, for example for a preview.
  public init(
    value: Value? = nil, error: NetworkError? = nil, isFetching: Bool = false, isStale: Bool = false,
    isEdited: Bool = false
  ) {
    self.value = value
    self.error = error
    self.isFetching = isFetching
    self.isStale = isStale
    self.isEdited = isEdited
  }
}

extension Snapshot: Equatable where Value: Equatable {}
