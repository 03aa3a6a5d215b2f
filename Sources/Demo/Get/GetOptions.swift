import NetLayer
import PortableFoundation

struct GetOptions: CommandOptions {
  /// A source of URLs.
  enum Input: Sendable {
    case url(URL)
    /// Standard input, with one URL per line.
    case standardInput
  }

  var request = RequestOptions()
  var inputs: [Input] = []
  var method: HTTPMethod?
  var body: Data?
  var envelope: Envelope?
  var path: String?
  var concurrency = 8
  var retries = 0
  var raw = false
  var showsHeaders = false
  var followPages = false
  var archive: URL?
  var output: String?
  var form = MultipartForm()

  mutating func take(word: String) throws {
    inputs.append(word == "-" ? .standardInput : .url(try Target.url(word)))
  }

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "-X": method = try Self.method(try arguments.value())
    case "-d":
      let text = try arguments.value()
      try setBody(text.hasPrefix("@") ? try RequestOptions.file(String(text.dropFirst())) : Data(text.utf8))
    case "--data-raw": try setBody(Data(try arguments.value().utf8))
    case "--data-file": try setBody(try RequestOptions.file(try arguments.value()))
    case "-F": try addField(try arguments.value())
    case "-i", "--include": showsHeaders = try arguments.flag()
    case "-I", "--head":
      (method, showsHeaders) = (.head, try arguments.flag())
    case "-o", "--output": output = try arguments.value()
    case "--envelope": envelope = try Envelope(commandLine: try arguments.value())
    case "--at": path = try arguments.value()
    case "--concurrency": concurrency = try arguments.number(in: 1...10_000)
    case "--retry": retries = try arguments.number(in: 0...1_000)
    case "--raw": raw = try arguments.flag()
    case "--har": archive = URL(filePath: try arguments.value())
    case "--follow-pages": followPages = try arguments.flag()
    default: return false
    }
    return true
  }

  func validate() throws {
    if inputs.isEmpty { throw UsageError("no URL given: pass one or more, or - to read them from standard input") }
    if body != nil, !form.parts.isEmpty { throw UsageError("more than one body: pass -d or -F, not both") }
    guard output != nil else { return }
    guard onlyURL != nil else {
      throw UsageError("-o takes the body of one URL; use Demo download, or a URL at a time")
    }
    if readsJSON { throw UsageError("-o takes the whole body, so omit --at, --envelope and --follow-pages") }
  }

  /// Whether the command reads the body as JSON.
  private var readsJSON: Bool { path != nil || envelope != nil || followPages }

  private var onlyURL: URL? { if inputs.count == 1, case .url(let url) = inputs[0] { url } else { nil } }

  /// The URL whose body is written while it arrives; `nil` if results are printed as a whole.
  var streamed: URL? { (raw || output != nil) && !readsJSON && !request.curl ? onlyURL : nil }

  /// Returns the call of `url` with the given method and body.
  func target(_ url: URL) -> Call<Response> {
    if !form.parts.isEmpty { return Call(method ?? .post, url, task: .multipart(form)) }
    guard let body else { return Call(method ?? .get, url) }
    let isJSON = (try? JSON(parsing: body)) != nil
    let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
    return Call(method ?? .post, url, task: .data(body, contentType: type))
  }

  private static func method(_ text: String) throws -> HTTPMethod {
    guard !text.isEmpty,
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~".contains($0)) })
    else { throw UsageError("invalid HTTP method \(text.debugDescription): use letters, as in PUT") }
    return HTTPMethod(rawValue: text)
  }

  private mutating func addField(_ text: String) throws {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw UsageError("-F takes NAME=VALUE or NAME=@FILE, not \(text.debugDescription)")
    }
    let (name, value) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
    guard value.hasPrefix("@") else { return form.append(.field(name, value)) }
    let file = URL(filePath: String(value.dropFirst()))
    guard FileManager.default.isReadableFile(atPath: file.path) else {
      throw UsageError("cannot read the file \(file.path.debugDescription) of -F \(name)")
    }
    form.append(.file(file, name: name))
  }

  private mutating func setBody(_ data: Data) throws {
    guard body == nil else { throw UsageError("more than one body: pass -d, --data-raw or --data-file once") }
    body = data
  }
}
