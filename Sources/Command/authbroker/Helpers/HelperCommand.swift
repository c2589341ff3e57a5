/// `authbroker helper`.
enum HelperCommand: CommandGroup {
  static let name = "helper"
  static let summary = "Answer another tool in its own protocol"
  static var details: String {
    """
    Which server gets which profile's token stands in the section `targets` of the configuration; what is not there gets
    none, and --profile gives that profile's token to any server. `helper install` writes the tools' configuration.

    These helpers can also be run by a name of their own, by which their tools find them: \(names).
    """
  }

  private static var names: String { helpers.flatMap { $0.programNames }.joined(separator: ", ") }

  static var members: [CommandEntry] {
    [HelperInstallCommand.entry, HelperRemoveCommand.entry, HelperListCommand.entry] + helpers.map { $0.command }
  }

  /// The helpers that tools run, in the order of the help.
  static var helpers: [HelperEntry] {
    [
      HelperEntry(GitHelper.self), HelperEntry(DockerHelper.self), HelperEntry(KubectlHelper.self),
      HelperEntry(CargoHelper.self),
      HelperEntry(KeyringHelper.self), HelperEntry(CurlHelper.self), HelperEntry(GoHelper.self),
      HelperEntry(BazelHelper.self), HelperEntry(TerraformHelper.self), HelperEntry(GoogleHelper.self),
      HelperEntry(AWSHelper.self), HelperEntry(MailHelper.self),
    ]
  }

  /// The names that an installation has beside the program, so that tools find their helper without any setup.
  ///
  /// A name that is another program's, such as `keyring`, is none of them: who wants that puts it on the `PATH`.
  static var installedNames: [String] { helpers.flatMap { $0.programNames }.filter { $0.hasSuffix("-authbroker") } }

  /// The words that a name of the program stands for.
  ///
  /// - Parameter program: the last component of the name that the program was called by.
  /// - Returns: the words that begin the command line; none where the name is no helper's.
  static func words(calledAs program: String) -> [String] {
    guard let helper = helpers.first(where: { $0.programNames.contains(program) }) else { return [] }
    return helper.command.name.split(separator: " ").map(String.init)
  }
}
