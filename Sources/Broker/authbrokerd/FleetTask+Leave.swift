import BrokerProtocol
import Configuration
import ConfigurationFile
import Fleet
import JSON
import LinuxSystem
import StateDirectory

/// The end of a machine's part in a fleet.
extension FleetTask {
  /// Removes the key of this machine; without a confirmation, says what would be removed, as a question, or nothing.
  func leave() async throws(StartFailure) -> String {
    // No broker begins meanwhile; without a state directory none has been here.
    let lock = try takeLock()
    defer { lock?.withdraw() }
    let file = try removableFile()
    guard arguments.isConfirmed else {
      guard let file else { return "" }
      return "Remove \(file), so that this machine can open nothing of the fleet \(section.fleet) any more?\n"
    }
    var leaving = FleetLeaving(
      fleet: section.fleet, shared: configuration.sharedProfiles.map(\.description),
      configuration: paths.configuration ?? "the configuration", source: section.key.name, keyFile: keyFile)
    do throws(SharedRecordFailure) {
      let rows = try await record.read().rows
      leaving.sessions = rows.keys.filter { $0 != FleetKey.rowName }.sorted()
    } catch { leaving.unread = error.reason }
    if let file {
      try Self.remove(file)
      leaving.hasRemoved = true
    }
    return arguments.wantsJSON ? leaving.object : leaving.text
  }

  private func takeLock() throws(StartFailure) -> OwnerLock? {
    guard (try? FileStatus.ofLink(paths.state)) != nil else { return nil }
    do throws(StartFailure) { return try OwnerLock(paths) } catch {
      guard error.kind == .owned else { throw error }
      throw StartFailure(
        kind: .owned, message: "the broker of \(paths.state) is running; stop it with authbroker stop, then leave")
    }
  }

  /// The file of this machine's own that has the key; nil where there is none, or none any more.
  private func removableFile() throws(StartFailure) -> String? {
    guard let keyFile else { return nil }
    func refusal(_ reason: String) -> StartFailure {
      StartFailure(kind: .failed, message: "\(keyFile) is not removed: \(reason)")
    }
    let status: FileStatus
    do throws(Errno) { status = try FileStatus.ofLink(keyFile) } catch {
      if error == .noEntry || error == .notDirectory { return nil }
      throw refusal("\(error)")
    }
    let vaultKeys = [configuration.vault.keyFile, paths.vaultKey].compactMap { path in
      path.flatMap { try? FileStatus.ofLink($0).identity }
    }
    if vaultKeys.contains(status.identity) {
      throw refusal("it is the key of the vault as well; name another file in store.key first")
    }
    if let folder = environment["CREDENTIALS_DIRECTORY"], keyFile.hasPrefix(folder + "/") {
      throw refusal("it is a credential of the service manager; remove it from the unit")
    }
    switch status.kind {
    case .regular: break
    case .symbolicLink: throw refusal("it is a symbolic link; remove the file that it names, and then the link")
    default: throw refusal("it is not a regular file")
    }
    guard status.owner == ProcessIdentity.user else {
      throw refusal("it belongs to another user; run this as that one")
    }
    guard status.linkCount == 1 else { throw refusal("it has other names (hard links); remove those first") }
    return keyFile
  }

  private static func remove(_ path: String) throws(StartFailure) {
    do throws(Errno) {
      try DirectoryEntry.remove(path)
      let folder = try FileDescriptor.open(PathName.directory(of: path), [.read, .directory])
      try folder.synchronize()
    } catch { throw StartFailure(kind: .failed, message: "\(path) cannot be removed: \(error)") }
  }
}

/// The outcome of leaving a fleet, and the steps that a person still has to take.
struct FleetLeaving {
  /// The fleet.
  let fleet: String
  /// The profiles that are shared here.
  let shared: [String]
  /// The path of the configuration file.
  let configuration: String
  /// The place of `store.key`.
  let source: String
  /// The file that it is, where it is one.
  let keyFile: String?
  /// Whether it was removed.
  var hasRemoved = false
  /// The profiles whose sessions are in the fleet; nil where the database could not be asked.
  var sessions: [String]?
  /// Why it could not.
  var unread: String?

  /// The output where no configuration names a fleet.
  static func nothing(_ wantsJSON: Bool) -> String {
    let sentence = "there is nothing to remove: the configuration has no store"
    guard wantsJSON else { return sentence + "\n" }
    return FleetTask.line { writer in
      writer.member("removed", false)
      writer.member("next", [String]())
    }
  }

  /// Whether the key is still to be had by this machine.
  private var keepsKey: Bool { keyFile == nil }

  /// The profiles that are shared here and whose sessions stay with the others.
  private var staying: [String] { sessions.map { names in shared.filter { names.contains($0) } } ?? shared }

  private var steps: [String] {
    let names = shared.joined(separator: ", ")
    let logins = staying.map { "authbroker login -p \($0)" }.joined(separator: ", ")
    let key = keepsKey ? ["here: remove what gives \(source), so that this machine can open nothing any more"] : []
    return key + [
      "here: remove store\(names.isEmpty ? "" : ", and shared of \(names),") from \(configuration)",
      "in the database: revoke the role of this machine, which store.postgres names, or change its password",
      "on another member: run authbroker fleet rekey --new-key FILE, since this machine has had the key",
    ]
      + (logins.isEmpty
        ? []
        : [
          "on another member, if this machine may have been copied: run \(logins), since it has had the refresh tokens"
        ])
  }

  /// The output for a person.
  var text: String {
    var lines: [String] = []
    if let keyFile {
      lines.append(
        hasRemoved
          ? "removed \(keyFile): this machine can open nothing of the fleet \(fleet) any more"
          : "there is nothing to remove: \(keyFile) is not there")
    } else {
      lines.append("there is nothing to remove: store.key is no file; \(source) stays as it is")
    }
    if let unread {
      lines.append("what is in the fleet is not known: \(PlainText.line(unread.utf8))")
    } else {
      lines.append(
        staying.isEmpty
          ? "no session that was shared here is there" : "with the others stay: \(staying.joined(separator: ", "))")
    }
    lines.append("what is left to do, in this order:")
    for (index, step) in steps.enumerated() { lines.append("  \(index + 1). \(step)") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The output for programs.
  var object: String {
    FleetTask.line { writer in
      writer.member("fleet", fleet)
      writer.member("removed", hasRemoved)
      writer.member(ifPresent: "keyFile", keyFile)
      writer.member(ifPresent: "sessions", sessions == nil ? nil : staying)
      writer.member("next", steps)
    }
  }
}
