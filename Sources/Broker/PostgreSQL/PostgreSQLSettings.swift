/// The address of a database, and the way of its TLS.
package struct PostgreSQLSettings: Sendable, Hashable {
  /// The connection string of libpq, of keywords or a URI, without a password (PostgreSQL, section 34.1.1).
  package var connection: String
  /// The absolute path of the certificates (PEM) of trusted authorities; nil for libpq's own place.
  package var caFile: String?

  /// Settings.
  package init(connection: String, caFile: String? = nil) {
    (self.connection, self.caFile) = (connection, caFile)
  }

  /// Whether a server of this name is on this machine, so that its TLS needs no proof: a socket's directory, or loopback.
  static func isLocal(_ host: String) -> Bool {
    if ["", "localhost", "::1"].contains(host) || host.hasPrefix("/") || host.hasPrefix("@") { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The keywords and values for a connection: those behind that of the string take its place.
  ///
  /// TLS is checked with the name of the server, unless it is on this machine.
  ///
  /// - Throws: `PostgreSQLError.unreadable`, `.passwordInConnection`, `.hostMissing`.
  func parameters(_ library: PostgreSQLLibrary) throws(PostgreSQLError) -> [(String, String)] {
    guard try library.setting("password", in: connection) == nil else { throw .passwordInConnection }
    let hosts = [try library.setting("host", in: connection), try library.setting("hostaddr", in: connection)]
    let names = hosts.compactMap(\.self).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    // Otherwise the environment would say where it goes.
    guard !names.isEmpty, try library.setting("service", in: connection) == nil else { throw .hostMissing }
    var parameters = [
      ("application_name", "authbroker"), ("gssencmode", "disable"), ("keepalives_idle", "10"),
      ("keepalives_interval", "5"), ("keepalives_count", "2"), ("tcp_user_timeout", "10000"), ("dbname", connection),
      // A standby may be behind, and takes no write.
      ("target_session_attrs", "read-write"), ("client_encoding", "UTF8"),
    ]
    if !names.allSatisfy({ Self.isLocal(String($0)) }) { parameters.append(("sslmode", "verify-full")) }
    if let caFile { parameters.append(("sslrootcert", caFile)) }
    return parameters
  }

  /// The servers of the connection string, each as the keywords that name it alone; they are tried in this order.
  ///
  /// A list has an element for each server, or one for all of them (PostgreSQL, section 34.1.1.3).
  ///
  /// - Throws: `PostgreSQLError.unreadable` where the lists do not fit together.
  func servers(_ library: PostgreSQLLibrary) throws(PostgreSQLError) -> [[(String, String)]] {
    var lists: [(keyword: String, values: [String])] = []
    for keyword in ["host", "hostaddr", "port"] {
      guard let list = try library.setting(keyword, in: connection) else { continue }
      lists.append((keyword, list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)))
    }
    let count = lists.filter { $0.keyword != "port" }.map(\.values.count).max() ?? 1
    guard lists.allSatisfy({ $0.values.count == count || $0.keyword == "port" && $0.values.count == 1 }) else {
      throw .unreadable
    }
    return (0..<count).map { index in
      lists.map { ($0.keyword, $0.values.count == 1 ? $0.values[0] : $0.values[index]) }
    }
  }
}
