/// The time by which the first byte of a request must leave: the right to send it ends then, as that of another program
/// begins.
///
/// A machine that sleeps, or a process that is stopped, may come too late although no time limit of the request is over.
package enum SendingDeadline {
  /// The uptime (`CLOCK_BOOTTIME`) of the requests of the present task; nil for none.
  @TaskLocal package static var uptime: Duration?
}
