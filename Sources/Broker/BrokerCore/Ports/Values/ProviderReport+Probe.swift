import BrokerProtocol

extension ProviderReport {
  /// What a probe means to people.
  init(_ profile: ProfileName, _ provider: String, _ probe: ProviderProbe) {
    self.init(
      profile: profile, provider: provider, isReachable: true, message: "It is part of the broker: nothing to reach.")
    host = probe.place?.host
    usesTLS = probe.place?.usesTLS
    switch probe.outcome {
    case nil: break
    case .failed(let failure, let advice):
      isReachable = false
      errorKind = failure.kind
      message = advice
    case .answered(let status, let roundTrip, let clockSkew):
      self.status = status
      self.roundTrip = roundTrip
      self.clockSkew = clockSkew
      message = verdict(status)
      guard let fault = probe.fault else { return }
      errorKind = ProviderFailure.misconfigured(fault).kind
      message = fault.message
    }
  }

  /// A sentence about an answer.
  private func verdict(_ status: Int) -> String {
    guard !isTroubled else {
      return "It is unavailable (status \(status)); wait, or ask its operator."
    }
    guard isClockWrong, let clockSkew else { return "It answers." }
    let seconds = clockSkew.components.seconds
    let direction = seconds < 0 ? "behind" : "ahead of"
    return "It answers, and its clock is \(seconds.magnitude) s \(direction) this machine's; set the clock."
  }
}
