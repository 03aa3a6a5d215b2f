import PortableFoundation

/// A `multipart/form-data` body: fields, data and files (RFC 7578).
///
/// ```swift
/// var form = MultipartForm(["album": 7])
/// form.append(.file(photo, name: "photo"))
/// ```
/// Files are read during the upload. A file that can't be read is an error of kind `invalidRequest` before anything is
/// sent.
public struct MultipartForm: Sendable {
  /// One part of the form.
  public struct Part: Sendable {
    /// The name of the field.
    public var name: String
    /// The file name that the server sees; `nil` for a plain field.
    public var filename: String?
    /// The `Content-Type` of the part; `nil` or empty for none, as for plain fields.
    public var contentType: String?
    /// Additional header fields of the part; none by default. `Content-Type`, `Content-Length` and
    /// `Content-Disposition` are errors when the request is built.
    public var headers: HTTPHeaders
    /// The bytes of the part.
    public var content: Request.Body.Part

    /// Creates a part.
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

    /// Creates a text part, sent in UTF-8 without a `Content-Type`.
    public static func field(_ name: String, _ value: String) -> Part {
      Part(name: name, content: .data(Data(value.utf8)))
    }

    /// Creates a part with bytes, which is a file if `filename` is not `nil`. The default content type depends on its
    /// extension. JSON is such a part: `.data(JSON(encoding: song).data, name: "song", contentType: "application/json")`.
    public static func data(
      _ data: Data, name: String, filename: String? = nil, contentType: String? = nil
    ) -> Part {
      Part(
        name: name, filename: filename, contentType: contentType.unlessEmpty ?? filename.map(MIMEType.ofFile(named:)),
        content: .data(data))
    }

    /// Creates a part with the file at `url`, streamed from disk. By default, it has the file's own name and the
    /// content type of its extension.
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
  /// The delimiter between the parts; `nil`, the default, creates a random one for each request.
  public var boundary: String?

  /// Creates a form of `parts`.
  public init(_ parts: [Part] = [], boundary: String? = nil) {
    self.parts = parts
    self.boundary = boundary
    pairs = nil
  }

  /// Creates a form whose fields are `parameters`, with the names that the backend's `queryEncoding` generates.
  public init(_ parameters: Parameters, boundary: String? = nil) {
    parts = []
    self.boundary = boundary
    pairs = parameters
  }

  /// Adds a part after the existing ones.
  public mutating func append(_ part: Part) { parts.append(part) }

  /// Returns the body and its `Content-Type`, with the files read into memory.
  package func encoded() throws -> (contentType: String, body: Data) {
    let (parts, boundary) = try parts(over: [:])
    var body = Data()
    for part in parts {
      switch part {
      case .data(let data): body.append(data)
      case .file(let file): body.append(try Data(contentsOf: file))
      }
    }
    return (Self.contentType(nil, boundary: boundary), body)
  }

  /// The parameters of the form. Encoding them may fail, so they become fields only when the request is built.
  let pairs: Parameters?
}
