public import JSON

extension GetStatus {
  /// Authorities that are trusted beside the system's, by the setting that names them.
  public struct Authority: ObjectCodable, Equatable {
    /// The setting: `network.caFile`, `SSL_CERT_FILE` or `SSL_CERT_DIR`.
    public var source: String
    /// The file, or the directory.
    public var path: String
    /// Whether a certificate could be read there when the configuration was.
    public var isReadable: Bool

    public init(source: String, path: String, isReadable: Bool) {
      self.source = source
      self.path = path
      self.isReadable = isReadable
    }

    public static let blank = Authority(source: "", path: "", isReadable: false)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("source", &source, .word(of: ["network.caFile", "SSL_CERT_FILE", "SSL_CERT_DIR"]))
      try coder.required("path", &path)
      try coder.required("readable", &isReadable)
    }
  }
}
