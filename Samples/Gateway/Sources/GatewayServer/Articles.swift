import Hummingbird

/// An article, as the service "articles" returns it.
package struct Article: Codable, Sendable {
  package let id: Int
  package let title: String
  package let text: String
  /// The identifier of the author.
  package let author: Int
}

/// An author, as the service "authors" returns it.
package struct Author: Codable, Sendable {
  package let id: Int
  package let name: String
}

/// The document that the gateway returns: an article with its author.
package struct ArticlePage: ResponseEncodable, Sendable {
  let id: Int
  let title: String
  let text: String
  let author: Author

  package init(_ article: Article, by author: Author) {
    (id, title, text, self.author) = (article.id, article.title, article.text, author)
  }
}

/// The client of the services behind the gateway.
package protocol Upstreams: Sendable {
  /// Returns the article with its author, or throws when the deadline has passed.
  func page(_ id: Int, before deadline: Deadline) async throws -> ArticlePage
}
