# The functions that the scripts of this folder share. Each script starts its servers with `serve`, and runs the client of
# Sources/Clients with `client`. Set CLIENTS to the path of a built client to skip the build.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../../.." && pwd)
folder=$repository/.build-servers
name=$(basename "$0")
libraries=$folder/debian/usr/lib/x86_64-linux-gnu
mkdir -p "$folder"

skip() { echo "skipped: $name: $*"; exit 0; }
die() { echo "FAIL  $name: $*"; exit 1; }

work=$(mktemp -d)
chmod 755 "$work"
cleanup() {
  local file
  for file in "$work"/*.stop; do [ ! -e "$file" ] || "$file"; done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# debian PROGRAM PACKAGE…: unpacks packages of Debian without installing them, because an installed server starts on all
# interfaces.
debian() {
  local program=$folder/debian/$1 package
  shift
  command -v apt-get > /dev/null && command -v dpkg > /dev/null || skip "needs apt-get and dpkg for Debian's package $1"
  for package in "$@"; do
    [ ! -e "$folder/debian/.$package" ] || continue
    mkdir -p "$folder/debian" "$work/deb"
    (cd "$work/deb" && timeout 300 apt-get -qq download "$package" && dpkg -x "$package"_*.deb "$folder/debian") \
      > "$work/apt.log" 2>&1 || skip "the package $package can't be fetched: $(tail -n 1 "$work/apt.log")"
    touch "$folder/debian/.$package"
  done
  ! LD_LIBRARY_PATH=$libraries ldd "$program" 2> /dev/null | grep 'not found' > "$work/ldd.log" \
    || skip "$program needs $(awk '{ print $1 }' "$work/ldd.log" | xargs), which is not installed"
}

# pypi ENVIRONMENT MODULE PACKAGE…: makes a virtual environment with packages of PyPI, and sets `python`.
pypi() {
  local environment=$folder/$1 module=$2
  shift 2
  python=$environment/bin/python
  ! "$python" -c "import $module" 2> /dev/null || return 0
  python3 -m venv "$environment" > "$work/pip.log" 2>&1 || skip "python3 can't make a virtual environment; install python3-venv"
  timeout 900 "$python" -m pip install --quiet --prefer-binary --disable-pip-version-check "$@" > "$work/pip.log" 2>&1 \
    || skip "$1 can't be installed from PyPI: $(grep -v notice "$work/pip.log" | tail -n 1)"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# serve SERVER PORT COMMAND…: starts a server and waits until it listens on 127.0.0.1. Writes SERVER.start, SERVER.kill and
# SERVER.stop, so that a client can end and restart it.
serve() {
  local server=$1 port=$2
  shift 2
  local pid=$work/$server.pid
  {
    echo '#!/usr/bin/env bash'
    printf 'cd %q; export LD_LIBRARY_PATH=%q PYTHONDONTWRITEBYTECODE=1\n' "$work" "$libraries"
    # Foundation's Process waits until every process has closed the descriptors that it has opened.
    echo 'for each in /proc/$$/fd/*; do each=${each##*/}; case $each in [012] | 255) ;; *) eval "exec $each>&-" ;; esac; done'
    # A session of its own, so that the processes that a server has started end with it.
    printf 'setsid '
    printf '%q ' "$@"
    printf '>> %q 2>&1 < /dev/null &\necho $! > %q\n' "$work/$server.log" "$pid"
    printf 'for _ in {1..600}; do\n  (exec 3<> /dev/tcp/127.0.0.1/%q) 2> /dev/null && exit 0\n' "$port"
    printf '  kill -0 "$(cat %q)" 2> /dev/null || exit 1\n  sleep 0.1\ndone\nexit 1\n' "$pid"
  } > "$work/$server.start"
  printf '#!/usr/bin/env bash\npid=$(cat %q); kill -KILL -- "-$pid" 2> /dev/null\n' "$pid" > "$work/$server.kill"
  echo 'while kill -0 -- "-$pid" 2> /dev/null; do sleep 0.05; done' >> "$work/$server.kill"
  printf '#!/usr/bin/env bash\npid=$(cat %q) || exit 0; kill -- "-$pid" 2> /dev/null\n' "$pid" > "$work/$server.stop"
  echo 'for _ in {1..30}; do kill -0 -- "-$pid" 2> /dev/null || exit 0; sleep 0.1; done; kill -KILL -- "-$pid"' >> "$work/$server.stop"
  chmod +x "$work/$server".*
  "$work/$server.start" || die "$server did not start: $(tail -q -n 3 "$work/$server".*log)"
}

# certificate NAME SUBJECT-ALTERNATIVE-NAMES: makes ca.pem, and NAME.pem and NAME.key signed by it.
certificate() {
  command -v openssl > /dev/null || skip "needs openssl for a certificate"
  {
    [ -e "$work/ca.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -subj '/CN=Servers CA' -days 2 \
      -addext keyUsage=critical,keyCertSign -keyout "$work/ca.key" -out "$work/ca.pem"
    openssl req -new -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.csr" \
      && openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 2 \
        -extfile <(echo "subjectAltName=$2") -out "$work/$1.pem"
  } > "$work/openssl.out" 2>&1 || die "openssl could not create a certificate: $(tail -n 1 "$work/openssl.out")"
}

# reference ARGUMENT…: writes reference.json, what `requests` gets for the calls of reference.py. Requires `pypi`.
reference() {
  "$python" "$here/reference.py" "$@" > "$work/reference.json" 2> "$work/reference.log" \
    || die "reference.py ended with an error: $(tail -n 1 "$work/reference.log")"
}

# client CLIENT ARGUMENT…: runs a client of Sources/Clients, which prints a line for each check.
failed=0
client() {
  if [ -z "${CLIENTS:-}" ]; then
    swift build --package-path "$here" --scratch-path "$folder/swift" > "$folder/build.log" 2>&1 \
      || die "Clients does not build; see $folder/build.log"
    CLIENTS=$(swift build --package-path "$here" --scratch-path "$folder/swift" --show-bin-path)/Clients
  fi
  SERVERS_WORK=$work timeout 120 "$CLIENTS" "$@" || {
    echo "FAIL  $name: the client $1 ended with $?; the ends of the logs:"
    failed=1
    tail -q -n 5 "$work"/*.log | sed 's/^/      /'
  }
}

# finish VERSION: prints what was tested, and ends the script.
finish() {
  echo "== $name: $*"
  exit $failed
}
