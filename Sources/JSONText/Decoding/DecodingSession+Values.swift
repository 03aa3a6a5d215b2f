import PortableFoundation

extension DecodingSession {
  @inline(__always)
  func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, at place: DecodingPlace) throws -> Integer {
    let word = word(place)
    guard word.kind == .number else { throw mismatch(type, at: place) }
    guard let value = read({ $0.integer(word, as: type) }) else { throw unrepresentable(type, at: place) }
    return value
  }

  @inline(__always)
  func double(at place: DecodingPlace) throws -> Double {
    let word = word(place)
    guard word.kind == .number else { return try nonConforming(Double.self, word, at: place) }
    guard let value = read({ $0.double(word) }) else { throw unrepresentable(Double.self, at: place) }
    return value
  }

  func float(at place: DecodingPlace) throws -> Float {
    let word = word(place)
    guard word.kind == .number else { return try nonConforming(Float.self, word, at: place) }
    guard let value: Float = read({ $0.floating(word) }) else { throw unrepresentable(Float.self, at: place) }
    return value
  }

  private func nonConforming<Number: BinaryFloatingPoint>(
    _ type: Number.Type, _ word: JSONWord, at place: DecodingPlace
  ) throws -> Number {
    if word.kind == .string, case .convertFromString(let positive, let negative, let nan) = options.floats {
      let text = read { $0.string(word) }
      if text == positive { return .infinity }
      if text == negative { return -.infinity }
      if text == nan { return .nan }
    }
    throw mismatch(type, at: place)
  }

  @inline(__always)
  func string(at place: DecodingPlace) throws -> String {
    let word = word(place)
    guard word.kind == .string else { throw mismatch(String.self, at: place) }
    return read { $0.string(word) }
  }

  @inline(__always)
  func bool(at place: DecodingPlace) throws -> Bool {
    switch word(place).kind {
    case .true: return true
    case .false: return false
    // Null is also a mismatch, as in Foundation.
    default: throw mismatch(Bool.self, at: place, takesNull: true)
    }
  }

  /// Decodes any model: JSON types and types with strategies directly, all others through their own initializers.
  func decode<Model: Decodable>(_ type: Model.Type, at place: DecodingPlace) throws -> Model {
    if type == String.self { return try same(string(at: place)) }
    if type == Int.self { return try same(integer(Int.self, at: place)) }
    if type == Double.self { return try same(double(at: place)) }
    if type == Bool.self { return try same(bool(at: place)) }
    if type == Date.self { return try same(date(at: place)) }
    if type == Data.self { return try same(data(at: place)) }
    if type == URL.self { return try same(url(at: place)) }
    if type == Decimal.self { return try same(decimal(at: place)) }
    if type == JSON.self { return same(json(place)) }
    switch word(place).kind {
    case .array:
      if type == [String].self { return try same(elements(at: place) { try string(at: $0) }) }
      if type == [Int].self { return try same(elements(at: place) { try integer(Int.self, at: $0) }) }
      if type == [Double].self { return try same(elements(at: place) { try double(at: $0) }) }
      if Self.noLists.conforms(type, { type is any DecodableList.Type }), let list = type as? any DecodableList.Type {
        return try list.list(at: place, in: self)
      }
    case .object:
      if Self.noDictionaries.conforms(type, { type is any DecodableDictionary.Type }),
        let list = type as? any DecodableDictionary.Type
      {
        return try list.dictionary(at: place, in: self)
      }
    default: break
    }
    return try Model(from: JSONValueDecoder(session: self, place: place))
  }

  private static let noLists = PlainTypes()
  private static let noDictionaries = PlainTypes()

  /// Returns a value as `Model`, which the caller has verified to be the same type as `Value`.
  ///
  /// A cast would compare the types again, which takes half as long as decoding an integer.
  @inline(__always)
  func same<Value, Model>(_ value: Value) -> Model {
    assert(Value.self == Model.self)
    return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Model.self).pointee }
  }

  /// Returns the value unchanged, including exact numbers.
  @inline(never)
  func json(_ place: DecodingPlace) -> JSON {
    place.position == JSONDocument.none
      ? JSON(nilLiteral: ()) : JSON(document: document, position: Int(place.position))
  }

  @inline(never)
  private func decimal(at place: DecodingPlace) throws -> Decimal {
    let word = word(place)
    guard word.kind == .number else { throw mismatch(Decimal.self, at: place) }
    let text = read { String(decoding: $0.bytes(word), as: UTF8.self) }
    guard let value = Decimal(string: text, locale: nil), !value.isNaN else {
      throw unrepresentable(Decimal.self, at: place)
    }
    return value
  }

  @inline(never)
  private func url(at place: DecodingPlace) throws -> URL {
    if word(place).kind == .null { throw mismatch(URL.self, at: place) }
    let text = try string(at: place)
    guard let url = URL(text: text) else { throw corrupted("Invalid URL string.", at: place) }
    return url
  }

  @inline(never)
  private func data(at place: DecodingPlace) throws -> Data {
    // Applies to custom strategies as well, as in Foundation.
    if word(place).kind == .null { throw mismatch(Data.self, at: place) }
    switch options.data {
    case .base64:
      guard let data = Data(base64Encoded: try string(at: place)) else {
        throw corrupted("Encountered Data is not valid Base64.", at: place)
      }
      return data
    case .deferredToData: return try Data(from: JSONValueDecoder(session: self, place: place))
    case .custom(let make): return try make(JSONValueDecoder(session: self, place: place))
    @unknown default: return try Data(from: JSONValueDecoder(session: self, place: place))
    }
  }

  @inline(never)
  private func date(at place: DecodingPlace) throws -> Date {
    if word(place).kind == .null { throw mismatch(Date.self, at: place) }
    switch options.dates {
    case .deferredToDate: return Date(timeIntervalSinceReferenceDate: try double(at: place))
    case .secondsSince1970: return Date(timeIntervalSince1970: try double(at: place))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(at: place) / 1000)
    case .iso8601: return try iso8601(place)
    #if canImport(Darwin)
      // On other platforms, `.formatted` is a custom strategy.
      case .formatted(let formatter):
        let text = try string(at: place)
        guard let date = formatter.date(from: text) else {
          throw corrupted("\(text.debugDescription) is not a date in the formatter's format", at: place)
        }
        return date
    #endif
    case .custom(let make): return try make(JSONValueDecoder(session: self, place: place))
    @unknown default: return try Date(from: JSONValueDecoder(session: self, place: place))
    }
  }

  func iso8601(_ place: DecodingPlace) throws -> Date {
    let word = word(place)
    guard word.kind == .string else { throw mismatch(String.self, at: place) }
    if !word.flag, let date = read({ Date(iso8601: $0.content(word)) }) { return date }
    let text = try string(at: place)
    guard word.flag, let date = Date(iso8601: text) else {
      throw corrupted("\(text.debugDescription) is not an ISO 8601 date", at: place)
    }
    return date
  }
}
