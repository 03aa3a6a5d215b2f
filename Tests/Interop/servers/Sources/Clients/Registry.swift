import Foundation
import NetLayer

/// A client of a container registry: tokens, uploads in chunks, digests, ranges, pages.
@MainActor
struct Registry {
  struct Grant: Decodable, Sendable {
    var token: String
    var expiresIn: Double
  }

  struct Catalog: Decodable, Sendable { var repositories: [String] }

  let api: Network
  let accounts: Network

  init(url: URL, tokens: URL) {
    let accounts = Network(
      Backend(
        baseURL: tokens, headers: .basic(user: "ada", password: "secret"), coding: .snakeCase,
        queryEncoding: URLParameterEncoder(arrays: .repeated)))
    let scopes = ["repository:tea/green:pull,push", "repository:tea/black:pull,push", "registry:catalog:*"]
    let authentication = AuthenticationInterceptor(for: [url]) { _ in
      let query: Parameters = ["service": "registry", "scope": scopes]
      let grant = try await accounts.fetch(.get("/token", query: query), as: Grant.self)
      return Token(access: grant.token, expiresAt: .now + grant.expiresIn)
    }
    self.accounts = accounts
    api = Network(Backend(baseURL: url.appending(path: "v2"), interceptors: [RetryInterceptor(), authentication]))
  }

  func digest(of blob: Data) -> String { "sha256:" + Hash.hex(Hash.sha256(blob)) }

  /// Uploads a blob in chunks and returns its digest.
  func push(_ blob: Data, to repository: String, chunkSize: Int) async throws -> String {
    var location = try await api.fetch(.post("/\(repository)/blobs/uploads/")).location
    for start in stride(from: 0, to: blob.count, by: chunkSize) {
      guard let url = location else { throw Mismatch("no Location") }
      let chunk = blob[start..<min(start + chunkSize, blob.count)]
      let response = try await api.fetch(
        .patch(
          url, .data(chunk, contentType: "application/octet-stream"),
          headers: ["Content-Range": "\(start)-\(start + chunk.count - 1)"]))
      try equal(response.headers["Range"], "0-\(start + chunk.count - 1)")
      location = response.location
    }
    guard let location else { throw Mismatch("no Location") }
    let saved = try await api.fetch(.put(location, query: ["digest": digest(of: blob)]))
    return saved.headers["Docker-Content-Digest"] ?? ""
  }

  func run() async {
    let blob = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    let path = "/tea/green/blobs/\(digest(of: blob))"
    await check("401: the message of errors[], and then the token of the token server") {
      let signedOut = api.with { $0.interceptors = [] }
      let error = try await failure { try await signedOut.fetch(.get("/")) }
      try equal(error.message, "authentication required")
      try await api.fetch(.get("/"))
    }
    await check("a blob in three chunks, each at the Location of the one before") {
      try equal(try await push(blob, to: "tea/green", chunkSize: 120_000), digest(of: blob))
      let head = try await api.fetch(.head(path))
      try equal(head.headers["Content-Length"], "300000")
    }
    await check("a range of a blob") {
      let part = try await api.fetch(.get(path, headers: ["Range": "bytes=70-90"]))
      try equal(part.status, 206)
      try equal(part.body, Data(blob[70...90]))
    }
    await check("a download with its checksum, and with a wrong one") {
      let file = try await api.transfer(downloading: .get(path), to: Control.file("blob"), sha256: Hash.sha256(blob))
        .compactMap(\.result).asSingle().value
      try equal(try Data(contentsOf: file), blob)
      let error = try await failure {
        _ = try await api.transfer(downloading: .get(path), to: Control.file("wrong"), sha256: Hash.sha256(Data()))
          .compactMap(\.result).asSingle().value
      }
      try expect(error.reason.contains(Hash.hex(Hash.sha256(blob))), error.reason)
      try expect(!FileManager.default.fileExists(atPath: Control.file("wrong").path()), "the file was kept")
    }
    await check("a wrong digest of an upload: the message of errors[]") {
      let error = try await failure {
        let begun = try await api.fetch(.post("/tea/green/blobs/uploads/"))
        let query: Parameters = ["digest": digest(of: Data("other".utf8))]
        try await api.fetch(
          .put(begun.location ?? begun.url, .data(blob, contentType: "application/octet-stream"), query: query))
      }
      try equal(error.status, 400)
      try equal(error.message, "provided digest did not match uploaded content")
    }
    await check("manifests: their own content type, and 404 with the message of errors[]") {
      let type = "application/vnd.oci.image.manifest.v1+json"
      for repository in ["tea/green", "tea/black"] {
        let config = try await push(blob, to: repository, chunkSize: 300_000)
        let manifest =
          #"{"schemaVersion":2,"mediaType":"\#(type)","layers":[],"#
          + #""config":{"mediaType":"x/y","size":300000,"digest":"\#(config)"}}"#
        try await api.fetch(.put("/\(repository)/manifests/v1", .data(Data(manifest.utf8), contentType: type)))
      }
      let manifest = try await api.fetch(.get("/tea/green/manifests/v1", headers: ["Accept": type]), as: JSON.self)
      try equal(manifest[at: "config.digest"].string, digest(of: blob))
      try equal(try await failure { try await api.fetch(.get("/tea/green/manifests/v2")) }.message, "manifest unknown")
    }
    await check("pages by the Link field, which is relative to the request") {
      let names = try await api.fetchAll(.get("/_catalog?n=1"), of: String.self, at: "repositories")
      try equal(names, ["tea/black", "tea/green"])
    }
    await check("the registry is killed and restarted: the call is retried") {
      try Control.kill("registry")
      async let again = api.fetch(.head(path))
      try Control.start("registry")
      try equal(try await again.status, 200)
    }
  }
}
