import Streams

/// An event of a transfer: its progress or, finally, its result.
public enum Transfer<Model: Sendable>: Sendable {
  /// The progress of the transfer.
  case progress(TransferProgress)
  /// The result of the transfer; completion follows.
  case result(Model)

  /// The progress, if this is a progress event.
  public var progress: TransferProgress? { if case .progress(let progress) = self { progress } else { nil } }
  /// The result, if this is the result event.
  public var result: Model? { if case .result(let model) = self { model } else { nil } }
}

extension Transfer: Equatable where Model: Equatable {}

extension Transfer {
  /// Creates the stream of a call that reports its progress to a closure.
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
