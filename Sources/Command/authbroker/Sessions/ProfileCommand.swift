/// `authbroker profile`.
enum ProfileCommand: CommandGroup {
  static let name = "profile"
  static let summary = "Choose the profile that commands mean"
  static let details = """
    Where a command line has no --profile, the variable AUTHBROKER_PROFILE names the profile, else `authbroker profile use`
    does; without either it is the only configured one, else `default`. Helpers, targets and other programs do not use it.
    """
  static var members: [CommandEntry] { [ProfileUseCommand.entry] }
}
