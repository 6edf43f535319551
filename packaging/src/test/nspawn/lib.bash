# What scenarios share. Each starts with: . /scenarios/lib.bash
set -euo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND"' ERR

fail() { printf 'failed: %s\n' "$*"; exit 1; }

# Waits until a command succeeds. $1: seconds at most
await() {
  local seconds=$1 until
  shift
  until=$(( SECONDS + seconds ))
  until "$@" > /dev/null 2>&1; do
    (( SECONDS < until )) || fail "not within $seconds s: $*"
    sleep 0.05
  done
}

equal() { [[ $1 == "$2" ]] || fail "$3: expected '$1', was '$2'"; }

property() { systemctl show --value -p "$1" tidegate.service; }
main_pid() { property MainPID; }

package=$(echo /packages/tidegate_*.deb)

install_package() {
  dpkg -i "${1:-$package}" > /out/dpkg 2>&1 || { cat /out/dpkg; fail 'dpkg -i'; }
}

# The package, with echoing servers where the shipped configuration looks for them.
with_endpoints() {
  install_package
  python3 /scenarios/load.py serve 8081 8082 &
  systemctl start tidegate.service
  await 20 ready
}

# Makes /tmp/next.deb: the package again, as the next version.
make_next() {
  dpkg-deb -R "$package" /tmp/next
  sed -i "s/^Version: .*/Version: $(dpkg-query -W -f '${Version}' tidegate)+next/" /tmp/next/DEBIAN/control
  dpkg-deb -b -Znone --root-owner-group /tmp/next /tmp/next.deb > /out/dpkg
  rm -r /tmp/next
}

ready() { curl -sf -o /dev/null --unix-socket /run/tidegate/admin.sock http://localhost/readyz; }

admin() { curl -sf --unix-socket /run/tidegate/admin.sock "http://localhost$1"; }

# A figure of the frontend, 0 while there is none.
metric() { admin /metrics | awk -v name="tidegate_$1{frontend=\"edge\"}" '$1 == name { value = $2 } END { printf "%d", value }'; }
