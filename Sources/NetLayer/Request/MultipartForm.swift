import Foundation

/// A `multipart/form-data` body: fields, data and files (RFC 7578; article row 0.8).
///
/// ```swift
/// var form = MultipartForm(["album": 7])
/// form.append(.file(photo, name: "photo"))
/// ```
/// Files are read while they are sent, and again if the request is repeated; the whole length is known beforehand.
public struct MultipartForm: Sendable {
  /// One part of the form.
  public struct Part: Sendable {
    /// The field's name.
    public var name: String
    /// The file name that the server sees; `nil` for a plain field.
    public var filename: String?
    /// The part's `Content-Type`; `nil` for none, as plain fields have.
    public var contentType: String?
    /// The part's bytes.
    public var content: Request.Body.Part

    /// A part as it is.
    public init(name: String, filename: String? = nil, contentType: String? = nil, content: Request.Body.Part) {
      self.name = name
      self.filename = filename
      self.contentType = contentType
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
        name: name, filename: filename, contentType: contentType ?? filename.map(MIMEType.ofFile(named:)),
        content: .data(data))
    }

    /// The file at `url`, streamed from disk, under its own name and the type of its extension unless given.
    public static func file(
      _ url: URL, name: String, filename: String? = nil, contentType: String? = nil
    ) -> Part {
      let filename = filename ?? url.lastPathComponent
      return Part(
        name: name, filename: filename, contentType: contentType ?? MIMEType.ofFile(named: filename),
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

  /// The form's parameters, which can fail to encode and so are turned into fields when the request is built.
  let pairs: Parameters?
}
