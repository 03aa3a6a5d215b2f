import Foundation
import NetLayer

/// What a command line of `Demo get` asks for.
struct GetOptions: Sendable {
  /// Where URLs come from, in order.
  enum Input: Sendable {
    case url(URL)
    /// Standard input, a URL a line.
    case standardInput
  }

  var inputs: [Input] = []
  var method: HTTPMethod?
  var headers: HTTPHeaders = [:]
  var body: Data?
  var envelope: Envelope?
  var path: String?
  var concurrency = 8
  var timeout: Double?
  var retries = 0
  var raw = false
  var followPages = false
  var authority: URL?
  var help = false

  /// - Throws: `UsageError` that names the value at fault.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        for text in rest { inputs.append(.url(try Self.url(text))) }
        break
      }
      if argument == "-" {
        inputs.append(.standardInput)
      } else if argument.hasPrefix("-") {
        try take(argument, from: &rest)
      } else {
        inputs.append(.url(try Self.url(argument)))
      }
      if help { return }
    }
    if inputs.isEmpty { throw UsageError("no URL given: name some, or - to read them from standard input") }
  }

  /// An absolute http or https URL.
  static func url(_ text: String) throws -> URL {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), text.contains("://") else {
      throw UsageError("\(text.debugDescription) is no absolute URL: write http:// or https:// before the host")
    }
    guard scheme == "http" || scheme == "https" else {
      throw UsageError("\(text.debugDescription) has the scheme \(scheme): only http and https can be fetched")
    }
    guard let host = url.host(), !host.isEmpty else { throw UsageError("\(text.debugDescription) has no host") }
    return url
  }

  private mutating func take(_ argument: String, from rest: inout ArraySlice<String>) throws {
    var (name, attached): (String, String?) = (argument, nil)
    if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
      name = String(argument[..<equals])
      attached = String(argument[argument.index(after: equals)...])
    } else if !argument.hasPrefix("--"), argument.count > 2 {
      name = String(argument.prefix(2))
      attached = String(argument.dropFirst(2))
    }
    func value() throws -> String {
      if let attached { return attached }
      guard let next = rest.popFirst() else { throw UsageError("the option \(name) needs a value") }
      return next
    }
    func flag() throws -> Bool {
      if let attached { throw UsageError("the option \(name) takes no value, but got \(attached.debugDescription)") }
      return true
    }
    switch name {
    case "-h", "--help": help = try flag()
    case "-X": method = try Self.method(try value())
    case "-H": try addHeader(try value())
    case "-d": try setBody(Data(try value().utf8))
    case "--data-file": try setBody(try Self.file(try value()))
    case "--envelope": envelope = try Self.envelope(try value())
    case "--at": path = try value()
    case "--concurrency": concurrency = try Self.number(name, try value(), in: 1...10_000)
    case "--timeout": timeout = try Self.seconds(name, try value())
    case "--retry": retries = try Self.number(name, try value(), in: 0...1_000)
    case "--raw": raw = try flag()
    case "--follow-pages": followPages = try flag()
    case "--cacert": authority = try Self.readable(try value())
    default: throw UsageError("unknown option \(argument): see Demo get --help")
    }
  }

  private static func method(_ text: String) throws -> HTTPMethod {
    guard !text.isEmpty,
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~".contains($0)) })
    else { throw UsageError("\(text.debugDescription) is no HTTP method") }
    return HTTPMethod(rawValue: text)
  }

  private mutating func addHeader(_ text: String) throws {
    guard let colon = text.firstIndex(of: ":") else {
      throw UsageError("the header \(text.debugDescription) has no colon: write \"Name: value\"")
    }
    let name = text[..<colon].trimmingCharacters(in: .whitespaces)
    let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    guard !name.isEmpty else { throw UsageError("the header \(text.debugDescription) has no name before its colon") }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }) else {
      throw UsageError("the header \(text.debugDescription) has a control character")
    }
    headers.append(name, value)
  }

  private mutating func setBody(_ data: Data) throws {
    guard body == nil else { throw UsageError("there is one body only: give -d or --data-file once") }
    body = data
  }

  private static func readable(_ path: String) throws -> URL {
    _ = try file(path)
    return URL(filePath: path)
  }

  private static func file(_ path: String) throws -> Data {
    do {
      return try Data(contentsOf: URL(filePath: path))
    } catch {
      throw UsageError("cannot read the file \(path.debugDescription): \(Self.cause(of: error))")
    }
  }

  private static func cause(of error: any Error) -> String {
    if let posix = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError, posix.domain == NSPOSIXErrorDomain {
      return String(cString: strerror(Int32(posix.code)))
    }
    return error.localizedDescription
  }

  /// `code,message,data[,cursor]`, where the code may say what means success: `status=0`.
  private static func envelope(_ text: String) throws -> Envelope {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard (3...4).contains(names.count), names.allSatisfy({ !$0.isEmpty }) else {
      throw UsageError("the envelope \(text.debugDescription) is not of the form code,message,data[,cursor]")
    }
    var envelope = Envelope(message: names[1], data: names[2], cursor: names.count == 4 ? names[3] : "cursor")
    let code = names[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    envelope.code = code[0]
    if code.count == 2 {
      switch code[1] {
      case "true": envelope.success = true
      case "false": envelope.success = false
      default: envelope.success = Int(code[1]).map { .init(integerLiteral: $0) } ?? .init(stringLiteral: code[1])
      }
    }
    return envelope
  }

  private static func number(_ name: String, _ text: String, in range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \(text.debugDescription)")
    }
    return number
  }

  private static func seconds(_ name: String, _ text: String) throws -> Double {
    guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
      throw UsageError("\(name) takes seconds, more than 0 and at most 86400, not \(text.debugDescription)")
    }
    return seconds
  }
}
