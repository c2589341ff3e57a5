import Configuration
import Fleet
import JSON
import LinuxSystem
import Sealing
import StateDirectory

/// Another key for a fleet.
extension FleetTask {
  /// The pause while members write.
  private static let pause = Duration.milliseconds(100)

  /// Changes the data key, and `store.key` where a file for another one is named.
  func rekey() async throws(StartFailure) -> String {
    if let keyFile, newKeyPath == keyFile {
      throw StartFailure(
        kind: .failed,
        message: "\(keyFile) has the key of now, which is needed until the new one is in use; name another file")
    }
    let old: SealingKey
    do throws(SharedRecordFailure) { old = try await key() } catch { throw failure(error) }
    let new = try newKeyPath.map { path throws(StartFailure) in try Self.makeKey(at: path) }
    let report: FleetRekey.Report
    do throws(FleetRekey.Failure) {
      report = try await FleetRekey(section.fleet, under: old, to: new).run(in: record) {
        var nothing = PollSet(count: 1)
        _ = try? nothing.wait(atMost: Self.pause)
      }
    } catch {
      switch error {
      case .refused(let reason):
        if let newKeyPath { try? DirectoryEntry.remove(newKeyPath) }
        throw failure(SharedRecordFailure("\(reason.reason); its key is the same as before"))
      case .unknown(let reason):
        let file = newKeyPath.map { "; keep \($0), which may be the key by now" } ?? ""
        let next = "authbroker fleet status says whether store.key still is its key"
        throw failure(
          SharedRecordFailure("\(reason.reason): whether its key was changed is not known\(file); \(next)"))
      }
    }
    return shown(report)
  }

  private func shown(_ report: FleetRekey.Report) -> String {
    guard !arguments.wantsJSON else {
      return Self.line { writer in
        writer.member("fleet", section.fleet)
        writer.member("records", report.sealed)
        writer.member("damaged", report.damaged)
        writer.member(ifPresent: "newKey", newKeyPath)
      }
    }
    let count = report.sealed.count
    let records = count == 1 ? "1 session is" : "\(count) sessions are"
    var lines = ["the fleet \(section.fleet) has a new key; \(records) re-encrypted, and its members follow"]
    if !report.damaged.isEmpty {
      let names = report.damaged.map { PlainText.line($0.utf8) }.joined(separator: ", ")
      lines.append("not re-encrypted, since no member could open them: \(names); a login takes their place")
    }
    if let newKeyPath {
      let place = keyFile.map { "put it into the place of \($0)" } ?? "let store.key give it"
      lines.append(
        "its store.key is in \(newKeyPath) by now: \(place), here and on every other member; until then a member is offline, "
          + "and none has to be started again")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
