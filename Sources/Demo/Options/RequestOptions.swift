import NetLayerRecording
import PortableFoundation
import Streams

/// The options of every command that sends requests.
struct RequestOptions: Sendable {
  static let help = """
      -H "Name: value"      add a header field; may be repeated
      -u USER:PASSWORD      send a user name and a password (Basic)
      --timeout S           time limit for each attempt in seconds; fractions are allowed (default: 60 without a byte)
      --cacert FILE         trust the certificates in a PEM file instead of the system's
      --json                print lines of JSON on standard output, for scripts
      --verbose             log requests and responses on standard error, with secrets redacted
      --curl                print the curl command, including secrets, instead of sending the request
      -h, --help            print this help
    """

  var headers: HTTPHeaders = [:]
  var timeout: Double?
  var authority: URL?
  var json = false
  var verbose = false
  var curl = false
  var help = false

  /// Reads the option `name`, and returns `false` if it is not one of these options.
  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "-h", "--help": help = try arguments.flag()
    case "-H": try addHeader(try arguments.value())
    case "-u": try setUser(try arguments.value())
    case "--timeout": timeout = try arguments.seconds()
    case "--cacert": authority = try Self.readable(try arguments.value())
    case "--json": json = try arguments.flag()
    case "--verbose": verbose = try arguments.flag()
    case "--curl": curl = try arguments.flag()
    default: return false
    }
    return true
  }

  /// Creates a network that allows as many connections as concurrent requests.
  ///
  /// - Throws: `NetworkError` if the transport cannot be created with these options.
  func network(
    concurrency: Int = 1, envelope: Envelope = Envelope(), retries: Int = 0, recorder: Recorder? = nil,
    _ console: Console
  ) throws -> Network {
    var interceptors: [any Interceptor] = []
    if verbose { interceptors.append(NetworkLogger(level: .headers) { console.log($0) }) }
    if let recorder { interceptors.append(recorder) }
    if retries > 0 {
      // A budget is meant for services. Here, the user has set the number of retries.
      let policy = RetryPolicy(attempts: retries + 1, initialDelay: .milliseconds(100))
      interceptors.append(
        CallEventHandler { event in
          guard event.kind == .pause, let pause = event.duration else { return }
          console.log("\(Target.shown(event.request.url.absoluteString)): again in \(pause.text)")
        })
      interceptors.append(RetryInterceptor(policy: policy, budget: RetryBudget(capacity: .infinity)))
    }
    return Network(
      Backend(
        headers: headers, envelope: envelope, transport: try transport(concurrency),
        timeouts: .init(
          connect: .seconds(timeout ?? 15), idle: .seconds(timeout ?? 60), attempt: timeout.map { .seconds($0) }),
        interceptors: interceptors))
  }

  private func transport(_ concurrency: Int) throws -> (any Transport)? {
    #if os(Linux)
      return try CurlTransport(
        .init(
          tls: .init(trust: authority.map { .pem(file: $0) } ?? .system), maxConnectionsPerHost: concurrency,
          maxConnections: max(64, concurrency)))
    #else
      if authority != nil { throw UsageError("--cacert requires the libcurl transport of Linux") }
      return nil
    #endif
  }

  private mutating func addHeader(_ text: String) throws {
    guard let colon = text.firstIndex(of: ":") else {
      throw UsageError("the header \(text.debugDescription) has no colon; write \"Name: value\"")
    }
    let name = text[..<colon].trimmingBlanks
    let value = text[text.index(after: colon)...].trimmingBlanks
    guard !name.isEmpty else {
      throw UsageError("the header \(text.debugDescription) has no name before the colon; write \"Name: value\"")
    }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }) else {
      throw UsageError("the header \(text.debugDescription) contains a control character; remove it")
    }
    headers.append(name, value)
  }

  private mutating func setUser(_ text: String) throws {
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
      throw UsageError("-u takes USER:PASSWORD, with a colon between them")
    }
    let password = String(text[text.index(after: colon)...])
    for field in HTTPHeaders.basic(user: String(text[..<colon]), password: password) {
      headers[field.name] = field.value
    }
  }

  private static func readable(_ path: String) throws -> URL {
    _ = try file(path)
    return URL(filePath: path)
  }

  private static func standardInput() throws -> Data {
    var all = Data()
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count == 0 { return all }
      if count > 0 { all.append(contentsOf: chunk[..<count]) } else if errno != EINTR { throw SystemError.last }
    }
  }

  /// Reads a file, or standard input for `-`.
  static func file(_ path: String) throws -> Data {
    do {
      if path == "-" { return try standardInput() }
      return try Data(contentsOf: URL(filePath: path))
    } catch {
      throw UsageError("cannot read the file \(path.debugDescription): \(SystemError.text(of: error))")
    }
  }
}
