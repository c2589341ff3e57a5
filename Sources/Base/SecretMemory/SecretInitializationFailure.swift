/// Why a secret that is filled by a closure that can fail was not made.
public enum SecretInitializationFailure<BodyError: Error>: Error {
  /// The arena has no room; the closure was not called.
  case exhausted
  /// The closure failed; what it had written is wiped.
  case body(BodyError)
}
