public import JSON
public import SecretMemory

/// Opens a door: an HTTP/1.1 server on this machine that forwards to one other, with the profile's token attached.
///
/// Its clients hold a placeholder in the place of the token. Where requests may go is in requests.allow of the profile, and
/// is judged for each. The door ends with the connection that has opened it, with closeDoor, or when its time is over. A client
/// of a limited socket gives no path, no port and no descriptor. 64 doors can be open.
///
/// - Throws: profile, accessDenied.
public enum OpenDoor: BrokerMethod {
  public static let name = "openDoor"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The server that requests go to, such as https://api.example.com; where absent, the only one that the rules name.
    public var origin: String?
    /// The absolute path of a Unix socket, at which there is nothing yet, in a directory that only this user can change; absent:
    /// one alone in its directory, beside the broker's own socket.
    public var path: String?
    /// A port of 127.0.0.1 in the place of a socket; 0 is any that is free.
    public var port: Int?
    /// Whether the door is a listening stream socket that the client has passed with the bytes of this request (SCM_RIGHTS of
    /// unix(7)), in the place of a path or a port: a Unix socket, or a TCP socket of this machine's loopback addresses.
    ///
    /// The broker sets O_NONBLOCK on it. It stays the client's, who can pass it again. A relay passes none.
    public var descriptor: Bool?
    /// How long it is open at most, up to 30 days.
    public var lifetime: Duration?
    /// The beginning of the placeholder, for clients that know a token by it, such as ghp_ or sk-: at most 32 letters, digits,
    /// hyphens and underscores.
    public var placeholder: String?
    /// The fate of an answer 401 that a new token does not heal; fail where absent.
    ///
    /// fail answers 502, since a client may begin a login of its own after a 401; pass passes it on.
    public var unauthorized: String?

    /// Parameters of these members.
    public init(
      profile: ProfileName? = nil, origin: String? = nil, path: String? = nil, port: Int? = nil,
      descriptor: Bool? = nil,
      lifetime: Duration? = nil, placeholder: String? = nil, unauthorized: String? = nil
    ) {
      (self.profile, self.origin, self.path, self.port) = (profile, origin, path, port)
      self.descriptor = descriptor
      (self.lifetime, self.placeholder, self.unauthorized) = (lifetime, placeholder, unauthorized)
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("origin", &origin, .text(atMost: ParameterLength.url))
      try coder.optional("path", &path, .text(atMost: ParameterLength.path))
      try coder.optional("port", &port, .count)
      try coder.optional("descriptor", &descriptor)
      try coder.optional("lifetimeSeconds", &lifetime, .seconds)
      try coder.optional("placeholder", &placeholder, .text(atMost: 32))
      try coder.optional("unauthorized", &unauthorized, .word(of: ["fail", "pass"]))
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The id of the door, for closeDoor.
    public var doorID: String
    /// Its address: http://127.0.0.1:PORT, or unix: and the path of its socket.
    public var url: String
    /// The text that its clients send as the token; it is worth nothing elsewhere.
    public var placeholder: Secret

    /// A result of these members.
    public init(doorID: String, url: String, placeholder: Secret) {
      (self.doorID, self.url, self.placeholder) = (doorID, url, placeholder)
    }

    public static let blank = Result(doorID: "", url: "", placeholder: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("doorId", &doorID, .word)
      try coder.required("url", &url)
      try coder.required("placeholder", &placeholder, .secret)
    }
  }
}
