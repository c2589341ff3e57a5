package import SecretMemory

/// A provider whose users log in in a browser on this machine (RFC 8252).
package protocol BrowserLoginProvider: Sendable {
  /// Waits for the browser to come back to a loopback address (RFC 8252, section 7.3), and gives the session it brings.
  ///
  /// `flow` is the provider's own handle, and says everything that is needed to listen again in another process. It ends
  /// soon after its task is cancelled, and then nothing listens any more.
  func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession
}
