/// A refresh whose answer is still to come to a session that was signed out meanwhile.
package struct FlightUnderWay: Sendable {
  /// Where it stands: sent.
  let refresh: RefreshMachine
  /// What a token is asked for; nil for the session's own.
  let target: TokenTarget?
}
