package import BrokerProtocol

/// Whether providers can be reached.
extension Broker {
  /// Looks whether the provider of a profile, or that of every profile, can be reached.
  ///
  /// All are asked at the same time, and each bounds how long it takes; a slow one delays this answer and nothing else.
  /// Neither the vault nor any session is needed: it works while the vault is locked, and locking does not wait for it.
  package func checkProviders(
    _ params: CheckProviders.Params, _ caller: Caller<CheckProviders.Result>
  ) throws(BrokerError) {
    let slots = params.profile == nil ? slots : [try slot(for: params.profile)]
    try ledger.require(.providerChecks, work.providerChecks + 1)
    // One for all profiles: how many there are is the configuration's choice.
    if let slot = slots.first { try admit(.probe, nil, on: slot) }
    let providers = slots.map { (profile: $0.name, provider: $0.provider) }
    work.beginProviderCheck()
    Task {
      let reports = await probe(providers)
      work.endProviderCheck()
      answer(caller, CheckProviders.Result(providers: reports))
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
