import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import Hooks
import LinuxSystem
import Logging

/// Reloading the configuration.
extension Daemon {
  /// Reads the configuration again; one that is not valid changes nothing.
  func reload(_ reply: @escaping BrokerServer.Environment.ReloadReply) {
    let previous = reloading
    reloading = Task {
      await previous?.value
      if !isStopping { serviceReport.reloading() }
      let result = await apart { await takeOver() }
      if case .failure(let error) = result {
        let reason = LogField.word("reason", error.message)
        if error.kind == .configInvalid {
          log.error("the configuration was rejected; the current one is kept", reason)
        } else {
          log.error("the configuration was not reloaded; the current one is kept", reason)
        }
      }
      if !isStopping { serviceReport.ready(status(after: result)) }
      reply(result)
    }
  }

  /// Applies the current configuration; one that is the same as before is no event.
  private func takeOver() async -> Result<[ProfileName], BrokerError> {
    guard let broker, let server else { return .failure(BrokerError(.shuttingDown)) }
    let (readAt, fresh): (Timestamp, BrokerConfiguration)
    do throws(StartFailure) {
      // A file that is gone for a moment, as while an editor saves it, takes no profile away.
      let mayBeMissing = configuration == .standard
      (readAt, fresh) = (WallClock.timestamp, try await ConfigurationReader.read(source, mayBeMissing: mayBeMissing))
    } catch {
      return .failure(BrokerError(error.kind == .configInvalid ? .configInvalid : .overloaded, error.message))
    }
    if fresh == configuration {
      await broker.configurationWasRead()
      openLimitedSockets(of: fresh, AccountNames(), server)
    } else if let failure = await takeOver(fresh, broker, server) {
      return .failure(failure)
    }
    await server.noteConfigurationRead(at: readAt)
    return .success(fresh.profiles.map(\.name))
  }

  private func takeOver(
    _ fresh: BrokerConfiguration, _ broker: Broker, _ server: BrokerServer
  ) async -> BrokerError? {
    guard fresh.sharesAsDoes(configuration) else {
      return BrokerError(
        .configInvalid, "the store of a running broker, and what it shares, cannot be changed: run authbroker stop")
    }
    let names = AccountNames()
    let (profiles, policy): ([ProfileSettings], AccessPolicy)
    do throws(StartFailure) {
      let opened = limitedSockets.filter { $0.end != nil }
      (policy, profiles) = (try names.policy(of: fresh, opened: opened), try providers.settings(for: fresh))
    } catch {
      return BrokerError(error.kind == .configInvalid ? .configInvalid : .overloaded, error.message)
    }
    let before = await server.access
    // Before a new profile is there: it exists for no client that may not have it.
    await server.setAccess(AccessTable(policy, profiles: fresh.profiles.map(\.name)))
    await server.hold(questionsOutside: fresh.targets)
    do throws(StoreFailure) {
      try await broker.reconfigure(profiles)
    } catch {
      await server.setAccess(before)
      await server.askHeldQuestions()
      return BrokerError(.storeFailed)
    }
    await adoptPrograms(of: fresh, broker)
    await providers.update(to: fresh)
    await broker.setAutoLock(fresh.vault.autoLock)
    if !fresh.vault.opensAsDoes(configuration.vault) {
      log.warning("changed vault settings take effect at the next start")
    }
    configuration = fresh
    openLimitedSockets(of: fresh, names, server)
    await server.setAudit(fresh.isAudited(opensSockets: limitedSockets.contains { $0.end != nil }))
    await broker.settleAudit()
    await server.askHeldQuestions()
    await server.setLimits(limits(of: fresh))
    if arguments.mode == .owner(isOnDemand: true) { await server.endWhenIdle(for: fresh.linger) }
    log.setLevel(LogLevel(fresh.logLevel))
    log.notice("configuration reloaded", .number("profiles", profiles.count))
    warnOfOutdatedKeys()
    return nil
  }

  /// Tells, in one line, which keys of the configuration the next version will not know.
  func warnOfOutdatedKeys() {
    guard !configuration.outdatedKeys.isEmpty else { return }
    log.warning(
      "keys of the configuration are obeyed until version 0.3: remove them",
      .word("keys", configuration.outdatedKeys.joined(separator: ",")))
  }
}
