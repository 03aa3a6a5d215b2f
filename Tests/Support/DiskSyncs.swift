import Foundation
import HTTPTransport
import PortableFoundation

/// The syncs to disk of the files in a folder, each with the names in the folder at that time. They can fail.
package final class DiskSyncs: Sendable {
  private let folder: URL
  private let notes = Notes()
  /// The kind of descriptor, "file" or "directory", whose syncs fail as those of a broken disk.
  package let failing = Box<String?>(nil)

  package init(in folder: URL) { self.folder = folder }

  /// Lines such as `file: new, note`, where `new` is an unfinished file.
  package var all: [String] { notes.all }

  /// Notes the syncs of `body`, and those of each `DurableDirectory` that it opens.
  package func run<Value>(_ body: () throws -> Value) rethrows -> Value {
    try DurableDirectory.$flush.withValue({ [self] in flush($0) }, operation: body)
  }

  private func flush(_ descriptor: Int32) -> Bool {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return false }
    let kind = info.st_mode & S_IFMT == S_IFDIR ? "directory" : "file"
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    let shown = names.map { DurableDirectory.isUnfinished($0) ? "new" : $0 }
    notes.add("\(kind): \(shown.joined(separator: ", "))")
    guard failing.value == kind else { return syncToDisk(descriptor) }
    errno = EIO
    return false
  }
}
