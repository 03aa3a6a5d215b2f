#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// Removes the content codings of one response, a limited piece at a time; the loop's thread only.
  ///
  /// libcurl takes a coded body that is cut short for a complete one, and inflates each chunk without a limit (all
  /// versions up to 8.14), so its own decoding stays off.
  final class ContentDecoder {
    enum Step {
      /// So many bytes of decoded content.
      case bytes(Int)
      /// All input is used up.
      case needsInput
      /// Why the content is not what its `Content-Encoding` says.
      case failure(String)
    }

    /// One coding, and what it has still to decode.
    private final class Stage {
      let name: Substring
      let decoder: OpaquePointer
      var input: [UInt8] = []
      var offset = 0
      var isAtEnd = false

      init?(_ name: Substring, _ coding: Int) {
        guard let decoder = ccoding_make(Int32(coding)) else { return nil }
        self.name = name
        self.decoder = decoder
      }

      deinit { ccoding_free(decoder) }
    }

    /// libcurl's limit, too: more are an attack (CVE-2023-23916).
    private static let maxCodings = 5
    /// The largest piece that one coding hands to the next.
    private static let pieceSize = 1 << 14

    /// In the order of decoding.
    private var stages: [Stage] = []
    /// Whether any coded byte has come in.
    private(set) var hasInput = false

    /// Whether the content has come to its end, in every coding.
    var isAtEnd: Bool { stages.allSatisfy(\.isAtEnd) }

    /// The codings in the order of decoding.
    var names: String { stages.map(\.name).joined(separator: ", ") }

    /// A decoder for a `Content-Encoding` field; `nil` where the content is not coded.
    ///
    /// - Throws: `Failure` for a coding that is not known here.
    init?(_ field: String) throws {
      // The coding applied last is named last (RFC 9110 §8.4).
      for name in field.split(whereSeparator: { ", \t".contains($0) }).reversed() {
        let coding: Int
        switch name.lowercased() {
        case "identity": continue
        case "gzip", "x-gzip": coding = CCODING_GZIP
        case "deflate": coding = CCODING_DEFLATE
        case "br": coding = CCODING_BROTLI
        case "zstd": coding = CCODING_ZSTD
        default: throw Failure(reason: "the Content-Encoding \(field.prefix(100).debugDescription) is not known here")
        }
        guard stages.count < Self.maxCodings else {
          throw Failure(reason: "the Content-Encoding names more than \(Self.maxCodings) codings")
        }
        guard let stage = Stage(name, coding) else {
          throw Failure(reason: "the coding \(name) can't be decoded: its library is missing, or memory")
        }
        stages.append(stage)
      }
      if stages.isEmpty { return nil }
    }

    struct Failure: Error { let reason: String }

    /// Takes the next coded bytes, behind those that are still to be decoded.
    func feed(_ bytes: UnsafeRawPointer, _ count: Int) {
      guard count > 0 else { return }
      hasInput = true
      let first = stages[0]
      first.input.removeFirst(first.offset)
      first.offset = 0
      first.input.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Decodes as much as fits into `output`.
    func decode(into output: UnsafeMutableRawBufferPointer) -> Step { run(stages.count - 1, output) }

    private func run(_ index: Int, _ output: UnsafeMutableRawBufferPointer) -> Step {
      let stage = stages[index]
      while true {
        let step = stage.input.withUnsafeBytes { input in
          ccoding_run(
            stage.decoder, input.baseAddress.map { $0 + stage.offset }, input.count - stage.offset, output.baseAddress,
            output.count)
        }
        stage.offset += step.consumed
        stage.isAtEnd = step.state == Int32(CCODING_AT_END)
        switch Int(step.state) {
        case CCODING_INSIDE, CCODING_AT_END: break
        case CCODING_BEHIND_END: return .failure("the body has bytes behind the end of its \(stage.name) content")
        case CCODING_NO_MEMORY: return .failure("there is not enough memory to decode \(stage.name)")
        default: return .failure("the body is not coded as its Content-Encoding says (\(stage.name))")
        }
        if step.produced > 0 { return .bytes(step.produced) }
        if stage.offset < stage.input.count {
          // Between two members nothing is produced; without any progress, nothing ever would be.
          if step.consumed > 0 || stage.isAtEnd { continue }
          return .failure("the body is not coded as its Content-Encoding says (\(stage.name))")
        }
        guard index > 0 else { return .needsInput }
        switch refill(stage, from: index - 1) {
        case .bytes: continue
        case let other: return other
        }
      }
    }

    private func refill(_ stage: Stage, from index: Int) -> Step {
      stage.input = [UInt8](repeating: 0, count: Self.pieceSize)
      stage.offset = 0
      let step = stage.input.withUnsafeMutableBytes { run(index, $0) }
      if case .bytes(let count) = step { stage.input.removeLast(Self.pieceSize - count) } else { stage.input = [] }
      return step
    }
  }
#endif
