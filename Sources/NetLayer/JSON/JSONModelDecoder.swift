import Foundation

/// Foundation's `JSONDecoder`, configured once and used from any thread.
public struct JSONModelDecoder: ModelDecoder {
  /// Foundation's defaults: keys as they are, dates as seconds since 2001, data in base64.
  public static let `default` = JSONModelDecoder()

  private let decoder: JSONDecoder

  /// A decoder that `configure` has set up; it must not be changed afterwards.
  public init(_ configure: (JSONDecoder) -> Void = { _ in }) {
    decoder = JSONDecoder()
    configure(decoder)
  }

  /// Decodes the value's own bytes only.
  public func decode<Model: Decodable>(_ type: Model.Type, from json: JSON) throws -> Model {
    // Already what is asked for, exact numbers and all.
    if type == JSON.self, let model = json as? Model { return model }
    // Decoders recurse, through the models' own code, too: about 1 KB of stack per level without optimisation, more with
    // large models. Up to this depth 8 KB per level are there even on Dispatch's 512 KB stacks.
    guard json.document.outline.depth > Self.shallow else { return try decoder.decode(type, from: json.data) }
    return try LargeStack.run { try decoder.decode(type, from: json.data) }
  }

  private static let shallow = 64
}

/// Runs deep recursions, which are rare, on a thread of their own with room for them.
private enum LargeStack {
  /// 16 KB for each of the levels that the scanner lets through.
  private static let size = JSON.maximumDepth * 16 * 1024

  // Safe: `result` is written before the semaphore is signalled and read after it was waited for.
  private final class Job<Value>: @unchecked Sendable {
    let work: () throws -> Value
    let done = DispatchSemaphore(value: 0)
    var result: Result<Value, any Error>?

    init(_ work: @escaping () throws -> Value) { self.work = work }
  }

  static func run<Value>(_ work: @escaping () throws -> Value) throws -> Value {
    let job = Job(work)
    let thread = Thread {
      job.result = Result { try job.work() }
      job.done.signal()
    }
    thread.stackSize = size
    thread.start()
    job.done.wait()
    guard let result = job.result else { throw CancellationError() }
    return try result.get()
  }
}
