extension JSONNode: JSONEncodable {
  /// Writes the value compactly: as it stands in the text, but for the white space between its parts.
  ///
  /// A message must fit on one line, whatever a document looked like.
  public func encode(to writer: inout JSONWriter) { writer.raw(compacting: text) }
}
