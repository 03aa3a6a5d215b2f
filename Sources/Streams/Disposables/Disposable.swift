/// A subscription or resource that can be released.
///
/// `dispose()` may be called from any thread, any number of times (contract, law 8).
public protocol Disposable: AnyObject, Sendable {
  /// Releases the resource; calls after the first have no effect.
  func dispose()
}

/// A `Disposable` with a property that indicates whether it has been disposed.
public protocol Cancelable: Disposable {
  /// Whether `dispose()` has been called.
  var isDisposed: Bool { get }
}
