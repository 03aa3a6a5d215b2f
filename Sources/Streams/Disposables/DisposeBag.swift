/// A collection that disposes its members when it is deallocated, which ties subscriptions to the lifetime of their
/// owner.
public final class DisposeBag: Sendable {
  private let members = CompositeDisposable()

  /// Creates an empty bag.
  public init() {}

  deinit { members.dispose() }

  /// Adds a disposable.
  public func insert(_ disposable: any Disposable) { members.insert(disposable) }

  /// Adds disposables.
  public func insert(_ disposables: any Disposable...) { insert(disposables) }

  /// Adds disposables.
  public func insert(_ disposables: [any Disposable]) {
    for disposable in disposables { members.insert(disposable) }
  }
}

extension Disposable {
  /// Adds this disposable to `bag`, which disposes it when the bag is deallocated.
  public func disposed(by bag: DisposeBag) { bag.insert(self) }
}
