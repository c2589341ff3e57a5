import BrokerProtocol
import JSON
import LinuxSystem

/// `authbroker exec`.
enum ExecCommand: Command {
  static let name = "exec"
  static let about = CommandDescription(
    operands: "-- PROGRAM [ARGUMENT...]",
    summary: "Run a program with the access token in its environment",
    details: """
      Runs the program in place of this one, with the token in ACCESS_TOKEN, or in what --env names, such as GH_TOKEN for
      gh, GITLAB_TOKEN for glab and NODE_AUTH_TOKEN for npm.

      The token is never refreshed there, so its expiry is told on standard error (not with -q); --min-life refuses to
      run the program, with exit code 5, where less than that would be left even after a refresh. All users who may look
      at the program's environment see the token: those are the same user and root. A program that cannot be found ends
      it with 127, one that cannot be executed with 126, and else the exit code is the program's.
      """,
    options: [
      EnvironmentTemplate.option,
      .value("--min-life", "SECONDS", "the least remaining lifetime of the token at the start (30)"),
    ] + TokenChoice.options,
    endsOptionsAtOperand: true,
    examples: [
      "authbroker exec --env GH_TOKEN -- gh api user",
      "authbroker exec --env 'AUTH=Bearer {token}' -p work -- ./deploy",
    ])

  /// Asks for the token and becomes the program.
  static func run(_ context: Context) throws(CommandFailure) {
    guard let name = context.arguments.operands.first else {
      throw .usage("missing argument PROGRAM; usage: \(description.usage)")
    }
    let templates = try EnvironmentTemplate.all(context.arguments)
    let leastLife = try context.arguments.seconds("--min-life")
    // Before the broker is asked: what cannot run needs no token.
    let program = try NamedProgram(name, context.environment.all)
    let question = TokenQuestion(context, try TokenChoice(context), leastLife: leastLife)
    let answer = try question.answer()
    let variables = try variables(templates, answer)
    Output.notice(answer.sentence)
    try program.execute(Array(context.arguments.operands.dropFirst()), adding: variables)
  }

  private static func variables(
    _ templates: [EnvironmentTemplate], _ answer: TokenQuestion.Answer
  ) throws(CommandFailure) -> [[UInt8]] {
    var variables: [[UInt8]] = []
    for template in templates {
      let made = try? answer.root["accessToken"]?.withStringBytes { token in
        template.variable(token, expiresAt: answer.expiresAt)
      }
      guard let variable = made ?? nil else {
        throw CommandFailure(
          .failure,
          "the variable \(template.name.shellQuoted) cannot be made: the provider does not say when the token "
            + "expires, or the token cannot stand in a variable")
      }
      variables.append(variable)
    }
    return variables
  }
}
