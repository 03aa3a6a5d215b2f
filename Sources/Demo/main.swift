import PortableFoundation

// Replace a closed standard stream, so that no socket gets its descriptor and thus the output. Writing still fails.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
  _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}
// A closed pipe fails a write instead of ending the process, so that `Demo get … | head -1` ends without an error.
signal(SIGPIPE, SIG_IGN)
Interrupt.hold()
exit(Command.run(Array(CommandLine.arguments.dropFirst())))
