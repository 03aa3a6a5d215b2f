import PortableFoundation

/// Returns whether there is a directory at `path`, or a link to one.
package func isDirectory(_ path: String) -> Bool {
  var info = stat()
  return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
}
