/// The caller's next step after an error.
public enum NextAction: String, Sendable, CaseIterable {
  case login, verifyOtp, retry, wait, unlock, reauthenticate, fixRequest, fixConfig, contactProvider, askOwner,
    useRequests,
    none
}
