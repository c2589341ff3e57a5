package import JSON

extension ConfigurationMistake: JSONEncodable {
  /// Writes place, key path, message and, where there is one, what to write instead.
  package func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("line", position.line)
      writer.member("column", position.column)
      writer.member("path", path)
      writer.member("message", message)
      writer.member(ifPresent: "suggestion", suggestion)
    }
  }
}
