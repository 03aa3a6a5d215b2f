import Foundation
import NetLayerQueries
import Observation

/// One article, and the uploads of a picture and of a film for it.
@MainActor
@Observable
package final class DetailModel {
  package private(set) var title = ""
  package private(set) var text = ""
  package private(set) var note: String?
  /// The part of the picture or film that has been sent, from 0 to 1; `nil` without an upload.
  package private(set) var progress: Double?
  private let id: Int
  private let network: Network

  package init(_ id: Int, _ network: Network) { (self.id, self.network) = (id, network) }

  package func run() async {
    do {
      for try await snapshot in network.watch(ArticleText(id: id)).values {
        (title, text) = (snapshot.value?.title ?? "", snapshot.value?.text ?? "")
        note = snapshot.error?.message
      }
    } catch {
      // The stream ends only with the task.
    }
  }

  package func addPicture(_ file: URL) async {
    progress = 0
    defer { progress = nil }
    do throws(NetworkError) {
      try await network.fetch(AddPicture(article: id, file: file)) { [weak self] sent in
        Task { @MainActor in self?.progress = sent.fractionSent }
      }
    } catch {
      note = error.kind == .cancelled ? nil : error.message
    }
  }

  /// Uploads a film. If the task is cancelled or the app ends, the next call continues.
  package func addFilm(_ file: URL) async {
    progress = 0
    defer { progress = nil }
    do throws(NetworkError) {
      try await network.fetch(uploading: file, to: AddFilm(article: id), by: .tus) { [weak self] sent in
        Task { @MainActor in self?.progress = sent.fractionSent }
      }
    } catch {
      note = error.kind == .cancelled ? nil : error.message
    }
  }
}
