/// A subscription or resource that can be given up.
///
/// `dispose()` may be called from any thread and any number of times (law 8).
public protocol Disposable: AnyObject, Sendable {
  /// Gives the resource up; calls after the first do nothing.
  func dispose()
}

/// A `Disposable` that tells whether it has been disposed.
public protocol Cancelable: Disposable {
  /// Whether `dispose()` has been called.
  var isDisposed: Bool { get }
}
