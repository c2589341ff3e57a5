import BrokerProtocol
import LinuxSystem
import StateDirectory

/// The files: whether they are there, whose they are, and whether others can get at them.
enum FilesCheck: DoctorCheck {
  static let title = "Files"

  /// A vault that grows, its log and a copy for a migration fit into this much.
  private static let comfortableSpace: Int64 = 16 << 20
  /// Less than this does not take the log of a single change: some pages of 4 KiB, and what the file system adds.
  private static let neededSpace: Int64 = 128 << 10

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    let paths = installation.paths
    var findings = [configuration(paths)] + misplacedConfigurations(installation)
    findings.append(directory("files.state", "state directory", paths.state))
    findings.append(vault(installation))
    findings += key(installation)
    let place = installation.report.socket ?? paths.socket
    let socketDirectory = directory("files.socketDirectory", "socket directory", PathName.directory(of: place))
    if socketDirectory.status == .error { findings.append(socketDirectory) }
    findings.append(socket(place))
    findings.append(log(paths.log))
    return findings + [freeSpace(paths.state)].compactMap { $0 }
  }

  private static func vault(_ installation: Installation) -> DoctorFinding {
    let (check, label, path) = ("files.vault", "vault", installation.paths.vault)
    guard isMissing(path), installation.report.status?.vault.isInitialized == true else {
      return secret(check, label, path, missing: "none yet; the first start makes one")
    }
    let message =
      "\(PlainText.line(path.utf8)) is not there, though the running broker has it open: all that it saves is lost when"
      + " it ends; find out what removes files there"
    let next = NextCommand("log in again after", "stop")
    return DoctorFinding(check, label, .error, message, next: next, path: path).aboutVault()
  }

  /// Whether a path does not exist; a path that cannot be examined may exist.
  static func isMissing(_ path: String) -> Bool {
    do throws(Errno) { _ = try FileStatus.ofLink(path) } catch { return error == .noEntry }
    return false
  }

  private static func configuration(_ paths: StatePaths) -> DoctorFinding {
    let (check, label) = ("files.configuration", "configuration")
    guard let path = paths.configuration else {
      return DoctorFinding(check, label, .note, "none: nothing says where it would be")
    }
    let shown = PlainText.line(path.utf8)
    do throws(TrustedFile.Refusal) {
      return DoctorFinding(check, label, .ok, described(shown, try TrustedFile.check(path)), path: path)
    } catch {
      guard error.isMissing else {
        return DoctorFinding(check, label, .error, BrokerSentence.plain(error.description), path: path)
      }
      guard !paths.isConfigurationChosen else {
        return DoctorFinding(check, label, .error, "\(shown) was chosen and does not exist", path: path)
      }
      return DoctorFinding(check, label, .ok, "built in; there is no \(shown)", path: path)
    }
  }

  /// A directory that must be private, with all that lies above it.
  static func directory(_ check: String, _ label: String, _ path: String) -> DoctorFinding {
    let shown = PlainText.line(path.utf8)
    do throws(PrivateDirectory.Refusal) {
      let directory = try PrivateDirectory(path, create: false)
      let status: FileStatus
      do throws(Errno) { status = try directory.descriptor.status() } catch { throw .failed(path, error) }
      guard isUsable(status, 0o700) else {
        let message =
          "you may not do everything in \(shown) (mode \(mode(status))); run: chmod 700 \(path.shellQuoted)"
        return DoctorFinding(check, label, .error, message, path: path)
      }
      guard !MachineLimits.isReadOnly(at: path) else {
        let message = "\(shown) is in a read-only file system; mount it writable, or choose another with --state"
        return DoctorFinding(check, label, .error, message, path: path)
      }
      return DoctorFinding(check, label, .ok, described(shown, status), path: path)
    } catch {
      if case .failed(_, .noEntry) = error {
        return DoctorFinding(check, label, .note, "\(shown) is not there yet; the first start makes it", path: path)
      }
      return DoctorFinding(check, label, .error, BrokerSentence.plain(error.description), path: path)
    }
  }

  /// A file that no other user may read or change.
  static func secret(
    _ check: String, _ label: String, _ path: String, needing rights: UInt32 = 0o600, missing: String
  ) -> DoctorFinding {
    let shown = PlainText.line(path.utf8)
    do throws(Errno) {
      let status = try FileStatus.ofLink(path)
      if let message = complaint(path, status, needing: rights) {
        return DoctorFinding(check, label, .error, message, path: path).aboutVault()
      }
      guard status.linkCount == 1 else {
        let message = "\(shown) has \(status.linkCount) names (hard links): what changes under one changes under all"
        return DoctorFinding(check, label, .warning, message, path: path)
      }
      return DoctorFinding(check, label, .ok, described(shown, status), path: path)
    } catch {
      guard error == .noEntry else {
        return DoctorFinding(check, label, .error, "\(shown) cannot be checked: \(error)", path: path).aboutVault()
      }
      return DoctorFinding(check, label, .note, "\(missing) (\(shown))", path: path)
    }
  }

  private static func complaint(_ path: String, _ status: FileStatus, needing rights: UInt32 = 0o600) -> String? {
    let shown = PlainText.line(path.utf8)
    guard status.kind == .regular else { return "\(shown) is not a regular file; move it away" }
    guard status.owner == ProcessIdentity.user else { return "\(shown) belongs to user \(status.owner), not to you" }
    guard isUsable(status, rights) else {
      return "\(shown) is closed to you too (mode \(mode(status))); run: chmod 600 \(path.shellQuoted)"
    }
    guard !status.isOpenToOthers else {
      return
        "\(shown) is open to others (mode \(mode(status))), who may have read it; run: chmod 600 \(path.shellQuoted)"
    }
    return nil
  }

  private static func socket(_ path: String) -> DoctorFinding {
    let (check, label, shown) = ("files.socket", "socket", PlainText.line(path.utf8))
    guard let status = try? FileStatus.ofLink(path) else {
      guard UnixSocket.fits(path) else {
        let message = BrokerSentence.plain(UnixSocket.Refusal.pathTooLong(path).description)
        return DoctorFinding(check, label, .error, message, path: path)
      }
      return DoctorFinding(check, label, .note, "none yet (\(shown))", path: path)
    }
    guard status.kind == .socket, status.owner == ProcessIdentity.user, !status.isOpenToOthers else {
      let message = "\(shown) is not a socket of yours alone; remove it, or choose another with --socket"
      return DoctorFinding(check, label, .error, message, path: path)
    }
    guard path.utf8.count <= UnixSocket.longestPath else {
      let message = "\(shown) is too long a path for many programs; set XDG_RUNTIME_DIR to a shorter directory"
      return DoctorFinding(check, label, .warning, message, path: path)
    }
    return DoctorFinding(check, label, .ok, described(shown, status), path: path)
  }

  private static func log(_ path: String) -> DoctorFinding {
    let (check, label, shown) = ("files.log", "log", PlainText.line(path.utf8))
    guard let status = try? FileStatus.ofLink(path) else {
      return DoctorFinding(check, label, .note, "none yet (\(shown))", path: path)
    }
    guard let message = complaint(path, status) else {
      return DoctorFinding(check, label, .ok, described(shown, status), path: path)
    }
    // Accounts and times are in it, but no secret.
    return DoctorFinding(check, label, .warning, message, path: path)
  }

  /// Room for the vault; measured where the state directory is, or will be.
  private static func freeSpace(_ path: String) -> DoctorFinding? {
    var place = path
    while place != "/", (try? FileStatus.following(place)) == nil { place = PathName.directory(of: place) }
    guard let space = try? MachineLimits.freeSpace(at: place) else { return nil }
    return freeSpace(space)
  }

  /// Judges the free space.
  static func freeSpace(_ space: Int64) -> DoctorFinding {
    let amount = "\(EnvironmentCheck.size(space)) free"
    guard space >= neededSpace else {
      let message = "only \(amount) in the state directory: logins and refreshes cannot be saved; make room"
      return DoctorFinding("files.freeSpace", "disk space", .error, message)
    }
    guard space >= comfortableSpace else {
      let message = "only \(amount) in the state directory: logins and refreshes cannot be saved for long; make room"
      return DoctorFinding("files.freeSpace", "disk space", .warning, message)
    }
    return DoctorFinding("files.freeSpace", "disk space", .ok, amount)
  }

  /// Whether the owner has rights that are needed; root needs none.
  private static func isUsable(_ status: FileStatus, _ rights: UInt32) -> Bool {
    status.permissions & rights == rights || ProcessIdentity.user == 0
  }

  private static func described(_ shown: String, _ status: FileStatus) -> String { "\(shown) (\(mode(status)))" }

  private static func mode(_ status: FileStatus) -> String {
    let digits = String(status.permissions, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
