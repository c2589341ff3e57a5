import AuthBrokerClient
import BrokerProtocol
import JSON
import LinuxSystem
import StateDirectory

/// `authbroker request`.
enum RequestCommand: Command {
  private static let method = Option.value(
    "--method", "METHOD", "the request method; GET, or POST where there is a body")
  private static let header = Option.value(
    "--header", "LINE", #"a field such as "Accept: text/plain"; may be repeated"#)
  private static let data = Option.value("--data", "TEXT|@FILE|-", "the body, a file with it, or - for standard input")
  private static let include = Option.flag("--include", "print the status and the header before the body")
  private static let queue = Option.value(
    "--queue", "KEY", "queue it under this Idempotency-Key: it is sent as soon as possible")
  private static let output = Option.value("--output", "FILE", "write the body to a file", completion: .files)

  static let name = "request"
  static let about = CommandDescription(
    operands: "URL|/PATH", summary: "Send a request to an API with a token that stays in the broker",
    details: """
      The broker attaches the token and sends the request; neither this program nor the one that runs it sees the token. Where
      it may go is in requests.allow of the profile; without that, nowhere. A PATH is one at the only server that these rules
      name. Where no profile is named, it is the only one whose rules allow the request.

      A token that the API refuses is refreshed, and the request is sent once more. Redirects are printed and not followed.
      A body is JSON unless a Content-Type says otherwise; it has 512 KiB at most, and so has the answer.

      With --queue the command ends once the request is durable, and prints its id: the broker sends it as soon as there is a
      token and a network, also after a restart, and never twice to an API that honours the Idempotency-Key. KEY is one of your
      own, such as a UUID; the same key and request again are the same request. See authbroker queue.

      Prints the body as it came. The exit code tells the status: 0 below 400, 3 for 401, 6 for 403, 5 for 429 and from 500 on,
      and 1 for the others.
      """,
    options: [method, header, data, include, output, queue]
      + TokenChoice.options.filter { $0.name != TargetOption.option.name },
    examples: [
      "authbroker request https://api.example.com/v1/orders",
      #"authbroker request -p shop -X PATCH -d '{"state":"open"}' /v1/orders/7"#,
      "authbroker request --queue order-7 -d '{\"item\":7}' /v1/orders",
      "authbroker request -d @a.png -H 'Content-Type: image/png' -o b.png /v1/t",
    ])

  /// Sends the request and prints the answer.
  static func run(_ context: Context) throws(CommandFailure) {
    let arguments = context.arguments
    let choice = try TokenChoice(context)
    var fields = try arguments.all(header.name).map { line throws(CommandFailure) in try field(line) }
    let body = try arguments[data.name].map { text throws(CommandFailure) in try content(text) }
    if body != nil, !fields.contains(where: { $0.name.lowercased() == "content-type" }) {
      fields.append(HeaderFields.Field("Content-Type", "application/json"))
    }
    var params = SendRequest.Params(
      profile: choice.profile, method: arguments[method.name]?.uppercased() ?? (body == nil ? "GET" : "POST"),
      url: arguments.operands[0], headers: HeaderFields(fields), bodyBytes: body, scopes: choice.scopes,
      audience: choice.audience)
    if let timeout = try arguments.seconds("--timeout") { params.timeout = timeout }
    var connection = try context.connect()
    if let key = arguments[queue.name] { return try enqueue(params, key, context, on: &connection) }
    let answer = try context.call(SendRequest.self, params, on: &connection, within: params.timeout + .seconds(5))
    let printed = answer.bodyBytes ?? Array((answer.body ?? "").utf8)
    if context.wantsJSON {
      context.printJSON(answer)
    } else {
      if arguments.has(include.name) { printHead(of: answer) }
      if let path = arguments[output.name] { try write(printed, to: path) } else { Output.data(printed.span) }
    }
    if let code = exitCode(answer.status) { throw .quiet(code) }
  }

  private static func enqueue(
    _ params: SendRequest.Params, _ key: String, _ context: Context, on connection: inout BlockingConnection
  ) throws(CommandFailure) {
    let queued = try context.call(QueueRequest.self, QueueRequest.Params(params, idempotencyKey: key), on: &connection)
    context.wantsJSON ? context.printJSON(queued) : Output.line(PlainText.line(queued.requestID.utf8))
  }

  /// The exit code for a status; nil where it is no failure.
  private static func exitCode(_ status: Int) -> ExitCode? {
    switch status {
    case ..<400: nil
    case 401: .loginRequired
    case 403: .accessDenied
    case 429, 500...: .providerUnavailable
    default: .failure
    }
  }

  private static func printHead(of answer: SendRequest.Result) {
    Output.line("HTTP/1.1 \(answer.status)")
    for field in answer.headers.fields { Output.line(PlainText.line("\(field.name): \(field.value)".utf8)) }
    Output.line("")
  }

  private static func field(_ line: String) throws(CommandFailure) -> HeaderFields.Field {
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw .usage(#"--header needs a name and a value, such as "Accept: text/plain""#)
    }
    return HeaderFields.Field(String(parts[0]), String(parts[1].drop { $0 == " " }))
  }

  // MARK: Bodies

  private static func content(_ text: String) throws(CommandFailure) -> [UInt8] {
    guard text == "-" || text.hasPrefix("@") else { return Array(text.utf8) }
    let name = text == "-" ? "standard input" : String(text.dropFirst()).shellQuoted
    let bytes: [UInt8]
    do throws(Errno) {
      bytes =
        text == "-"
        ? try contents(of: FileDescriptor(owning: 0))
        : try contents(of: try .open(String(text.dropFirst()), .read))
    } catch { throw CommandFailure(.failure, "\(name) cannot be read: \(error)") }
    guard bytes.count <= SendRequest.mostBytes else {
      throw .usage("\(name) has more than \(SendRequest.mostBytes) bytes, which no request takes")
    }
    return bytes
  }

  /// The contents of a stream, up to one byte more than a body may have.
  private static func contents(of stream: borrowing FileDescriptor) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: SendRequest.mostBytes + 1)
    var filled = 0
    reading: while filled < bytes.count {
      switch stream.read(into: &bytes, at: filled) {
      case .bytes(let count): filled += count
      case .failed(let error): throw error
      default: break reading
      }
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
    do throws(Errno) {
      let file = try FileDescriptor.open(path, [.write, .create, .truncate, .noFollow])
      try file.writeAll(bytes.span)
    } catch { throw CommandFailure(.failure, "\(path.shellQuoted) cannot be written: \(error)") }
  }
}
