/// Which login has brought a session.
enum LoginOrigin: Sendable {
  /// One that its provider answered at once.
  case attempt(UInt64)
  /// The pending login with this handle; these callers gave the code that brought it.
  case pending(String, callers: [CallerID])
}
