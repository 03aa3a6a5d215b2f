import Streams

/// A transfer as a stream: how far it is, and at last its result (article row 1.8).
public enum Transfer<Model: Sendable>: Sendable {
  /// How far it is.
  case progress(TransferProgress)
  /// What came of it; completion follows.
  case result(Model)

  /// The progress, if this is one.
  public var progress: TransferProgress? { if case .progress(let progress) = self { progress } else { nil } }
  /// The result, if this is it.
  public var result: Model? { if case .result(let model) = self { model } else { nil } }
}

extension Transfer: Equatable where Model: Equatable {}

extension Transfer {
  /// The stream of a call that reports to a closure.
  static func stream(
    _ call: @escaping @Sendable (@escaping @Sendable (TransferProgress) -> Void) -> Single<Model>
  ) -> Observable<Transfer<Model>> {
    Observable.create { observer in
      call { observer.onNext(.progress($0)) }.subscribe(
        onSuccess: { model in
          observer.onNext(.result(model))
          observer.onCompleted()
        }, onError: { observer.onError($0) })
    }
  }
}
