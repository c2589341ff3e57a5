import LinuxSystem

/// The document about the client that the owner of a profile publishes (OAuth Client ID Metadata Document): servers that take
/// it know the client by its address.
enum ClientDocument {
  /// The option that asks for it.
  static let option = Option.flag("--print-client-metadata", "print the document for --client-metadata-url to publish")

  private static let address = "--client-metadata-url"

  /// Prints it; the daemon's program knows what is in it.
  ///
  /// - Throws: a failure for an address that can be none, or where there is no such program.
  static func print(_ context: Context) throws(CommandFailure) {
    guard let address = context.arguments[address] else {
      throw .usage("\(option.name) needs the address where the document will be: \(address) URL")
    }
    let paths = try context.paths()
    let report: DaemonProgram.Report
    do throws(Errno) { report = try DaemonProgram.report(context, paths, ["--describe-client", address]) } catch {
      throw CommandFailure(.failure, "the program authbrokerd cannot be run: \(error)")
    }
    guard report.code == 0, let document = report.object else {
      throw .usage("the address must be https://, a host and a path, without a query: \(address.shellQuoted)")
    }
    Output.line(document)
    Output.notice("publish it at \(address), and write that as clientMetadataUrl of the profile")
  }
}
