/// Media types of the files that apps upload, by extension, the same on every platform (IANA registry and common usage).
package enum MIMEType {
  /// Returns the type of a file by its name, or `application/octet-stream` for an unknown extension (RFC 7578 §4.4).
  package static func ofFile(named name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return unknown }
    return table[name[name.index(after: dot)...].lowercased()] ?? unknown
  }

  private static let unknown = "application/octet-stream"

  private static let table: [String: String] = [
    "3gp": "video/3gpp", "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo",
    "avif": "image/avif", "bmp": "image/bmp",
    "bz2": "application/x-bzip2", "css": "text/css", "csv": "text/csv", "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "epub": "application/epub+zip",
    "flac": "audio/flac", "geojson": "application/geo+json", "gif": "image/gif", "gz": "application/gzip",
    "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html", "ics": "text/calendar",
    "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
    "jsonl": "application/jsonl", "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/x-m4v", "md": "text/markdown",
    "mkv": "video/x-matroska", "mpg": "video/mpeg", "rar": "application/vnd.rar", "rtf": "application/rtf",
    "tgz": "application/gzip", "tif": "image/tiff", "ttf": "font/ttf", "wasm": "application/wasm",
    "woff2": "font/woff2",
    "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg",
    "odt": "application/vnd.oasis.opendocument.text", "ogg": "audio/ogg", "opus": "audio/ogg", "pdf": "application/pdf",
    "pem": "application/x-x509-ca-cert", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "svg": "image/svg+xml",
    "tar": "application/x-tar", "tiff": "image/tiff", "tsv": "text/tab-separated-values", "txt": "text/plain",
    "vcf": "text/vcard", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
    "xls": "application/vnd.ms-excel", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml", "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml",
    "zip": "application/zip", "zst": "application/zstd",
  ]
}
