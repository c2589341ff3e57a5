import BrokerProtocol

/// One trial of a provider as the broker holds it.
///
/// Confined to the broker's executor.
final class TrialSlot {
  /// The handle of the trial.
  let id: String
  /// The profile whose provider is tried.
  let profile: ProfileName
  /// The provider.
  let provider: any AuthProvider
  /// The client that began it.
  let client: ClientID?
  /// The trial, which decides the next order.
  var trial: any Trial
  /// The findings that the caller has not got yet.
  var findings: [ProviderFinding] = []
  /// The caller that waits for new findings.
  var caller: Caller<ProviderTrialState>?
  /// Answers it although nothing is new.
  var answerTimer: TimerCancellation?
  /// Ends a trial that no client asks about.
  var idleTimer: TimerCancellation?
  /// Waits for the user.
  var wait: Task<Void, Never>?
  /// Asks the provider.
  var asking: Task<Void, Never>?
  /// Whether it lets some time pass before it asks.
  var pause: Pause?
  /// Whether the caller was answered that the trial waits for a code or for the user.
  var isToldOfWait = false

  /// A trial that has not begun.
  init(
    _ id: String, _ profile: ProfileName, _ provider: any AuthProvider, _ client: ClientID?, _ trial: any Trial
  ) {
    self.id = id
    self.client = client
    self.profile = profile
    self.provider = provider
    self.trial = trial
  }

  /// Whether it asks the provider just now, and does not let time pass before that.
  var isAsking: Bool { asking != nil && pause?.isOver ?? true }
}
