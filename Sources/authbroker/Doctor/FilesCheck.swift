import ClientSocket
import LinuxSystem

/// The files: whether they are there, whose they are, and whether others can get at them.
enum FilesCheck: DoctorCheck {
  static let title = "Files"

  /// A vault that grows, its log and a copy for a migration fit into this much.
  private static let comfortableSpace: Int64 = 16 << 20

  static func findings(_ patient: DoctorPatient) -> [DoctorFinding] {
    let paths = patient.paths
    var findings = [configuration(paths), directory("files.state", "state directory", paths.state)]
    let hasVault = (try? FileStatus.ofLink(paths.vault)) != nil
    findings.append(secret("files.vault", "vault", paths.vault, missing: "none yet; the first start makes one"))
    if let path = paths.vaultKey {
      let missing = hasVault ? "none; right unless the key comes from a file" : "none yet; the first start makes one"
      findings += key(path, besideVault: PathName.directory(of: paths.vault), missing: missing)
    }
    let place = patient.interview.socket ?? paths.socket
    let socketDirectory = directory("files.socketDirectory", "socket directory", PathName.directory(of: place))
    if socketDirectory.status == .error { findings.append(socketDirectory) }
    findings.append(socket(place))
    findings.append(log(paths.log))
    return findings + [freeSpace(paths.state)].compactMap(\.self)
  }

  private static func key(_ path: String, besideVault state: String, missing: String) -> [DoctorFinding] {
    let place = PathName.directory(of: path)
    var findings = [secret("files.key", "key file", path, missing: missing)]
    guard place != state else {
      guard findings[0].status == .ok else { return findings }
      let message = "it lies beside the vault, so whoever copies the state directory can read the tokens."
      return findings + [DoctorFinding("files.keyPlace", "key file", .note, message, path: path)]
    }
    let directory = directory("files.keyDirectory", "key directory", place)
    if directory.status == .error { findings.insert(directory.aboutVault(), at: 0) }
    return findings
  }

  private static func configuration(_ paths: StatePaths) -> DoctorFinding {
    let (check, label) = ("files.configuration", "configuration")
    guard let path = paths.configuration else {
      return DoctorFinding(check, label, .note, "none: nothing says where it would be")
    }
    let shown = PlainText.line(path.utf8)
    do throws(Errno) {
      let status = try FileStatus.following(path)
      guard status.owner == ProcessIdentity.user || status.owner == 0, status.permissions & 0o022 == 0 else {
        let message =
          "others can change \(shown) and so decide where passwords go; run: chmod go-w \(Advice.quoted(path))"
        return DoctorFinding(check, label, .warning, message, path: path)
      }
      return DoctorFinding(check, label, .ok, described(shown, status), path: path)
    } catch {
      guard error == .noEntry || error == .notDirectory else {
        return DoctorFinding(check, label, .error, "\(shown) cannot be looked at: \(error).", path: path)
      }
      guard !paths.isConfigurationChosen else {
        return DoctorFinding(check, label, .error, "\(shown) was chosen and is not there.", path: path)
      }
      return DoctorFinding(check, label, .ok, "built in; there is no \(shown)", path: path)
    }
  }

  /// A directory that must be private, with all that lies above it.
  private static func directory(_ check: String, _ label: String, _ path: String) -> DoctorFinding {
    let shown = PlainText.line(path.utf8)
    do throws(PrivateDirectory.Refusal) {
      _ = try PrivateDirectory(path, create: false)
      return DoctorFinding(check, label, .ok, "\(shown) (0700)", path: path)
    } catch {
      if case .failed(_, .noEntry) = error {
        return DoctorFinding(check, label, .note, "\(shown) is not there yet; the first start makes it", path: path)
      }
      return DoctorFinding(check, label, .error, PlainText.line(error.description.utf8), path: path)
    }
  }

  /// A file that nobody else may read or change.
  private static func secret(_ check: String, _ label: String, _ path: String, missing: String) -> DoctorFinding {
    let shown = PlainText.line(path.utf8)
    do throws(Errno) {
      let status = try FileStatus.ofLink(path)
      if let message = complaint(path, status) {
        return DoctorFinding(check, label, .error, message, path: path).aboutVault()
      }
      return DoctorFinding(check, label, .ok, described(shown, status), path: path)
    } catch {
      guard error == .noEntry else {
        return DoctorFinding(check, label, .error, "\(shown) cannot be looked at: \(error).", path: path).aboutVault()
      }
      return DoctorFinding(check, label, .note, "\(missing) (\(shown))", path: path)
    }
  }

  private static func complaint(_ path: String, _ status: FileStatus) -> String? {
    let shown = PlainText.line(path.utf8)
    guard status.kind == .regular else { return "\(shown) is no regular file; move it away." }
    guard status.owner == ProcessIdentity.user else { return "\(shown) belongs to user \(status.owner), not to you." }
    guard !status.isOpenToOthers else {
      return
        "\(shown) is open to others (mode \(mode(status))), who may have read it; run: chmod 600 \(Advice.quoted(path))"
    }
    return nil
  }

  private static func socket(_ path: String) -> DoctorFinding {
    let (check, label, shown) = ("files.socket", "socket", PlainText.line(path.utf8))
    guard path.utf8.count <= UnixSocket.longestPath else {
      return DoctorFinding(check, label, .error, UnixSocket.Refusal.pathTooLong(path).description, path: path)
    }
    guard let status = try? FileStatus.ofLink(path) else {
      return DoctorFinding(check, label, .note, "none yet (\(shown))", path: path)
    }
    guard status.kind == .socket, status.owner == ProcessIdentity.user, !status.isOpenToOthers else {
      let message = "\(shown) is no socket of yours alone; remove it, or choose another with --socket."
      return DoctorFinding(check, label, .error, message, path: path)
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

  /// What so many free bytes mean.
  static func freeSpace(_ space: Int64) -> DoctorFinding {
    let amount = "\(EnvironmentCheck.size(space)) free"
    guard space >= comfortableSpace else {
      let message = "only \(amount) in the state directory: logins and refreshes cannot be saved for long; make room."
      return DoctorFinding("files.freeSpace", "disk space", .warning, message)
    }
    return DoctorFinding("files.freeSpace", "disk space", .ok, amount)
  }

  private static func described(_ shown: String, _ status: FileStatus) -> String { "\(shown) (\(mode(status)))" }

  private static func mode(_ status: FileStatus) -> String {
    let digits = String(status.permissions, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
