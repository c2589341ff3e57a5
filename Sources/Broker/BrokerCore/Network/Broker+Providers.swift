package import BrokerProtocol
import JSON

/// Probes and examinations of providers, for which neither the vault nor any session is needed.
extension Broker {
  /// Probes the provider of a profile, or that of every profile.
  ///
  /// All are asked at the same time, and each bounds how long it takes; a slow one delays this answer and nothing else.
  package func checkProviders(
    _ params: CheckProviders.Params, _ caller: Caller<CheckProviders.Result>
  ) throws(BrokerError) {
    let slots = try view(of: caller.principal).slots(for: params.profile)
    let providers = slots.map { (profile: $0.name, provider: $0.provider) }
    // One for all profiles: how many there are is the configuration's choice.
    try lookAtProviders(slots.first, caller) { broker in
      CheckProviders.Result(providers: await broker.probe(providers))
    }
  }

  /// Examines the provider of a profile, and lists what a trial of it would show.
  package func checkProvider(
    _ params: CheckProvider.Params, _ caller: Caller<CheckProvider.Result>
  ) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let (name, provider) = (slot.name, slot.provider)
    let announcement = trialType.announcement(of: provider, slot.machine.rules)
    try lookAtProviders(slot, caller) { broker in
      let findings = await broker.apart { await ProviderCall.run(for: name) { await provider.examine() } }
      return CheckProvider.Result(
        profile: name, provider: provider.binding.type, loginMethods: provider.loginMethods.map(\.rawValue),
        methods: provider.abilities.map(\.rawValue).sorted(), findings: findings, trial: announcement)
    }
  }

  /// Answers a caller with the result of examining providers, which counts as one probe, of the first of them.
  ///
  /// Nothing is lost if it ends early: neither the lock of the vault nor the end of the broker waits for it.
  ///
  /// - Throws: `overloaded`; `rateLimited` with the time to wait.
  private func lookAtProviders<Value: JSONEncodable & Sendable>(
    _ first: ProfileSlot?, _ caller: Caller<Value>, _ look: @escaping @Sendable (isolated Broker) async -> Value
  ) throws(BrokerError) {
    try ledger.require(.providerChecks, ledger.used(.providerChecks) + 1)
    if let first { try admit(.probe, nil, on: first, for: caller.principal.client) }
    _ = ledger.add(.providerChecks, 1)
    Task {
      let value = await look(self)
      _ = ledger.add(.providerChecks, -1)
      answer(caller, value)
    }
  }

  /// Asks all at once, and gives the answers in the order of the providers.
  private func probe(_ providers: [(profile: ProfileName, provider: any AuthProvider)]) async -> [ProviderReport] {
    // Tasks of the broker's own: those of a group would need a thread of the global pool.
    let tasks = providers.map { entry in
      Task { await apart { await ProviderCall.run(for: entry.profile) { await entry.provider.probe() } } }
    }
    var reports: [ProviderReport] = []
    for (entry, task) in zip(providers, tasks) {
      reports.append(ProviderReport(entry.profile, entry.provider.binding.type, await task.value))
    }
    return reports
  }
}
