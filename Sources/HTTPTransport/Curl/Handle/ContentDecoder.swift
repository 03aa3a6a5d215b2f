#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// A decoder for the content codings of one response, with output of limited size. Used only on the loop's thread.
  ///
  /// The decoding of libcurl stays disabled. Up to version 8.14, it accepts a truncated coded body as complete, and
  /// decompresses each chunk without a limit. `CurlHandle.prepareContent` sets `Accept-Encoding` to the codings of
  /// `CurlLibrary.codings`.
  final class ContentDecoder {
    enum Step {
      /// The number of bytes of decoded content.
      case bytes(Int)
      /// All input has been consumed.
      case needsInput
      /// The work of one turn of the loop is done; there may be more input.
      case turnIsOver
      /// The reason why the content does not match its `Content-Encoding`.
      case failure(String)
    }

    /// One coding, and the input that it has not decoded yet.
    private final class Stage {
      let name: Substring
      let decoder: OpaquePointer
      var input: [UInt8] = []
      var offset = 0
      var isAtEnd = false
      /// The number of bytes consumed since the last output.
      var silence = 0

      init?(_ name: Substring, _ coding: Int) {
        guard let decoder = ccoding_make(Int32(coding)) else { return nil }
        self.name = name
        self.decoder = decoder
      }

      deinit { ccoding_free(decoder) }
    }

    /// The maximum number of codings: one by the server, and one by a proxy. Each may multiply the work for a byte by
    /// 1,000 (docs/decisions).
    private static let maxCodings = 2
    /// The maximum number of bytes that a coding may consume without any output, such as a gzip body of empty members.
    private static let maxSilence = 1 << 20
    /// The number of bytes consumed and produced in a turn of the loop, so that other transfers don't wait.
    private static let workPerTurn = 1 << 18
    /// The maximum size of a chunk that one coding passes to the next.
    private static let chunkSize = 1 << 14

    private var stages: [Stage] = []
    /// Whether any coded bytes have been received.
    private(set) var hasInput = false
    /// The number of bytes consumed and produced since the start of the turn.
    private var work = 0

    /// Whether the content has ended in every coding.
    var isAtEnd: Bool { stages.allSatisfy(\.isAtEnd) }

    var names: String { stages.map(\.name).joined(separator: ", ") }

    /// Creates a decoder for the codings of a `Content-Encoding` field, up to the first one that can't be decoded; `nil` if
    /// there are none.
    ///
    /// - Throws: `Failure` for too many codings.
    init?(_ field: String) throws {
      for name in ContentCoding.names(in: field) {
        guard let coding = ContentCoding(name) else { continue }
        guard let number = coding.number, Int(ccoding_available()) & number != 0 else { break }
        guard stages.count < Self.maxCodings else {
          throw Failure(reason: "the Content-Encoding names more than \(Self.maxCodings) codings")
        }
        guard let stage = Stage(name, number) else {
          throw Failure(reason: "there is not enough memory to decode \(name)")
        }
        stages.append(stage)
      }
      if stages.isEmpty { return nil }
    }

    struct Failure: Error { let reason: String }

    /// Appends received coded bytes to the input.
    func feed(_ bytes: UnsafeRawPointer, _ count: Int) {
      guard count > 0 else { return }
      hasInput = true
      let first = stages[0]
      first.input.removeFirst(first.offset)
      first.offset = 0
      first.input.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Allows the work of another turn.
    func beginTurn() { work = 0 }

    /// Decodes as much input as fits into `output`.
    func decode(into output: UnsafeMutableRawBufferPointer) -> Step { run(stages.count - 1, output) }

    private func run(_ index: Int, _ output: UnsafeMutableRawBufferPointer) -> Step {
      let stage = stages[index]
      while work < Self.workPerTurn {
        let step = stage.input.withUnsafeBytes { input in
          ccoding_run(
            stage.decoder, input.baseAddress.map { $0 + stage.offset }, input.count - stage.offset, output.baseAddress,
            output.count)
        }
        stage.offset += step.consumed
        stage.silence = step.produced > 0 ? 0 : stage.silence + step.consumed
        work += step.consumed + step.produced
        stage.isAtEnd = step.state == Int32(CCODING_AT_END)
        switch Int(step.state) {
        case CCODING_INSIDE, CCODING_AT_END: break
        case CCODING_BEHIND_END: return .failure("the body has bytes after the end of its \(stage.name) content")
        case CCODING_NO_MEMORY: return .failure("there is not enough memory to decode \(stage.name)")
        default: return .failure("the body does not match its Content-Encoding (\(stage.name))")
        }
        if step.produced > 0 { return .bytes(step.produced) }
        guard stage.silence <= Self.maxSilence else {
          return .failure("the body has more than \(Self.maxSilence) bytes of \(stage.name) without any content")
        }
        if stage.offset < stage.input.count {
          // Between two members, no output is produced. Without any progress, decoding would never finish.
          if step.consumed > 0 || stage.isAtEnd { continue }
          return .failure("the body does not match its Content-Encoding (\(stage.name))")
        }
        guard index > 0 else { return .needsInput }
        switch refill(stage, from: index - 1) {
        case .bytes: continue
        case let other: return other
        }
      }
      return .turnIsOver
    }

    private func refill(_ stage: Stage, from index: Int) -> Step {
      stage.input = [UInt8](repeating: 0, count: Self.chunkSize)
      stage.offset = 0
      let step = stage.input.withUnsafeMutableBytes { run(index, $0) }
      if case .bytes(let count) = step { stage.input.removeLast(Self.chunkSize - count) } else { stage.input = [] }
      return step
    }
  }

  extension ContentCoding {
    /// The number of the coding in CLibcurl; `nil` without a decoder.
    fileprivate var number: Int? {
      switch self {
      case .gzip: CCODING_GZIP
      case .deflate: CCODING_DEFLATE
      case .brotli: CCODING_BROTLI
      case .zstd: CCODING_ZSTD
      case .other: nil
      }
    }
  }
#endif
