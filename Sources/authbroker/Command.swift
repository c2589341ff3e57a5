/// One subcommand: what its help says, and what it does.
protocol Command {
  /// How it is called and explained.
  static var description: CommandDescription { get }

  /// Does it.
  ///
  /// - Throws: the failure that is printed and decides the exit code.
  static func run(_ context: Context) throws(CommandFailure)
}
