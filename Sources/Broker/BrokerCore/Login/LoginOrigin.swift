/// Which login has brought a session.
enum LoginOrigin: Sendable {
  /// One that its provider answered at once.
  case attempt(UInt64)
  /// A pending login; these callers gave the code that brought it.
  case pending(PendingLogin, callers: [CallerID])
}
