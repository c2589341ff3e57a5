import BrokerProtocol

/// The outcome of one harmless request to a provider.
///
/// It has no path, no query and no string of the provider: all of it may be shown and logged.
package struct ProviderProbe: Sendable, Equatable {
  /// The network address of a provider.
  package struct Place: Sendable, Equatable {
    /// Its name or address, with the port where that is not the usual one.
    package var host: String
    /// Whether it is spoken to over TLS only.
    package var usesTLS: Bool

    package init(host: String, usesTLS: Bool) {
      self.host = host
      self.usesTLS = usesTLS
    }
  }

  /// The way in which a probe ended.
  package enum Outcome: Sendable, Equatable {
    /// There is an answer: its status, how long it took, and how far the provider's clock is ahead, if it said so.
    case answered(status: Int, roundTrip: Duration, clockSkew: Duration?)
    /// There is none: why, and one sentence for people that says what to do.
    case failed(ProviderFailure, advice: String)
  }

  /// The provider's network address; nil where no network is in between.
  package let place: Place?
  /// The outcome; nil where there was nothing to ask.
  package let outcome: Outcome?
  /// The configuration fault that the answer shows, although the provider is there.
  package var fault: ConfigurationFault?
  /// One sentence about a provider that is here; nil for the usual one.
  package private(set) var sentence: String?

  /// A provider that is here, so that there is nothing to reach.
  package static let nothingToReach = ProviderProbe(place: nil, outcome: nil)

  /// A provider that is here, and what there is to say of it.
  package static func here(_ sentence: String) -> ProviderProbe {
    var probe = nothingToReach
    probe.sentence = sentence
    return probe
  }

  /// A provider that is here and cannot work: why, and what to do.
  package static func broken(_ failure: ProviderFailure, advice: String) -> ProviderProbe {
    ProviderProbe(place: nil, outcome: .failed(failure, advice: advice))
  }

  /// The probe of an address.
  package init(_ place: Place, _ outcome: Outcome) {
    self.init(place: place, outcome: outcome)
  }

  private init(place: Place?, outcome: Outcome?) {
    self.place = place
    self.outcome = outcome
  }
}

extension ProviderReport {
  /// The probe as clients see it.
  init(_ profile: ProfileName, _ provider: String, _ probe: ProviderProbe) {
    self.init(
      profile: profile, provider: provider, isReachable: true,
      message: probe.sentence ?? "It is part of the broker: nothing to reach.")
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
