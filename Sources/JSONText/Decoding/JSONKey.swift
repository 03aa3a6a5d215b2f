/// A coding key that is not declared by a model: an index, a parent member, or `super`.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(index: Int) { (stringValue, intValue) = ("Index \(index)", index) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}
