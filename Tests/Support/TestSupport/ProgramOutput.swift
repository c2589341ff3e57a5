import LinuxSystem

/// Runs a program to its end and returns what it printed, standard error included.
///
/// The first argument is the program's path. It prints no more than a pipe holds (64 KiB).
package func output(of arguments: [String]) throws -> String {
  let reader = try FileDescriptor.pipe().ends { reader, writer throws(Errno) in
    var plan = ChildProcess.Plan(path: arguments[0], arguments: Array(arguments.dropFirst()), environment: [:])
    plan.descriptors = [(writer.number, 1), (writer.number, 2)]
    try ChildProcess(plan).wait()
    return reader
  }
  // Read after its end: what these programs print fits the pipe.
  var text: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while case .bytes(let count) = reader.read(into: &buffer) { text += buffer[..<count] }
  return String(decoding: text, as: UTF8.self)
}
