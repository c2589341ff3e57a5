public import JSON

extension GetStatus {
  /// A socket that gives its clients some profiles only.
  public struct Socket: ObjectCodable, Equatable {
    /// Its name in the configuration, or the id of one that was opened at run time.
    public var name: String
    /// Its path.
    public var path: String
    /// Why it cannot be used; nil where it listens.
    public var problem: String?

    public init(name: String, path: String, problem: String? = nil) {
      self.name = name
      self.path = path
      self.problem = problem
    }

    /// As much as the status tells of one.
    public init(_ socket: LimitedSocketState) {
      self.init(name: socket.socketID, path: socket.path, problem: socket.problem)
    }

    public static let blank = Socket(name: "", path: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("name", &name)
      try coder.required("path", &path)
      try coder.optional("problem", &problem)
    }
  }
}
