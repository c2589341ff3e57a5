package import BrokerCore
package import BrokerProtocol

extension ProviderProbe {
  /// The findings of a probe: whether the provider answers, and whether its clock is right.
  package var findings: [ProviderFinding] {
    switch outcome {
    case nil: return [ProviderFinding("reachable", .ok, "it is part of the broker: nothing to reach")]
    case .failed(let failure, let advice):
      let host = place?.host ?? "The provider"
      let isTLS = [.tlsFailed, .tlsPinMismatch].contains(failure.kind)
      let message = isTLS ? "\(host) cannot be reached over trusted TLS." : "\(host) cannot be reached."
      return [ProviderFinding("reachable", .failure, message, advice: advice, errorKind: failure.kind)]
    case .answered(let status, let roundTrip, let clockSkew):
      return [reachable(status, roundTrip), Self.clock(clockSkew, roundTrip)]
    }
  }

  private func reachable(_ status: Int, _ roundTrip: Duration) -> ProviderFinding {
    let host = place?.host ?? ""
    guard status < 500, status != 429 else {
      return ProviderFinding(
        "reachable", .failure, "\(host) is unavailable (status \(status)).",
        advice: "Wait, or ask its operator.", errorKind: .providerUnavailable)
    }
    let security = place?.usesTLS == true ? "over TLS, with a certificate that is trusted," : "without TLS"
    return ProviderFinding("reachable", .ok, "\(host) answers \(security) in \(roundTrip.milliseconds) ms")
  }

  /// The finding about the provider's clock: its time is from somewhere within the round trip, so a slow answer shows
  /// less.
  private static func clock(_ skew: Duration?, _ roundTrip: Duration) -> ProviderFinding {
    guard let skew else {
      return ProviderFinding("clock", .note, "The provider does not send its time (no Date field).")
    }
    let seconds = skew.milliseconds / 1000
    let tolerance = ProviderReport.clockTolerance + roundTrip / 2
    guard skew > tolerance || skew < .zero - tolerance else {
      return ProviderFinding("clock", .ok, "its clock agrees with this machine's")
    }
    let direction = seconds < 0 ? "behind" : "ahead of"
    return ProviderFinding(
      "clock", .warning, "Its clock is \(seconds.magnitude) s \(direction) this machine's.",
      advice: "Set the clock that is wrong; tokens may expire too early or too late.")
  }
}
