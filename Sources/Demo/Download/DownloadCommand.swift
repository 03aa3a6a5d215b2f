import NetLayer
import PortableFoundation
import Streams

struct DownloadOptions: URLOptions {
  var request = RequestOptions()
  var url: URL?
  var output: String?
  var sha256: Data?

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "-o", "--output": output = try arguments.value()
    case "--sha256": sha256 = try Self.digest(try arguments.value())
    default: return false
    }
    return true
  }

  /// Returns the file to write: the given path, or the last component of the URL in the given directory.
  ///
  /// - Throws: `UsageError` if the component, decoded, is not a plain and visible name.
  func destination() throws -> URL {
    if let output, !isDirectory(output) { return URL(filePath: output) }
    let last = url?.path(percentEncoded: true).split(separator: "/").last ?? "download"
    guard let name = last.decodingPercent, !name.hasPrefix("."),
      !name.unicodeScalars.contains(where: { $0 == "/" || $0.properties.generalCategory == .control })
    else {
      throw UsageError("the URL ends in \(String(last).debugDescription), which is not a safe file name; pass -o FILE")
    }
    return output.map { URL(filePath: $0).appending(path: name) } ?? URL(filePath: name)
  }

  private static func digest(_ text: String) throws -> Data {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == 64, text.count == 64 else {
      throw UsageError("--sha256 takes 64 hexadecimal digits, not \(text.debugDescription)")
    }
    return Data((0..<32).map { (index: Int) -> UInt8 in UInt8(digits[2 * index] << 4 | digits[2 * index + 1]) })
  }
}

/// `Demo download`: downloads into a file, and resumes an interrupted download.
enum DownloadCommand {
  static let help = """
    usage: Demo download [options] URL

    Downloads into a file. After an interruption, such as Ctrl-C, the same command resumes the download if the server
    supports ranges and the file has not changed. An incomplete file is named FILE.part.
    With --json, prints one line at the end: file, bytes, resumedAt, seconds.

      -o, --output FILE     the file or directory to write to (default: the last component of the URL)
      --sha256 HEX          the expected SHA-256 digest of the file
    \(RequestOptions.help)

    Examples, with the URL that `Demo serve` prints:
      Demo download http://127.0.0.1:PORT/file -o file.bin
      Demo download http://127.0.0.1:PORT/file -o file.bin --json 2> log.txt

    Exit code: 0, 1 if the download failed, 2 for a usage error, 130 on interrupt.
    """

  private struct Course {
    var first: Int64?
    var last = TransferProgress()
  }

  static func run(_ options: DownloadOptions, _ console: Console) throws -> Int32 {
    // Only the idle limit applies to a download, not a limit for its whole duration.
    let network = try options.request.network(console).with { $0.timeouts.attempt = nil }
    let target = try options.target()
    let file = try options.destination()
    if options.request.curl { return DryRun.run(target, network, console) }
    let start = ContinuousClock.now
    let before = partSize(file)
    // The thread of the stream writes the state, and the main thread reads it at the end.
    let course = Locked(Course())
    let ending = network.transfer(downloadingTo: file, sha256: options.sha256) { target }.wait { transfer in
      if case .progress(let progress) = transfer {
        course.withLock { course in
          course.first = course.first ?? progress.received
          course.last = progress
        }
        console.progress(ProgressBar.text(progress, columns: console.columns))
      }
      return true
    }
    console.progress("")
    let seen = course.withLock { $0 }
    if case .interrupted = ending {
      let count = partSize(file)
      console.log("stopped at \(Quantity.bytes(Double(count))): run the same command to resume")
    }
    if case .completed = ending {
      // A download that started again from the beginning reports fewer bytes at first than the partial file had.
      let resumedAt = before > 0 && (seen.first ?? 0) >= before ? before : 0
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      console.print(text(of: seen.last.received, resumedAt, seconds, file, options, console.style))
    }
    return console.finish(ending, json: options.request.json)
  }

  private static func partSize(_ destination: URL) -> Int64 { Int64(fileSize(destination.path + ".part") ?? 0) }

  private static func text(
    of count: Int64, _ resumedAt: Int64, _ seconds: Double, _ file: URL, _ options: DownloadOptions,
    _ style: Style
  ) -> String {
    if options.request.json {
      return JSONLine().adding("file", file.path).adding("bytes", Int(count))
        .adding("resumedAt", Int(resumedAt)).adding("seconds", seconds).text
    }
    let rate = Quantity.bytes(Double(count - resumedAt) / max(seconds, 1e-3))
    let resumed = resumedAt > 0 ? ", resumed at \(Quantity.bytes(Double(resumedAt)))" : ""
    return "\(style.green(file.relativePath)): \(Quantity.bytes(Double(count))) "
      + "in \(Quantity.fixed(seconds, digits: 1)) s, \(rate)/s\(resumed)"
  }
}
