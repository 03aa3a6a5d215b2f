extension JSON {
  /// Returns the value as indented text on several lines, or an empty string if it is missing.
  ///
  /// - Parameters:
  ///   - indent: The text that indents each level.
  ///   - sortsKeys: Whether members are sorted by name; by default they keep their order.
  /// - Returns: The text, with strings and numbers unchanged. Empty objects and arrays stay on one line.
  public func pretty(indent: String = "  ", sortsKeys: Bool = false) -> String {
    var text = ""
    LargeStack.run(depth: depthBound) {
      write(into: &text, indent: indent, sortsKeys: sortsKeys, line: "\n")
    }
    return text
  }

  private func write(into text: inout String, indent: String, sortsKeys: Bool, line: String) {
    let inner = line + indent
    if let array, !array.isEmpty {
      text += "["
      for (index, element) in array.enumerated() {
        text += (index > 0 ? "," : "") + inner
        element.write(into: &text, indent: indent, sortsKeys: sortsKeys, line: inner)
      }
      text += line + "]"
    } else if var members = namedMembers, !members.isEmpty {
      if sortsKeys { members.sort { $0.name.text < $1.name.text } }
      text += "{"
      for (index, member) in members.enumerated() {
        text += (index > 0 ? "," : "") + inner + member.name.quoted + ": "
        member.value.write(into: &text, indent: indent, sortsKeys: sortsKeys, line: inner)
      }
      text += line + "}"
    } else {
      text += kind == .array ? "[]" : kind == .object ? "{}" : description
    }
  }
}
