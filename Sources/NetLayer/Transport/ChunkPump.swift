import Foundation
import Streams

/// Reads a body that is made while it is sent, some chunks ahead, on a queue of its own: its maker may block.
final class ChunkPump: Sendable {
  enum Step {
    case bytes(Int)
    /// Nothing yet; `wake` is called when there is.
    case wait
    case end
    case failure(NetworkError)
  }

  /// Made ahead of the socket, at most one chunk more.
  private static let highWater = 1 << 18

  private struct State {
    var reader: Request.BodyStream.Reader?
    var chunks: [Data] = []
    var bytes = 0
    /// How much of the first chunk has gone.
    var offset = 0
    /// How much has gone in all.
    var sent: Int64 = 0
    /// A rewind makes what an earlier reader still gives void.
    var round = 0
    var isReading = false
    var hasEnded = false
    var isAwaited = false
    var failure: NetworkError?
  }

  private let stream: Request.BodyStream
  private let wake: @Sendable () -> Void
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "NetLayer.Upload", qos: .utility)

  /// `wake` is called on the pump's queue, when a `wait` is over.
  init(_ stream: Request.BodyStream, wake: @escaping @Sendable () -> Void) {
    self.stream = stream
    self.wake = wake
  }

  /// Copies the next bytes into `buffer`.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    let step = state.withLock { state -> Step in
      guard let chunk = state.chunks.first else {
        if let failure = state.failure { return .failure(failure) }
        guard state.hasEnded else {
          state.isAwaited = true
          return .wait
        }
        if let count = stream.count, state.sent != count {
          return .failure(Self.failure("the body ended after \(state.sent) bytes where \(count) were announced"))
        }
        return .end
      }
      let length = Swift.min(buffer.count, chunk.count - state.offset)
      let start = chunk.startIndex + state.offset
      chunk.copyBytes(to: buffer, from: start..<(start + length))
      state.offset += length
      state.sent += Int64(length)
      if state.offset == chunk.count {
        state.chunks.removeFirst()
        state.bytes -= chunk.count
        state.offset = 0
      }
      return .bytes(length)
    }
    readAhead()
    return step
  }

  /// Goes back to the start; `false` where the body exists once and some of it has gone.
  func rewind() -> Bool {
    let (isPossible, old) = state.withLock { state -> (Bool, State?) in
      if state.sent == 0 { return (true, nil) }
      guard stream.isRepeatable else { return (false, nil) }
      let old = state
      state = State(round: old.round + 1)
      return (true, old)
    }
    withExtendedLifetime(old) {}
    return isPossible
  }

  /// Makes no more, and lets go of the maker.
  func stop() {
    let old = state.withLock { state in
      let old = state
      state = State(round: old.round + 1, hasEnded: true)
      return old
    }
    withExtendedLifetime(old) {}
  }

  private func readAhead() {
    let round = state.withLock { state -> Int? in
      guard !state.isReading, !state.hasEnded, state.failure == nil, state.bytes < Self.highWater else { return nil }
      state.isReading = true
      return state.round
    }
    if let round { queue.async { self.fill(round) } }
  }

  private func fill(_ round: Int) {
    var reader = state.withLock { $0.round == round ? $0.reader : nil }
    while true {
      let result: Result<Data?, any Error>
      do {
        let opened = try reader ?? stream.open()
        reader = opened
        result = .success(try opened())
      } catch {
        result = .failure(error)
      }
      let (goesOn, isAwaited) = state.withLock { [reader] state -> (Bool, Bool) in
        guard state.round == round else { return (false, false) }
        state.reader = reader
        switch result {
        case .success(let chunk?):
          if let count = stream.count, Int64(chunk.count) > count - state.sent - Int64(state.bytes - state.offset) {
            state.failure = Self.failure("the body has more than the \(count) bytes that were announced")
          } else if !chunk.isEmpty {
            state.chunks.append(chunk)
            state.bytes += chunk.count
          }
        case .success(nil): state.hasEnded = true
        case .failure(let error): state.failure = Self.failure("the body can't be read: \(error)", error)
        }
        let goesOn = !state.hasEnded && state.failure == nil && state.bytes < Self.highWater
        state.isReading = goesOn
        let isAwaited = state.isAwaited && (!state.chunks.isEmpty || !goesOn)
        if isAwaited { state.isAwaited = false }
        return (goesOn, isAwaited)
      }
      if isAwaited { wake() }
      guard goesOn else { return }
    }
  }

  private static func failure(_ reason: String, _ underlying: (any Error)? = nil) -> NetworkError {
    (underlying as? NetworkError) ?? NetworkError(kind: .invalidRequest, reason: reason, underlying: underlying)
  }
}
