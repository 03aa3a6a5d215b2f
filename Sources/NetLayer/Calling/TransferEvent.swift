/// An event of a download: its progress or, finally, its result.
public enum TransferEvent<Model: Sendable>: Sendable {
  /// The progress of the download.
  case progress(TransferProgress)
  /// The result of the download; completion follows.
  case result(Model)

  /// The progress, if this is a progress event.
  public var progress: TransferProgress? { if case .progress(let progress) = self { progress } else { nil } }
  /// The result, if this is the result event.
  public var result: Model? { if case .result(let model) = self { model } else { nil } }
}

extension TransferEvent: Equatable where Model: Equatable {}
