"""The copy of the package into which mutants are compiled, and the runs of its tests. Used by `run` and `random`."""
import os, pathlib, re, shutil, signal, subprocess, sys, time

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def stop(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def take_option(arguments, name, fallback=None):
    """Removes the option and its value from the arguments and returns the value."""
    if name not in arguments:
        return fallback
    at = arguments.index(name)
    if at + 1 == len(arguments):
        stop(f"{name} needs a value")
    value = arguments[at + 1]
    del arguments[at : at + 2]
    return value


# The number of the active mutant comes from the environment. A mutant that is reached is noted, and written when the process ends.
SWITCH = """import Foundation
import Synchronization

private nonisolated(unsafe) let reached: UnsafeMutablePointer<Atomic<Bool>> = {
  let flags = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: COUNT)
  for number in 0 ..< COUNT { (flags + number).initialize(to: Atomic(false)) }
  guard ProcessInfo.processInfo.environment["MUTANTS_REACHED"] != nil else { return flags }
  atexit {
    guard let path = ProcessInfo.processInfo.environment["MUTANTS_REACHED"], let file = fopen(path, "a") else { return }
    for number in 0 ..< COUNT where reached[number].load(ordering: .relaxed) { fputs("\\(number)\\n", file) }
    fclose(file)
  }
  return flags
}()

@usableFromInline
let activeMutant = ProcessInfo.processInfo.environment["MUTANT"].flatMap { Int($0) } ?? 0

/// Returns whether fault `number` is active.
@usableFromInline
func mutant(_ number: Int) -> Bool {
  reached[number].store(true, ordering: .relaxed)
  return activeMutant == number
}
"""


class Copy:
    """A copy of the package whose sources contain mutants, each guarded by `mutant(NUMBER)`."""

    def __init__(self, name, flags=()):
        self.path = root / ".build-mutation" / name
        self.flags = list(flags)

    def write(self, edits, count):
        """Writes the package; `edits` maps files to their lines with mutants, whose numbers are less than `count`."""
        files = {}
        for folder in ("Sources", "Tests"):
            for path in (root / folder).rglob("*"):
                if path.is_file() and not any(part.startswith(".build") for part in path.parts):
                    files[str(path.relative_to(root))] = path.read_bytes()
        # The tests read the documentation.
        for pattern in ("*.md", "Package.swift", "docs/**/*", "Samples/**/*", ".ci/*"):
            for path in root.glob(pattern):
                if path.is_file() and not any(part.startswith(".build") for part in path.relative_to(root).parts):
                    files[str(path.relative_to(root))] = path.read_bytes()
        for name, lines in edits.items():
            files[name] = ("\n".join(lines) + "\n").encode()
            module = name.split("/")[1]
            files[f"Sources/{module}/MutantSwitch.swift"] = SWITCH.replace("COUNT", str(count)).encode()
        for path in list(self.path.rglob("*")) if self.path.exists() else []:
            name = path.relative_to(self.path)
            if path.is_file() and not name.parts[0].startswith(".build") and str(name) not in files:
                path.unlink()
        for name, text in files.items():
            target = self.path / name
            # Only if it differs, so that the build is incremental.
            if not target.exists() or target.read_bytes() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text)
            if (root / name).exists():
                shutil.copymode(root / name, target)

    def build(self):
        """Builds the tests. Returns the output of the compiler if it fails, otherwise nothing."""
        result = subprocess.run(
            ["swift", "build", "--build-tests", *self.flags], cwd=self.path, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        return result.stdout if result.returncode else None

    def run(self, tests, number, limit, reached=None):
        """Returns the exit code (None after a timeout), the seconds, the number of tests that ran, and the output."""
        binary = next((self.path / ".build" / "debug").glob("*PackageTests.xctest"))
        environment = dict(os.environ, MUTANT=str(number), NETLAYER_ROUNDS="3", SWIFT_BACKTRACE="enable=no")
        if reached:
            environment["MUTANTS_REACHED"] = str(reached)
        begun = time.monotonic()
        process = subprocess.Popen(
            [binary, ",".join(tests)], cwd=self.path, env=environment, text=True, errors="replace",
            start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            output, _ = process.communicate(timeout=limit)
            code = process.returncode
        except subprocess.TimeoutExpired:
            # The whole process group.
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            code = None
        counts = [int(count) for count in re.findall(r"Executed (\d+) test", output)]
        return code, time.monotonic() - begun, max(counts, default=0), output


def test_classes():
    """All test classes, as MODULE.CLASS, each with its file."""
    classes = {}
    for path in sorted((root / "Tests").glob("*Tests/**/*.swift")):
        module = path.relative_to(root / "Tests").parts[0]
        for name in re.findall(r"\bclass (\w+)", path.read_text()):
            classes[f"{module}.{name}"] = path
    return classes
