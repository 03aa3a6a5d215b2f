import PortableFoundation

// A closed standard stream is replaced, so that no socket gets its number and the output with it. Writing still fails.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
  _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}
// A closed pipe is an answer to a write, not a reason to die: `Demo get … | head -1` ends quietly.
signal(SIGPIPE, SIG_IGN)
Interrupt.hold()
exit(Command.run(Array(CommandLine.arguments.dropFirst())))
