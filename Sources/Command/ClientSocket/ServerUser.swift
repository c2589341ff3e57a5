import LinuxSystem

/// The user that a broker has to run as, before a client sends it a byte.
enum ServerUser: Equatable {
  /// The client's own, or root, who could read all that is sent anyway.
  case own
  /// One user alone.
  case one(UInt32)
  /// Any.
  case any

  /// The variable that names another than the own for the socket of `AUTHBROKER_SOCKET`.
  static let variable = "AUTHBROKER_SERVER_UID"

  /// Reads the variable: a name, a number, or `any`.
  ///
  /// - Throws: a sentence for the user where it names no user of this machine.
  init(named text: String) throws(ConnectError) {
    switch text {
    case "": self = .own
    case "any": self = .any
    default:
      guard let user = AccountFiles.read()?.user(named: text) ?? UInt32(text) else { throw .unknownServerUser(text) }
      self = .one(user)
    }
  }

  /// Whether a client trusts a broker of this user.
  func isTrusted(_ user: UInt32) -> Bool {
    switch self {
    case .own: user == ProcessIdentity.user || user == 0
    case .one(let other): user == other
    case .any: true
    }
  }
}
