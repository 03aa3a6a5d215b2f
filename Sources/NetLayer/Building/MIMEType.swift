/// Media types by file extension, the same on every platform (IANA registry and common usage).
package enum MIMEType {
  /// Returns the type of a file by its name, or `application/octet-stream` for an unknown extension (RFC 7578 §4.4).
  package static func ofFile(named name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return unknown }
    return table[name[name.index(after: dot)...].lowercased()] ?? unknown
  }

  private static let unknown = "application/octet-stream"

  private static let table: [String: String] = [
    "3g2": "video/3gpp2", "3gp": "video/3gpp", "3gpp": "video/3gpp", "7z": "application/x-7z-compressed",
    "aac": "audio/aac", "ai": "application/postscript", "aif": "audio/aiff", "aifc": "audio/aiff",
    "aiff": "audio/aiff", "amr": "audio/amr", "apk": "application/vnd.android.package-archive", "apng": "image/apng",
    "atom": "application/atom+xml", "avi": "video/x-msvideo", "avif": "image/avif", "bin": "application/octet-stream",
    "bmp": "image/bmp", "bz2": "application/x-bzip2", "caf": "audio/x-caf", "cer": "application/pkix-cert",
    "conf": "text/plain", "crt": "application/x-x509-ca-cert", "css": "text/css", "csv": "text/csv",
    "der": "application/x-x509-ca-cert", "dmg": "application/x-apple-diskimage", "dng": "image/x-adobe-dng",
    "doc": "application/msword", "docm": "application/vnd.ms-word.document.macroenabled.12",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template", "eml": "message/rfc822",
    "eot": "application/vnd.ms-fontobject", "eps": "application/postscript", "epub": "application/epub+zip",
    "flac": "audio/flac", "flv": "video/x-flv", "geojson": "application/geo+json", "gif": "image/gif",
    "glb": "model/gltf-binary", "gltf": "model/gltf+json", "gpx": "application/gpx+xml", "gz": "application/gzip",
    "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
    "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "ini": "text/plain", "jar": "application/java-archive",
    "jp2": "image/jp2", "jpe": "image/jpeg", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
    "json": "application/json", "jsonl": "application/jsonl", "jsonld": "application/ld+json", "jxl": "image/jxl",
    "kml": "application/vnd.google-earth.kml+xml", "log": "text/plain", "m3u8": "application/vnd.apple.mpegurl",
    "m4a": "audio/mp4", "m4v": "video/x-m4v", "map": "application/json", "markdown": "text/markdown",
    "md": "text/markdown", "mid": "audio/midi", "midi": "audio/midi", "mjs": "text/javascript",
    "mkv": "video/x-matroska", "mov": "video/quicktime", "mp2": "audio/mpeg", "mp3": "audio/mpeg", "mp4": "video/mp4",
    "mpe": "video/mpeg", "mpeg": "video/mpeg", "mpg": "video/mpeg", "mpga": "audio/mpeg",
    "odp": "application/vnd.oasis.opendocument.presentation", "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg",
    "opus": "audio/ogg", "otf": "font/otf", "p12": "application/x-pkcs12", "pdf": "application/pdf",
    "pem": "application/x-x509-ca-cert", "pfx": "application/x-pkcs12", "pkpass": "application/vnd.apple.pkpass",
    "plist": "application/x-plist", "png": "image/png",
    "potx": "application/vnd.openxmlformats-officedocument.presentationml.template",
    "pps": "application/vnd.ms-powerpoint",
    "ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
    "ppt": "application/vnd.ms-powerpoint", "pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ps": "application/postscript", "psd": "image/vnd.adobe.photoshop", "qt": "video/quicktime",
    "rar": "application/vnd.rar", "rss": "application/rss+xml", "rtf": "application/rtf", "sql": "application/sql",
    "sqlite": "application/vnd.sqlite3", "srt": "text/plain", "svg": "image/svg+xml", "svgz": "image/svg+xml",
    "swf": "application/x-shockwave-flash", "tar": "application/x-tar", "text": "text/plain",
    "tgz": "application/gzip", "tif": "image/tiff", "tiff": "image/tiff", "torrent": "application/x-bittorrent",
    "ts": "video/mp2t", "tsv": "text/tab-separated-values", "ttc": "font/collection", "ttf": "font/ttf",
    "txt": "text/plain", "usdz": "model/vnd.usdz+zip", "vcf": "text/vcard", "vtt": "text/vtt",
    "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm",
    "webmanifest": "application/manifest+json", "webp": "image/webp", "wma": "audio/x-ms-wma", "wmv": "video/x-ms-wmv",
    "woff": "font/woff", "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
    "xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template", "xml": "application/xml",
    "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
    "zst": "application/zstd",
  ]
}
