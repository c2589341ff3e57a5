package import JSON

/// Files of the folder `Schemas`.
package enum SchemaFile {
  /// The document in a file.
  package static func document(_ name: String) throws -> JSONDocument {
    try JSONDocument(parsing: try bytes(name))
  }

  /// The bytes of a file.
  package static func bytes(_ name: String) throws -> [UInt8] { try Repository.bytes("Schemas/\(name)") }
}
