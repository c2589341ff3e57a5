extension JSONNode: JSONEncodable {
  /// Writes the value compactly: as it stands in the text, but for the white space between its parts.
  ///
  /// A message must fit on one line, whatever a document looked like.
  public func encode(to writer: inout JSONWriter) {
    if let members = try? members() {
      writer.object { writer in
        for (name, value) in members { writer.member(name, value) }
      }
    } else if let elements = try? elements() {
      writer.array { writer in
        for element in elements { element.encode(to: &writer) }
      }
    } else {
      writer.raw(text)
    }
  }
}
