import PortableFoundation

/// A `multipart/form-data` body: fields, data and files (RFC 7578; article row 0.8).
///
/// ```swift
/// var form = MultipartForm(["album": 7])
/// form.append(.file(photo, name: "photo"))
/// ```
/// Files are read while they are sent, and again if the request is repeated; the whole length is known beforehand, and a file
/// that can't be read is an error of kind `invalidRequest` before anything is sent. Texts go out as they are, line breaks
/// included.
public struct MultipartForm: Sendable {
  /// One part of the form.
  public struct Part: Sendable {
    /// The field's name.
    public var name: String
    /// The file name that the server sees; `nil` for a plain field.
    public var filename: String?
    /// The part's `Content-Type`; `nil` or empty for none, as plain fields have.
    public var contentType: String?
    /// Further header fields of the part; none by default. `Content-Type`, `Content-Length` and `Content-Disposition` are
    /// refused when the request is built.
    public var headers: HTTPHeaders
    /// The part's bytes.
    public var content: Request.Body.Part

    /// A part as it is.
    public init(
      name: String, filename: String? = nil, contentType: String? = nil, headers: HTTPHeaders = [:],
      content: Request.Body.Part
    ) {
      self.name = name
      self.filename = filename
      self.contentType = contentType
      self.headers = headers
      self.content = content
    }

    /// A text, sent in UTF-8 without a `Content-Type`.
    public static func field(_ name: String, _ value: String) -> Part {
      Part(name: name, content: .data(Data(value.utf8)))
    }

    /// Bytes, as a file where `filename` is given; the type is that of its extension unless given.
    public static func data(
      _ data: Data, name: String, filename: String? = nil, contentType: String? = nil
    ) -> Part {
      Part(
        name: name, filename: filename, contentType: contentType.unlessEmpty ?? filename.map(MIMEType.ofFile(named:)),
        content: .data(data))
    }

    /// The file at `url`, streamed from disk, under its own name and the type of its extension unless given.
    public static func file(
      _ url: URL, name: String, filename: String? = nil, contentType: String? = nil
    ) -> Part {
      let filename = filename ?? url.lastPathComponent
      return Part(
        name: name, filename: filename, contentType: contentType.unlessEmpty ?? MIMEType.ofFile(named: filename),
        content: .file(url))
    }
  }

  /// The parts in the order in which they are sent.
  public var parts: [Part]
  /// What stands between the parts; `nil`, the default, is a random one made anew for each request.
  public var boundary: String?

  /// A form of `parts`.
  public init(_ parts: [Part] = [], boundary: String? = nil) {
    self.parts = parts
    self.boundary = boundary
    pairs = nil
  }

  /// A form of the fields that `parameters` make, named as `URLParameterEncoder` names them.
  public init(_ parameters: Parameters, boundary: String? = nil) {
    parts = []
    self.boundary = boundary
    pairs = parameters
  }

  /// Adds a part behind those already there.
  public mutating func append(_ part: Part) { parts.append(part) }

  /// The form as it is sent, its files read into memory, and the `Content-Type` that goes with it.
  ///
  /// For tests and signatures; requests stream their files. Without a `boundary`, each call makes a new one.
  ///
  /// - Throws: `NetworkError` of kind `encoding`, or of kind `invalidRequest` for a file that can't be read.
  public func encoded() throws -> (contentType: String, body: Data) {
    let (pieces, boundary) = try pieces(over: [:])
    var body = Data()
    for piece in pieces {
      switch piece {
      case .data(let data): body.append(data)
      case .file(let file): body.append(try Data(contentsOf: file))
      }
    }
    return (Self.contentType(nil, boundary: boundary), body)
  }

  /// The form's parameters, which can fail to encode and so are turned into fields when the request is built.
  let pairs: Parameters?
}
