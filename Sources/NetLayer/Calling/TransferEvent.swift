/// An event of a download or an upload: its progress or, finally, its result.
public enum TransferEvent<Model: Sendable>: Sendable {
  /// The progress of the transfer.
  case progress(TransferProgress)
  /// The result of the transfer; completion follows.
  case result(Model)

  /// The progress, if this is a progress event.
  public var progress: TransferProgress? { if case .progress(let progress) = self { progress } else { nil } }
  /// The result, if this is the result event.
  public var result: Model? { if case .result(let model) = self { model } else { nil } }
}

extension TransferEvent: Equatable where Model: Equatable {}
