/// How a tool asks for a token, so that it can be asked the same way.
enum ToolProbe: Equatable, Sendable {
  /// The tool, or its helper as the tool finds it, and what it reads; the answer must hold the token.
  case run(program: String, arguments: [String] = [], input: String = "", environment: [String: String] = [:])
  /// What AWS's tools run for keys, as a line of a shell; it must print them.
  case keys(command: String)
  /// A file that `authbroker file` keeps, named by a variable.
  case file(variable: String)
}
