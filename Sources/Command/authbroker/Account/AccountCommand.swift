import BrokerProtocol

/// `authbroker account`.
enum AccountCommand: CommandGroup {
  static let name = "account"
  static let summary = "Manage the account of a profile at its provider"
  static let details = """
    Each of these needs a provider that offers it: `authbroker provider-check` lists what it does. Where the user must
    have authenticated lately, a terminal asks for the password, and --password-stdin and --password-command give it.
    """
  static var members: [CommandEntry] {
    [
      show, AccountUpdateCommand.entry, AccountEmailCommand.entry, AccountPasswordCommand.entry,
      AccountTwoFactorCommand.entry, backupCodes, forgot, AccountResetCommand.entry, verifyEmail, delete,
    ]
  }

  private static var show: CommandEntry {
    CommandEntry(
      "account show",
      CommandDescription(
        summary: "Show what the provider knows of the account",
        examples: ["authbroker account show", "authbroker account show --json"]),
      // The provider is asked, not the cache.
      calls: GetCurrentUser.self,
      with: { context throws(CommandFailure) in .init(profile: try context.profile(), maxAge: .zero) },
      show: { user, _ in AccountLines.print(user) })
  }

  private static var backupCodes: CommandEntry {
    let about = CommandDescription(
      summary: "Make new backup codes, which replace a one-time code once each",
      details: "Asks for the password. The codes are printed once; those that were made before are void.",
      options: PasswordSource.options,
      examples: ["authbroker account backup-codes"])
    return CommandEntry("account backup-codes", about) { context throws(CommandFailure) in
      var dialogue = try LoginDialogue.about(GenerateBackupCodes.self, context, needsLogin: true)
      let profile = try context.profile()
      let result = try PasswordTries.repeated(context) { password throws(CommandFailure) in
        try dialogue.change(GenerateBackupCodes.self, .init(profile: profile, password: password), of: profile)
      }
      guard !context.wantsJSON else { return context.printJSON(result) }
      for code in result.backupCodes { Output.line(code) }
      Output.message(
        "keep these codes where you find them without your telephone: each replaces one code, and they are never shown "
          + "again")
    }
  }

  private static var forgot: CommandEntry {
    let about = CommandDescription(
      summary: "Have the provider send a token for a new password",
      details: "The answer is the same whether or not there is an account of that address.",
      options: [.value("--email", "ADDRESS", "the account")],
      examples: ["authbroker account forgot --email ann@example.com"])
    return CommandEntry("account forgot", about) { context throws(CommandFailure) in
      var dialogue = try LoginDialogue.about(ForgotPassword.self, context)
      let profile = try context.profile()
      let email = try Prompt.answer("--email", "E-mail address", context)
      _ = try dialogue.change(ForgotPassword.self, .init(profile: profile, email: email), of: profile)
      guard !context.wantsJSON else { return context.printJSON(Empty()) }
      context.tell(
        Message(
          "if there is an account of that address, it is sent a token",
          next: NextCommand("set a new password with", "account", "reset").on(profile)))
      OutboxNotice.tellOfToken(profile, &dialogue)
    }
  }

  private static var verifyEmail: CommandEntry {
    let about = CommandDescription(
      summary: "Confirm an e-mail address with the token that was sent to it",
      options: [SecretInput.tokenOption],
      examples: ["authbroker account verify-email"])
    return CommandEntry("account verify-email", about) { context throws(CommandFailure) in
      var dialogue = try LoginDialogue.about(VerifyEmail.self, context)
      let profile = try context.profile()
      let token = try SecretInput.token(context)
      _ = try dialogue.change(VerifyEmail.self, .init(profile: profile, token: token), of: profile)
      context.finish("the e-mail address is verified")
    }
  }

  private static var delete: CommandEntry {
    let about = CommandDescription(
      summary: "Delete the account at the provider, and its session here",
      details: "Asks for the password, which confirms it. Nothing brings the account back.",
      options: PasswordSource.options,
      examples: ["authbroker account delete"])
    return CommandEntry("account delete", about) { context throws(CommandFailure) in
      var dialogue = try LoginDialogue.about(DeleteAccount.self, context, needsLogin: true)
      let profile = try context.profile()
      if PasswordSource.asks(context) {
        let session = try dialogue.session(of: profile)
        Output.message("this deletes the account that is logged in to \(session.profile)\(session.userWords), for good")
      }
      try PasswordTries.repeated(context) { password throws(CommandFailure) in
        _ = try dialogue.change(DeleteAccount.self, .init(profile: profile, password: password), of: profile)
      }
      context.finish("the account is deleted")
    }
  }
}
