import Foundation

@testable import HTTPTransport
@testable import NetLayer

/// Checks untrusted URLs, methods and header fields. Accepted ones must not contain anything that starts another request.
func fuzzRequests(_ data: Data) {
  let fields = data.split(separator: 0xFF, maxSplits: 3, omittingEmptySubsequences: false)
    .map { String(decoding: $0, as: UTF8.self) }
  guard fields.count == 4, let base = URL(string: "http://h/base") else { return }
  guard let url = try? fields[0].url(below: base) else { return }
  let request = Request(
    method: HTTPMethod(rawValue: fields[1]), url: url, headers: HTTPHeaders([.init(name: fields[2], value: fields[3])]))
  guard RequestCheck.failure(of: request, url: url.absoluteString) == nil else { return }
  let head = "\(request.method.rawValue) \(url.absoluteString) " + request.headers.map { $0.name + $0.value }.joined()
  check(
    !head.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" },
    "a line break or NUL got through: \(head.debugDescription)")
  check(url.scheme == "http" || url.scheme == "https", "the scheme \(url.scheme ?? "nil") got through")
  check(url.host?.isEmpty == false, "a URL without host got through: \(url)")
}

/// Encodes multipart forms and reads them again, with arbitrary names and contents.
func fuzzMultipart(_ data: Data) {
  let fields = data.split(separator: 0xFF, maxSplits: 7, omittingEmptySubsequences: false)
  var parts: [MultipartForm.Part] = []
  for index in stride(from: 0, to: fields.count - 1, by: 2) {
    parts.append(
      .data(
        Data(fields[index + 1]), name: String(decoding: fields[index], as: UTF8.self), filename: "f",
        contentType: "application/octet-stream"))
  }
  guard !parts.isEmpty, let (type, body) = try? MultipartForm(parts).encoded(),
    let boundary = type.components(separatedBy: "boundary=").last
  else { return }
  let read = contents(of: body, boundary)
  let sent = stride(from: 0, to: fields.count - 1, by: 2).map { Data(fields[$0 + 1]) }
  check(read == sent, "\(sent.count) parts were sent, \(read.count) read")
}

/// Reads the parts of a body as RFC 2046 §5.1.1 defines them, independently of the encoder.
private func contents(of body: Data, _ boundary: String) -> [Data] {
  let delimiter = Data("\r\n--\(boundary)".utf8)
  var rest = Data("\r\n".utf8) + body
  var contents: [Data] = []
  while let start = rest.range(of: delimiter) {
    rest = Data(rest[start.upperBound...])
    if rest.starts(with: Data("--".utf8)) { break }
    guard let head = rest.range(of: Data("\r\n\r\n".utf8)), let end = rest.range(of: delimiter) else { break }
    check(head.upperBound <= end.lowerBound || head.upperBound == end.lowerBound + 2, "a head without end")
    contents.append(head.upperBound <= end.lowerBound ? Data(rest[head.upperBound..<end.lowerBound]) : Data())
  }
  return contents
}
