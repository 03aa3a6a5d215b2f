/// Media types by file extension, the same on every platform (IANA's registry, and what servers expect).
enum MIMEType {
  /// The type of what is named `name`; `application/octet-stream` where its extension is not known (RFC 7578 §4.4).
  static func ofFile(named name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return unknown }
    return table[name[name.index(after: dot)...].lowercased()] ?? unknown
  }

  private static let unknown = "application/octet-stream"

  private static let table: [String: String] = [
    "7z": "application/x-7z-compressed", "aac": "audio/aac", "aif": "audio/aiff", "aiff": "audio/aiff",
    "apng": "image/apng", "avi": "video/x-msvideo", "avif": "image/avif", "bin": "application/octet-stream",
    "bmp": "image/bmp", "bz2": "application/x-bzip2", "cer": "application/pkix-cert", "css": "text/css",
    "csv": "text/csv", "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822", "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif",
    "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
    "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpe": "image/jpeg", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "jsonl": "application/jsonl",
    "jxl": "image/jxl", "m4a": "audio/mp4", "m4v": "video/x-m4v", "md": "text/markdown", "mid": "audio/midi",
    "mjs": "text/javascript", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp3": "audio/mpeg",
    "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg",
    "ogv": "video/ogg", "opus": "audio/opus", "otf": "font/otf", "p12": "application/x-pkcs12",
    "pdf": "application/pdf", "plist": "application/x-plist", "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "ps": "application/postscript",
    "rar": "application/vnd.rar", "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar",
    "tif": "image/tiff", "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "usdz": "model/vnd.usdz+zip",
    "vcf": "text/vcard", "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm",
    "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2", "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
    "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
  ]
}
