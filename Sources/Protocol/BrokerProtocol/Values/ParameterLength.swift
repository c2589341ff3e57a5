import JSON

/// How long the strings may be that a caller gives, in bytes of UTF-8: what is longer is refused before a provider, the
/// vault or an event has any of it.
public enum ParameterLength {
  /// An e-mail address: a path of 256 octets without its angle brackets (RFC 5321, section 4.5.3.1.3).
  public static let email = 254
  /// A phone number: 15 digits (ITU-T E.164), with room for what people write between them.
  public static let phoneNumber = 64
  /// A person's name: far above any; the longest that common backends take is 255 characters of up to four bytes.
  public static let name = 1024
  /// All scopes of a login together, joined by spaces: they are part of every token, and of the address that a browser is
  /// sent to, which some servers cut at 4 KiB.
  public static let scopes = 1024
  /// The client context of a login: a small record of the client's own, which rests sealed with the login and is part
  /// of two events.
  public static let clientContext = 4096
  /// The JSON text of one value of a profile's change: a short description fits.
  public static let change = 4096
  /// The address of something on a server: the least that RFC 9110, section 4.1, recommends everyone to understand.
  public static let url = 8000
  /// The challenge of a server that has refused a token: as long as servers let a header be.
  public static let challenge = 8192
  /// A request method (RFC 9110, section 9): far longer than any.
  public static let requestMethod = 32
  /// The nonce of a proof (RFC 9449, section 8.1): those in use have some dozen characters, or are a short token.
  public static let nonce = 1024
  /// The path of a file: as long as system calls take one (PATH_MAX in limits.h).
  public static let path = 4096
}

extension JSONNode {
  /// A string of bounded length.
  ///
  /// - Parameter limit: in bytes of UTF-8.
  /// - Returns: the string.
  /// - Throws: ``JSONMismatch`` where it is no string, or longer.
  func string(atMost limit: Int) throws(JSONMismatch) -> String {
    // In JSON a byte takes six at most, so that what is far too long is never copied.
    guard text.count <= limit * 6 + 2 else { throw mismatch("at most \(limit) bytes long") }
    let text = try string()
    guard text.utf8.count <= limit else { throw mismatch("at most \(limit) bytes long") }
    return text
  }
}
