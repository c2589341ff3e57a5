import LinuxSystem

/// `authbroker file`.
enum FileCommand: Command {
  /// Writes once and ends.
  private static let once = Option.flag("--once", "write the file once and end")
  /// Leaves the file at the end.
  private static let keep = Option.flag("--keep", "leave the file at the end of this program")
  /// Accepts a directory in which others can exchange the file.
  private static let shared = Option.flag(
    "--shared-directory", "write although others can exchange the file; they never can read it")

  static let name = "file"
  static let about = CommandDescription(
    operands: "PATH",
    summary: "Keep a file with a fresh token, for programs that read one",
    details: """
      Writes the token into the file, with mode 0600 and without an end of line, and goes on until it is ended: the token
      in the file lives for 10 minutes or more at every moment, where the provider's tokens live that long, and else is
      replaced before half of its life is over. A reader sees an old token or a new one, never a part. The file is
      removed at logout, at the end of the session, at `authbroker lock`, and at the end of this program (--keep leaves
      it), and written again after the login or `authbroker unlock`. A restart of the broker is waited for.

      For AWS (AWS_WEB_IDENTITY_TOKEN_FILE), Azure (AZURE_FEDERATED_TOKEN_FILE) and Google (credential_source.file):
        authbroker file --id "$XDG_RUNTIME_DIR/aws-token"

      PATH must be no symbolic link, in a directory that no other user can change (but with --shared-directory).
      A file that is there already is replaced only if it is empty, or a token file: one word without an end of line, of mode 0600.
      """,
    options: [
      .flag("--id", "the ID token, for servers that ask who the user is"), once, keep, shared,
    ] + TokenChoice.options,
    examples: [
      #"authbroker file --id "$XDG_RUNTIME_DIR/aws-token""#,
      "authbroker file /run/user/1000/token -p work --once",
    ])

  /// Keeps the file until a signal comes.
  static func run(_ context: Context) throws(CommandFailure) {
    let wantsIdentity = context.arguments.has("--id")
    if wantsIdentity, let other = ["--scope", "--audience"].first(where: context.arguments.has) {
      throw .usage("\(other) is about the access token; it does not go with --id")
    }
    let path = PathName.absolute(context.arguments.operands[0], in: ProcessIdentity.workingDirectory)
    guard !context.arguments.operands[0].isEmpty, !context.arguments.operands[0].hasSuffix("/") else {
      throw .usage("PATH needs the name of a file")
    }
    let choice = try TokenChoice(context)
    let file = try TokenFile(path, isShared: context.arguments.has(shared.name))
    let keeper = try TokenFileKeeper(context, choice, file, wantsIdentity: wantsIdentity)
    if context.arguments.has(once.name) { return try keeper.writeOnce() }
    try keeper.run(keepsFile: context.arguments.has(keep.name))
  }
}
