import PortableFoundation
import Synchronization

/// Where a decoder stands: a value, and the way up from it.
struct DecodingPlace {
  /// The value in the index; `JSONIndex.none` stands for a null that is not in the text.
  let position: UInt32
  /// The container around it; `none` for the root of the decode.
  let parent: UInt32
  /// Its place in an array.
  let ordinal: UInt32
  /// How many levels it is below the root.
  let depth: UInt32

  /// A root.
  init(position: Int?) {
    self.position = position.map(UInt32.init) ?? JSONIndex.none
    (parent, ordinal, depth) = (JSONIndex.none, 0, 0)
  }

  /// What stands in the container at `place`.
  @inline(__always)
  init(position: UInt32, in place: DecodingPlace, ordinal: UInt32 = 0) {
    self.position = position
    parent = place.position
    self.ordinal = ordinal
    depth = place.depth &+ 1
  }
}

/// What all decoders and containers of one decode share: the document, which lives as long as any of them, and the options.
///
/// A part of a decode that reads keys in another way, or stands for a member that is not there, has a session of its own.
final class DecodingSession {
  let document: JSONDocument
  let options: DecodingOptions
  /// The value that paths begin at.
  let root: Int
  /// The path of the root, where this is a part of another decode.
  let prefix: [any CodingKey]
  /// Objects that are dictionaries, whose keys are no names and stay as they are; at most one per session, others above.
  let dictionary: UInt32
  let outer: DecodingSession?
  /// Where to look for the next key: per level an object in the upper half and the position of a key of it in the lower.
  /// Atomic, since user code may carry decoders to other threads; a lost or foreign entry costs a longer search.
  private let cursors: UnsafeMutablePointer<Atomic<UInt64>>
  private static let cursorCount = 8

  init(
    _ document: JSONDocument, root: Int, options: DecodingOptions, prefix: [any CodingKey] = [],
    dictionary: UInt32 = JSONIndex.none, outer: DecodingSession? = nil
  ) {
    self.document = document
    self.root = root
    self.options = options
    self.prefix = prefix
    self.dictionary = dictionary
    self.outer = outer
    cursors = .allocate(capacity: Self.cursorCount)
    for slot in 0..<Self.cursorCount { (cursors + slot).initialize(to: Atomic(.max)) }
  }

  deinit {
    cursors.deinitialize(count: Self.cursorCount)
    cursors.deallocate()
  }

  /// Runs `body` on a reader, which must not leave it.
  @inline(__always)
  func read<Result>(_ body: (JSONReader) throws -> Result) rethrows -> Result { try document.index.read(body) }

  /// What stands at a place.
  @inline(__always)
  func word(_ place: DecodingPlace) -> JSONWord {
    place.position == JSONIndex.none
      ? JSONWord(.null, from: 0) : document.index.read { $0.word(Int(place.position)) }
  }

  /// The objects on the way to here whose keys stay as they are. No container is ever made of one.
  var dictionaries: Set<Int> {
    var positions: Set<Int> = []
    var session: DecodingSession? = self
    while let current = session {
      positions.insert(Int(current.dictionary))
      session = current.outer
    }
    return positions
  }

  /// The value of the first member of that name of an object whose keys are not converted, and of which no two may be the
  /// same. Goes on from where the last one of this object was found: members come in order, mostly.
  @inline(__always)
  func value(named name: String, in object: DecodingPlace, _ reader: JSONReader) -> UInt32? {
    let slot = Int(object.depth) & (Self.cursorCount - 1)
    let entry = cursors[slot].load(ordering: .relaxed)
    let first = UInt32(object.position) &+ 3
    let start = UInt32(truncatingIfNeeded: entry >> 32) == object.position ? UInt32(truncatingIfNeeded: entry) : first
    let end = UInt32(truncatingIfNeeded: reader.end(of: Int(object.position)))
    var name = name
    let found = name.withUTF8 { wanted in
      Self.search(reader, wanted, from: start, to: end) ?? Self.search(reader, wanted, from: first, to: start)
    }
    guard let found else { return nil }
    cursors[slot].store(
      UInt64(object.position) << 32 | UInt64(reader.next(Int(found))), ordering: .relaxed)
    return found
  }

  @inline(__always)
  private static func search(
    _ reader: JSONReader, _ wanted: UnsafeBufferPointer<UInt8>, from start: UInt32, to end: UInt32
  ) -> UInt32? {
    var key = Int(start)
    while key < Int(end) {
      if reader.isKey(reader.word(key), wanted) { return UInt32(truncatingIfNeeded: key + 1) }
      key = reader.next(key + 1)
    }
    return nil
  }
}
