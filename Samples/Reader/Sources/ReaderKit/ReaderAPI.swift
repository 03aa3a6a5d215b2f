import Foundation
import NetLayer

/// An article in a list.
nonisolated package struct Article: Codable, Sendable, Identifiable, Equatable {
  package let id: Int
  package var title: String
  package var isLiked: Bool
}

/// The list of articles, of which a screen shows page after page.
package struct Articles: Endpoint {
  package typealias Output = [Article]
  package var path: String { "/articles" }
  package var tags: Set<CacheTag> { ["articles"] }
}

/// The text of one article.
package struct ArticleText: Endpoint {
  package struct Output: Decodable, Sendable, Equatable {
    package var title: String
    package var text: String
  }
  package let id: Int
  package var path: String { "/articles/\(id)" }
  package var tags: Set<CacheTag> { ["articles"] }
}

/// Likes an article, or takes the like back.
package struct Like: Endpoint {
  package typealias Output = NoContent
  package let id: Int
  package let isLiked: Bool
  package var path: String { "/articles/\(id)/like" }
  package var method: HTTPMethod { isLiked ? .put : .delete }
  package var invalidates: Set<CacheTag> { ["articles"] }
}

/// The articles that contain a text.
package struct Search: Endpoint {
  package typealias Output = [Article]
  package let text: String
  package var path: String { "/search" }
  package var task: HTTPTask { .parameters(["q": text]) }
}

/// A picture for an article, as a form with progress.
package struct AddPicture: Endpoint {
  package typealias Output = NoContent
  package let article: Int
  package let file: URL
  package var path: String { "/articles/\(article)/pictures" }
  package var method: HTTPMethod { .post }
  package var task: HTTPTask {
    var form = MultipartForm()
    form.append(.file(file, name: "picture"))
    return .multipart(form)
  }
  package var invalidates: Set<CacheTag> { ["articles"] }
}

/// A film for an article, as an upload that resumes.
package struct AddFilm: Endpoint {
  package typealias Output = Void
  package let article: Int
  package var path: String { "/articles/\(article)/films" }
  package var method: HTTPMethod { .post }
  package var invalidates: Set<CacheTag> { ["articles"] }
}
