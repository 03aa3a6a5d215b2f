import PortableFoundation
import Synchronization

/// The location of a decoder: a value, and the path to its parent.
struct DecodingPlace {
  /// The position of the value in the index; `JSONDocument.none` represents a null that is not in the text.
  let position: UInt32
  /// The enclosing container; `none` for the root of the decode.
  let parent: UInt32
  /// The index in an array.
  let ordinal: UInt32
  /// The number of levels below the root.
  let depth: UInt32

  init(position: Int?) {
    self.position = position.map(UInt32.init) ?? JSONDocument.none
    (parent, ordinal, depth) = (JSONDocument.none, 0, 0)
  }

  /// Creates the location of a value inside the container at `place`.
  @inline(__always)
  init(position: UInt32, in place: DecodingPlace, ordinal: UInt32 = 0) {
    self.position = position
    parent = place.position
    self.ordinal = ordinal
    depth = place.depth &+ 1
  }
}

/// The state shared by all decoders and containers of one decode: the document, which any of them keeps alive, and the
/// options.
///
/// A part of a decode that converts keys differently, or represents a missing member, has a separate session.
final class DecodingSession {
  let document: JSONDocument
  let options: DecodingOptions
  /// The value at which paths begin.
  let root: Int
  /// The path of the root, if this session is a part of another decode.
  let prefix: [any CodingKey]
  /// The object that is decoded as a dictionary, whose keys are not converted. There is at most one per session;
  /// `outer` has the others.
  let dictionary: UInt32
  let outer: DecodingSession?
  /// The positions at which to search for the next key.
  private let cursors = SearchPositions()

  init(
    _ document: JSONDocument, root: Int, options: DecodingOptions, prefix: [any CodingKey] = [],
    dictionary: UInt32 = JSONDocument.none, outer: DecodingSession? = nil
  ) {
    self.document = document
    self.root = root
    self.options = options
    self.prefix = prefix
    self.dictionary = dictionary
    self.outer = outer
  }

  /// Runs `body` with a reader, which must not escape it.
  @inline(__always)
  func read<Result>(_ body: (JSONReader) throws -> Result) rethrows -> Result { try document.read(body) }

  /// Returns the entry at a place.
  @inline(__always)
  func word(_ place: DecodingPlace) -> JSONWord {
    place.position == JSONDocument.none
      ? JSONWord(.null, from: 0) : document.read { $0.word(Int(place.position)) }
  }

  /// Returns the session for the members of a dictionary.
  func decoding(dictionary place: DecodingPlace) -> DecodingSession {
    DecodingSession(document, root: root, options: options, prefix: prefix, dictionary: place.position, outer: self)
  }

  /// The enclosing objects whose keys are not converted.
  var dictionaries: Set<Int> {
    var positions: Set<Int> = []
    var session: DecodingSession? = self
    while let current = session {
      positions.insert(Int(current.dictionary))
      session = current.outer
    }
    return positions
  }

  /// Returns the value of the first member with that name, in an object with unconverted and unique keys.
  ///
  /// The search continues from the last member found in this object, because models usually decode members in order.
  @inline(__always)
  func value(named name: String, in object: DecodingPlace, _ reader: JSONReader) -> UInt32? {
    let entry = cursors[object.depth]
    let first = UInt32(object.position) &+ 3
    let start = UInt32(truncatingIfNeeded: entry >> 32) == object.position ? UInt32(truncatingIfNeeded: entry) : first
    let end = UInt32(truncatingIfNeeded: reader.end(of: Int(object.position)))
    var name = name
    let found = name.withUTF8 { wanted in
      Self.search(reader, wanted, from: start, to: end) ?? Self.search(reader, wanted, from: first, to: start)
    }
    guard let found else { return nil }
    cursors[object.depth] = UInt64(object.position) << 32 | UInt64(reader.next(Int(found)))
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

/// For each of four levels, an object in the upper half and one of its keys in the lower half.
///
/// They are atomic, because user code may use decoders on other threads. A lost or wrong entry, or a fifth level, only
/// makes a search longer.
private struct SearchPositions: ~Copyable {
  // Guard only themselves. Stored one by one, because an array would be allocated for each decode.
  private let a = Atomic(UInt64.max)
  // As above.
  private let b = Atomic(UInt64.max)
  // As above.
  private let c = Atomic(UInt64.max)
  // As above.
  private let d = Atomic(UInt64.max)

  subscript(level: UInt32) -> UInt64 {
    @inline(__always) get {
      switch level & 3 {
      case 0: a.load(ordering: .relaxed)
      case 1: b.load(ordering: .relaxed)
      case 2: c.load(ordering: .relaxed)
      default: d.load(ordering: .relaxed)
      }
    }
    @inline(__always) nonmutating set {
      switch level & 3 {
      case 0: a.store(newValue, ordering: .relaxed)
      case 1: b.store(newValue, ordering: .relaxed)
      case 2: c.store(newValue, ordering: .relaxed)
      default: d.store(newValue, ordering: .relaxed)
      }
    }
  }
}
