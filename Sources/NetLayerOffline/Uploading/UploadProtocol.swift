import PortableFoundation

/// A protocol for uploads that resume: tus, or the draft of the IETF.
///
/// The server must support the same protocol. Both create an upload with an empty request to the endpoint, append bytes
/// to the upload's own URL with `PATCH`, and ask for its offset with `HEAD`.
public struct UploadProtocol: Sendable, Hashable {
  /// The interop version of the draft; `nil` for tus.
  private let version: Int?

  private init(version: Int?) { self.version = version }

  /// tus 1.0.0 with the extensions creation and termination.
  public static let tus = UploadProtocol(version: nil)
  /// Resumable Uploads for HTTP of the IETF (draft-ietf-httpbis-resumable-upload), with an interop version in
  /// `Upload-Draft-Interop-Version`.
  ///
  /// The default is version 8: drafts 09 to 11, and `URLSession` of iOS 26.2. Version 6 of an earlier draft is known to
  /// work with the same requests. With a version other than 6 to 8, an upload fails with an error of kind
  /// `invalidRequest` and sends nothing, because other drafts have other fields.
  public static func ietf(version: Int = 8) -> UploadProtocol { UploadProtocol(version: version) }

  var isTus: Bool { version == nil }
  /// The reason why requests of this version can't be sent; `nil` if they can.
  var refusal: String? {
    guard let version, !(6...8).contains(version) else { return nil }
    return "UploadProtocol.ietf(version: \(version)) is not supported: the version must be 6, 7 or 8"
  }
  /// The name for errors.
  var name: String { version.map { "the draft of resumable uploads, interop version \($0)" } ?? "tus 1.0" }

  // MARK: Requests

  /// The fields of every request, and all of those that ask for the offset or delete an upload.
  var plain: HTTPHeaders {
    version.map { ["Upload-Draft-Interop-Version": "\($0)"] } ?? ["Tus-Resumable": "1.0.0"]
  }

  /// The fields of the request that creates an upload of a file.
  func creation(of name: String, size: Int64) -> HTTPHeaders {
    var fields = plain
    fields["Upload-Length"] = "\(size)"
    let type = MIMEType.ofFile(named: name)
    if isTus {
      func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
      fields["Upload-Metadata"] = "filename \(base64(name)),filetype \(base64(type))"
    } else {
      fields["Upload-Complete"] = "?0"
      fields["Content-Type"] = type
      fields["Content-Disposition"] = Self.disposition(name)
    }
    return fields
  }

  /// The fields of a request that appends bytes from `offset`, the last ones or not.
  func append(from offset: Int64, isLast: Bool) -> HTTPHeaders {
    var fields = plain
    fields["Upload-Offset"] = "\(offset)"
    if !isTus { fields["Upload-Complete"] = isLast ? "?1" : "?0" }
    return fields
  }

  /// The media type of the bytes to append.
  var contentType: String { isTus ? "application/offset+octet-stream" : "application/partial-upload" }

  /// Returns the field with a file's name: as ASCII, and as UTF-8 if it has other characters (RFC 6266 §4.3).
  private static func disposition(_ name: String) -> String {
    let plain = String(
      name.unicodeScalars.map { $0.isASCII && $0.value >= 0x20 && $0 != "\"" && $0 != "\\" ? Character($0) : "_" })
    if plain == name { return "inline; filename=\"\(name)\"" }
    return "inline; filename=\"\(plain)\"; filename*=UTF-8''\(name.urlEscaped)"
  }

  // MARK: Responses

  /// Reads the fields of a response. A field with a value that the protocol does not allow is ignored.
  func reply(_ response: Response) -> UploadState.Reply {
    var reply = UploadState.Reply(status: response.status)
    let fields = response.headers
    reply.offset = Self.single("Upload-Offset", fields).flatMap(Self.count)
    if reply.isSuccess { (reply.location, reply.refusal) = Self.location(response) }
    guard !isTus else { return reply }
    switch Self.single("Upload-Complete", fields) {
    case "?1": reply.isComplete = true
    case "?0": reply.isComplete = false
    default: break
    }
    let limits = Self.limits(fields.values(of: "Upload-Limit").joined(separator: ","))
    reply.maxSize = limits["max-size"]
    reply.maxAppend = limits["max-append-size"].flatMap { $0 > 0 ? $0 : nil }
    reply.minAppend = limits["min-append-size"]
    return reply
  }

  /// Returns the remedy for a server that supports only other versions of tus (tus 1.0, "Tus-Version").
  func versionRemedy(_ response: Response) -> String? {
    let versions = response.headers.values(of: "Tus-Version").joined(separator: ",").split { ", \t".contains($0) }
    guard isTus, response.status == 412, !versions.isEmpty, !versions.contains("1.0.0") else { return nil }
    return
      "; it supports tus \(versions.joined(separator: ", ")) instead of 1.0.0: upload to an endpoint that supports 1.0.0, "
      + "or send the file in one request, with the task .upload"
  }

  private static func single(_ name: String, _ fields: HTTPHeaders) -> String? {
    let values = fields.values(of: name)
    return values.count == 1 ? values.first.map { String($0[...].withoutBlanks) } : nil
  }

  /// Reads a non-negative integer of a structured field: at most 15 digits (RFC 9651 §3.3.1).
  private static func count(_ text: String) -> Int64? { text.utf8.count <= 15 ? Int64(digits: text) : nil }

  /// Reads the known members of `Upload-Limit`; none if a member is malformed.
  static func limits(_ text: String) -> [String: Int64] {
    var limits: [String: Int64] = [:]
    for member in text.split(separator: ",", omittingEmptySubsequences: false) where !text.isEmpty {
      let parts = member.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = String((parts.first ?? "").withoutBlanks)
      guard ["max-size", "max-append-size", "min-append-size"].contains(key) else { continue }
      guard parts.count == 2, let value = count(String(parts[1].withoutBlanks)) else { return [:] }
      limits[key] = value
    }
    return limits
  }

  /// Reads the URL of the upload, or the reason why it may not be used.
  private static func location(_ response: Response) -> (URL?, String?) {
    guard let text = single("Location", response.headers) else { return (nil, nil) }
    // It would be the URL of the creation, which is not an upload.
    if text.allSatisfy(\.isWhitespace) { return (nil, "an empty Location is not the URL of an upload") }
    guard let url = URL(reference: text, from: response.url), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host?.isEmpty == false
    else { return (nil, "\(text.debugDescription) is not a valid http or https URL") }
    if scheme == "http", response.url.scheme?.lowercased() == "https" {
      return (nil, "\(text) leads from https to http")
    }
    let origin = Origin(response.request.url)
    if Origin(url) == origin, response.involvesAnotherOrigin(than: origin) {
      return (nil, "\(text), which another origin has chosen after a redirect, would receive credentials")
    }
    return (url, nil)
  }
}
