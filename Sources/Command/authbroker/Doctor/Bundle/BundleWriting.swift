import JSON
import LinuxSystem

/// `doctor --bundle`: writes the archive of a ``BugReport``, and says what is in it.
enum BundleWriting {
  /// The option that asks for it.
  static let option = Option.flag("--bundle", "write an archive for a bug report, without secrets")

  /// Writes the archive into a file that is not there yet.
  ///
  /// - Throws: a failure where there is such a file already, or it cannot be written; nothing is left behind then.
  static func write(_ report: BugReport, _ context: Context) throws(CommandFailure) {
    let path = path(context)
    let files = report.files
    let bytes = BugReport.archive(files, at: LocalTime.now)
    do throws(Errno) { try write(bytes, to: path) } catch {
      let shown = path.shellQuoted
      guard error == .exists else { throw CommandFailure(.failure, "\(shown) cannot be written: \(error)") }
      throw .usage("\(shown) is there already and is not overwritten; name another file")
    }
    tell(files, path, context)
  }

  /// The file that the command line names, else one in the current directory with the time in its name.
  private static func path(_ context: Context) -> String {
    let time = LocalTime.full(LocalTime.now).split(separator: " ").map { $0.filter { $0.isNumber } }
    let usual = "authbroker-bundle-\(time.joined(separator: "-")).tar"
    return PathName.absolute(context.arguments.operands.first ?? usual, in: ProcessIdentity.workingDirectory)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(Errno) {
    let file = try FileDescriptor.open(path, [.write, .create, .exclusive, .noFollow])
    do throws(Errno) {
      try file.setPermissions(0o600)
      try file.writeAll(bytes.span)
      try file.synchronize()
    } catch {
      try? DirectoryEntry.remove(path)
      throw error
    }
  }

  private static func tell(_ files: [BugReport.File], _ path: String, _ context: Context) {
    guard !context.wantsJSON else {
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("file", path)
        writer.member("contents", files.map { $0.name })
      }
      return Output.json(writer.bytes)
    }
    Output.line(path.shellQuoted)
    let width = (files.map { $0.name.count }.max() ?? 0) + 4
    for file in files { Output.paragraph(file.summary, behind: "  " + file.name.padded(to: width - 2)) }
    Output.line("")
    Output.paragraph("read it before you send it to anyone:\n  tar -xOf \(path.shellQuoted) | less", indent: 2)
  }
}
