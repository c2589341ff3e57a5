import BrokerProtocol

/// `authbroker account update`.
enum AccountUpdateCommand: Command {
  static let name = "account update"
  static let about = CommandDescription(
    summary: "Change the name, the phone number and what else the provider knows of the account",
    details: """
      What is not named stays as it is. Members beyond name and phoneNumber are the provider's own; a value that is no
      string is given with `authbroker call updateProfile`. A phone number that gets the login codes is sent one first. No secret belongs here: every user of this machine can read
      a command line.
      """,
    options: [
      .value("--name", "NAME", "the name to show"),
      .value("--phone", "NUMBER", "where one-time codes go, such as +4912345678"),
      .value("--set", "MEMBER=TEXT", "another member and its new value; may be given more than once"),
      .value("--remove", "MEMBER", "a member to remove, such as phoneNumber; may be given more than once"),
    ] + PasswordSource.options,
    examples: ["authbroker account update --name Ann --phone +4912345678"])

  /// Sends the changes, and prints the account as it is then.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.profile()
    let changes = try changes(context.arguments)
    var dialogue = LoginDialogue(context, try context.connect())
    let params = UpdateProfile.Params(profile: profile, changes: ProfileChanges(changes))
    let result = try dialogue.change(UpdateProfile.self, params, of: profile)
    if context.wantsJSON { context.printJSON(result) } else { AccountLines.print(result.user) }
    guard let enrolment = result.enrolment else { return }
    try FactorConfirmation.confirm(enrolment, of: profile, &dialogue)
    context.tell(Message("login codes go there from now on"))
  }

  private static func changes(_ arguments: Arguments) throws(CommandFailure) -> [ProfileChanges.Change] {
    var changes: [ProfileChanges.Change] = []
    for (option, member) in [("--name", "name"), ("--phone", "phoneNumber")] {
      if let value = arguments[option] { changes.append(.init(member, value)) }
    }
    for text in arguments.all("--set") {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw .usage("--set needs a member and its value: --set MEMBER=TEXT")
      }
      changes.append(.init(parts[0], parts[1]))
    }
    for member in arguments.all("--remove") { changes.append(.init(member, nil)) }
    guard !changes.isEmpty else { throw .usage("nothing to change; give --name, --phone, --set or --remove") }
    let names = changes.map { $0.name }
    guard let twice = names.first(where: { name in names.count { $0 == name } > 1 }) else { return changes }
    throw .usage("\(twice.shellQuoted) would be changed twice; name it once")
  }
}
