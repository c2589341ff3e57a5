package import BrokerProtocol

/// How many different targets one client may ask for in a minute.
///
/// Each is a refresh of the session, which all clients share: a program calls a handful of services, and one that thinks
/// of ever new audiences is a mistake, or ill will.
package struct TargetLimit: Sendable {
  /// For so long a target counts after it was asked for.
  package static let window = Duration.seconds(60)

  /// Targets by their hash, so that long names take no memory; two with the same count as one.
  private var seen: [Int: Duration] = [:]

  /// A client that has asked for nothing yet.
  package init() {}

  /// Takes in that a client asks for a token.
  ///
  /// - Parameters:
  ///   - profile: of which session; nil as in the request.
  ///   - scopes: as in the request; none and no audience is the session's own token, which is not counted.
  ///   - audience: as in the request.
  ///   - most: how many different targets a minute may have.
  ///   - uptime: now.
  /// - Returns: how long the client must wait before it asks for another one; nil where it need not.
  package mutating func wait(
    profile: ProfileName?, scopes: [String], audience: String?, most: Int, at uptime: Duration
  ) -> Duration? {
    guard !scopes.isEmpty || audience != nil else { return nil }
    var hasher = Hasher()
    hasher.combine(profile)
    hasher.combine(TokenTarget(scopes: scopes, audience: audience))
    let target = hasher.finalize()
    seen = seen.filter { uptime - $0.value < Self.window }
    guard seen[target] != nil || seen.count < most else {
      return seen.values.min().map { $0 + Self.window - uptime }
    }
    seen[target] = uptime
    return nil
  }
}
