import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import StateDirectory

/// The configuration file that a profile or a target is written into.
struct ConfigurationEdit {
  /// The longest file that the daemon reads.
  private static let longest = 1 << 20

  /// Its absolute path.
  let path: String
  /// The present contents; nil where there is no file yet.
  private let original: [UInt8]?
  private let place, targetPlace: ConfigurationVerdict.Place?
  /// The profiles that there are: a name cannot be taken twice.
  let profiles: [String]
  /// The profiles that a target can name, the built-in one included.
  let targetProfiles: [String]
  /// The targets that there are.
  let targets: [ConfigurationVerdict.TargetEntry]
  /// Whether the embedded provider has been used without a configuration: its profile stays.
  private let keepsDefault: Bool

  /// The directory that it is in.
  var directory: String { PathName.directory(of: path) }
  /// Whether there is a file already.
  var exists: Bool { original != nil }

  /// Looks at the configuration that a command line means.
  ///
  /// - Throws: a failure where there is one that is not valid or is a symbolic link: nothing is added to it then.
  init(_ context: Context) throws(CommandFailure) {
    let paths = try context.paths()
    guard let path = paths.configuration else {
      throw .usage("nothing says where the configuration is to be; name a file with --config")
    }
    self.path = path
    let verdict = ConfigurationVerdict(context, paths)
    let isThere = (try? FileStatus.ofLink(path)) != nil
    guard verdict.isValid || (!isThere && paths.isConfigurationChosen) else {
      let next = NextCommand("fix it first; see", "config", "check")
      throw CommandFailure(.failure, "the configuration is not valid", next: next)
    }
    let hasAccounts = (try? FileStatus.following(paths.localProvider + "/db.sqlite")) != nil
    targets = verdict.targets
    targetProfiles = isThere ? verdict.profiles : [ProfileName.default.description]
    guard isThere else {
      (original, place, targetPlace, keepsDefault) = (nil, nil, nil, hasAccounts)
      profiles = hasAccounts ? [ProfileName.default.description] : []
      return
    }
    guard let bytes = Self.contents(of: path), let place = verdict.place else {
      throw CommandFailure(.failure, "\(path) cannot be read")
    }
    (original, self.place, targetPlace) = (bytes, place, verdict.targetPlace)
    keepsDefault = !place.isInSection && hasAccounts
    profiles = place.isInSection || hasAccounts ? verdict.profiles : []
  }

  /// The whole file as it is.
  var present: [UInt8] { original ?? [] }

  /// Whether a profile can be added to the file; a symbolic link would be replaced by a file.
  var isWritable: Bool { (try? FileStatus.ofLink(path))?.kind != .symbolicLink }

  /// Refuses a directory that this user cannot write into; of one that is missing, the one that it is to be made in.
  ///
  /// - Throws: a failure that names it.
  func expectWritableDirectory() throws(CommandFailure) {
    var nearest = directory
    while nearest != "/", (try? FileStatus.following(nearest)) == nil { nearest = PathName.directory(of: nearest) }
    do throws(Errno) { try DirectoryEntry.expectWritable(nearest) } catch {
      throw CommandFailure(.failure, "\(path) cannot be written: \(nearest.shellQuoted): \(error)")
    }
  }

  /// The whole file with a profile in it.
  func text(with draft: ProfileDraft, secretFile: String) -> [UInt8] {
    let kept = keepsDefault ? "    default: {\n      provider: \"\(EmbeddedProvider.type)\",\n    },\n" : ""
    let profile = draft.text(secretFile: secretFile, indent: "    ")
    return text(place, entry: profile, section: "  profiles: {\n\(kept)\(profile)  },\n")
  }

  /// The whole file with a target in it.
  func text(withTarget url: String, of profile: ProfileName) -> [UInt8] {
    let entry = "    \(JSONWriter.quoted(url)): \(JSONWriter.quoted(profile.description)),\n"
    return text(targetPlace, entry: entry, section: "  targets: {\n\(entry)  },\n")
  }

  /// The whole file with an entry in a section, or with the section where it has none.
  private func text(_ place: ConfigurationVerdict.Place?, entry: String, section: String) -> [UInt8] {
    guard let original, let place else {
      let head = "// The configuration of AuthBroker (JSON5). `authbroker config check` checks it.\n"
      return Array("\(head){\n\(section)}\n".utf8)
    }
    let block = place.isInSection ? entry : section
    let rest = original[place.offset...]
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    let comment = String(decoding: line, as: UTF8.self).drop { $0 == " " || $0 == "\t" || $0 == "\r" }
    guard comment.isEmpty || comment.hasPrefix("//"), line.endIndex < rest.endIndex else {
      // What stands on the same line goes on below.
      return Array(original[..<place.offset]) + Array("\n\(block.dropLast())".utf8) + Array(rest)
    }
    let next = line.endIndex + 1
    return Array(original[..<next]) + Array(block.utf8) + Array(original[next...])
  }

  /// The file for a secret that was typed.
  func secretFile(of draft: ProfileDraft) -> String { "\(directory)/\(draft.name).secret" }

  /// Writes the secret that was typed, and the configuration, which the daemon has looked at in its place before.
  ///
  /// - Throws: a failure; nothing has changed then.
  func write(_ draft: ProfileDraft, _ context: Context) throws(CommandFailure) {
    let text = text(with: draft, secretFile: secretFile(of: draft))
    try write(text, context) { () throws(CommandFailure) in
      try writeSecret(of: draft)
    } undo: {
      if draft.typedSecret != nil { try? DirectoryEntry.remove(secretFile(of: draft)) }
    }
  }

  /// Writes the configuration, which the daemon has looked at in its place before.
  ///
  /// - Parameters:
  ///   - text: the whole file.
  ///   - context: the command line.
  ///   - prepare: what is done before, once nothing else can refuse it.
  ///   - undo: takes that back.
  /// - Throws: a failure; nothing has changed then.
  func write(
    _ text: [UInt8], _ context: Context, prepare: () throws(CommandFailure) -> Void = {}, undo: () -> Void = {}
  ) throws(CommandFailure) {
    try makeDirectory()
    let lock = try lock()
    // While it is held: another process that waits for it sees that it has lost its name.
    defer { try? DirectoryEntry.remove(lock.path) }
    let pending: PendingFile
    do throws(Errno) { pending = try PendingFile(path, text.span) } catch { throw cannotBeWritten(path, error) }
    let verdict = ConfigurationVerdict(context, try context.paths(), of: pending.temporaryPath)
    if let refusal = verdict.refusal { throw CommandFailure(.failure, refusal.message) }
    guard Self.contents(of: path) == original else { throw cannotBeWritten(path, .exists) }
    try prepare()
    do throws(Errno) { try pending.put(replacing: exists) } catch {
      undo()
      throw cannotBeWritten(path, error)
    }
  }

  /// Keeps other processes of this program from adding a profile between the last look at the file and its replacement.
  private func lock() throws(CommandFailure) -> FileLock {
    do throws(FileLock.Refusal) { return try FileLock(path + ".lock", waitingAtMost: .seconds(10)) } catch {
      throw CommandFailure(.failure, BrokerSentence.plain(error.description))
    }
  }

  private func writeSecret(of draft: ProfileDraft) throws(CommandFailure) {
    guard let secret = draft.typedSecret else { return }
    let path = secretFile(of: draft)
    do throws(Errno) { try SecretFile.write(secret, to: path) } catch {
      guard error != .exists else {
        throw CommandFailure(.failure, "\(path) is there already; remove it, or choose another name for the profile")
      }
      throw cannotBeWritten(path, error)
    }
  }

  private func cannotBeWritten(_ path: String, _ error: Errno) -> CommandFailure {
    guard error != .exists else {
      return CommandFailure(.failure, "\(path) has appeared or changed meanwhile; nothing was written, try again")
    }
    return CommandFailure(.failure, "\(path) cannot be written: \(error)")
  }

  /// A directory that is there stays as it is: the daemon says whether it trusts what is in it.
  private func makeDirectory() throws(CommandFailure) {
    guard (try? FileStatus.following(directory)) == nil else { return }
    do throws(PrivateDirectory.Refusal) { _ = try PrivateDirectory(directory, create: true) } catch {
      throw CommandFailure(.failure, BrokerSentence.plain(error.description))
    }
  }

  private static func contents(of path: String) -> [UInt8]? {
    guard let file = try? FileDescriptor.open(path, [.read, .nonBlocking]) else { return nil }
    return try? file.contents(limit: longest + 1)
  }
}
