/// Disposes what was put into it when it goes away: ties subscriptions to their owner's lifetime (article row 0.26).
public final class DisposeBag: Sendable {
  private let members = CompositeDisposable()

  /// An empty bag.
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
  /// Lets `bag` dispose this when it goes away.
  public func disposed(by bag: DisposeBag) { bag.insert(self) }
}
