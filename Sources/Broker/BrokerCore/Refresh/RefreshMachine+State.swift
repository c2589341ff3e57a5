/// What others ask of the machine's state.
extension RefreshMachine {
  /// Whether it is this flight that is being prepared, or on its way.
  func isUnderWay(_ flight: UInt64) -> Bool {
    switch state {
    case .preparing(flight), .sent(flight, _): true
    default: false
    }
  }

  /// Whether the provider cannot be reached, as far as it was tried: until a try brings tokens, also while one is under way.
  var isOffline: Bool {
    switch state {
    case .backingOff, .holdingBack: true
    case .preparing, .sent: lost != nil || failuresInARow > 0
    // The broker's own breaker is no outage.
    case .barred: lost != nil
    case .resting, .saving: false
    }
  }
}
