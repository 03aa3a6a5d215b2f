"""Reads the compiler's index of a debug build with libIndexStore: every definition and every use of a symbol, also of members."""
import collections, ctypes, pathlib, shutil, subprocess

# The index of another version may have other symbols, and a cycle of another size.
TOOLCHAIN = "6.3"
STORE = pathlib.Path(".build/debug/index/store")
RECORD = 2  # INDEXSTORE_UNIT_DEPENDENCY_RECORD
DEFINES = 3  # INDEXSTORE_SYMBOL_ROLE_DECLARATION | INDEXSTORE_SYMBOL_ROLE_DEFINITION

Use = collections.namedtuple("Use", "file name target line")


class Unavailable(Exception):
    """The reason why there is no index."""


class Text(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("count", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.bytes, self.count).decode() if self.count else ""


def load():
    swift = shutil.which("swift")
    version = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout if swift else ""
    if f"Swift version {TOOLCHAIN}" not in version:
        raise Unavailable(f"requires Swift {TOOLCHAIN}")
    if not STORE.exists():
        raise Unavailable(f"{STORE} does not exist; run swift build --build-tests")
    libraries = sorted((pathlib.Path(swift).resolve().parent.parent / "lib").glob("libIndexStore.*"))
    if not libraries:
        raise Unavailable("this toolchain has no libIndexStore")
    library = ctypes.CDLL(str(libraries[0]))

    def function(name, result, *arguments):
        found = getattr(library, f"indexstore_{name}")
        found.restype, found.argtypes = result, arguments
        return found

    return function


def uses(root):
    """Returns each use, in a file below `root`, of a symbol that another file below `root` defines. Skips units of removed files."""
    function, pointer = load(), ctypes.c_void_p
    each_text, each = ctypes.CFUNCTYPE(ctypes.c_bool, pointer, Text), ctypes.CFUNCTYPE(ctypes.c_bool, pointer, pointer)
    failure = ctypes.byref(pointer())
    units = function("store_units_apply_f", ctypes.c_bool, pointer, ctypes.c_uint, pointer, each_text)
    open_unit = function("unit_reader_create", pointer, pointer, ctypes.c_char_p, pointer)
    close_unit = function("unit_reader_dispose", None, pointer)
    main_file = function("unit_reader_get_main_file", Text, pointer)
    dependencies = function("unit_reader_dependencies_apply_f", ctypes.c_bool, pointer, pointer, each)
    kind = function("unit_dependency_get_kind", ctypes.c_uint, pointer)
    record_name = function("unit_dependency_get_name", Text, pointer)
    record_file = function("unit_dependency_get_filepath", Text, pointer)
    open_record = function("record_reader_create", pointer, pointer, ctypes.c_char_p, pointer)
    close_record = function("record_reader_dispose", None, pointer)
    occurrences = function("record_reader_occurrences_apply_f", ctypes.c_bool, pointer, pointer, each)
    symbol = function("occurrence_get_symbol", pointer, pointer)
    roles = function("occurrence_get_roles", ctypes.c_uint64, pointer)
    place = function("occurrence_get_line_col", None, pointer, *[ctypes.POINTER(ctypes.c_uint)] * 2)
    identifier = function("symbol_get_usr", Text, pointer)
    name_of = function("symbol_get_name", Text, pointer)
    store = function("store_create", pointer, ctypes.c_char_p, pointer)(str(STORE).encode(), failure)
    if not store:
        raise Unavailable(f"{STORE} can't be read")

    names, records = [], {}
    units(store, 0, None, each_text(lambda _, unit: names.append(str(unit)) or True))
    for unit in names:
        reader = open_unit(store, unit.encode(), failure)
        path = pathlib.Path(str(main_file(reader)))
        if path.is_relative_to(root) and path.exists():
            def note(_, dependency):
                if kind(dependency) == RECORD and str(record_file(dependency)) == str(path):
                    records[path] = str(record_name(dependency))
                return True
            dependencies(reader, None, each(note))
        close_unit(reader)

    homes, found = {}, []
    line, column = ctypes.c_uint(), ctypes.c_uint()
    for path, record in sorted(records.items()):
        def note(_, occurrence):
            used = symbol(occurrence)
            key = str(identifier(used))
            if roles(occurrence) & DEFINES:
                homes.setdefault(key, path)
            else:
                place(occurrence, line, column)
                found.append((path, key, str(name_of(used)), line.value))
            return True
        reader = open_record(store, record.encode(), failure)
        occurrences(reader, None, each(note))
        close_record(reader)
    return [Use(path, name, homes[key], number) for path, key, name, number in found if homes.get(key, path) != path]
