import NetLayer
import Observation

/// The list of articles, with `await` and Observation.
@MainActor
@Observable
package final class ListModel {
  package private(set) var articles: [Article] = []
  /// The message of an error; `nil` if everything is well.
  package private(set) var note: String?
  package private(set) var isLoading = false
  private let network: Network

  package init(_ network: Network) { self.network = network }

  /// Shows the list until the task of the view is cancelled: `.task { await model.run() }`.
  package func run() async {
    do {
      for try await snapshot in network.watch(Articles()).values {
        articles = snapshot.value ?? articles
        isLoading = snapshot.isFetching
        note = snapshot.error?.message
      }
    } catch {
      // The stream ends only with the task.
    }
  }

  /// Requests the list again, as when the user pulls it down, and returns after the response.
  package func refresh() async {
    network.invalidate(Articles())
    _ = try? await network.watch(Articles()).filter { !$0.isFetching }.first().value
  }

  /// Changes the like immediately. If the server refuses, it changes back, and the note says why.
  package func setLiked(_ isLiked: Bool, _ id: Int) async {
    do throws(NetworkError) {
      try await network.fetch(Like(id: id, isLiked: isLiked), editing: Articles()) { articles in
        for index in articles.indices where articles[index].id == id { articles[index].isLiked = isLiked }
      }
    } catch {
      note = error.message
    }
  }
}
