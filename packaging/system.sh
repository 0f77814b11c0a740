#!/bin/sh
# System libraries that Qt's wheels need and do not carry. Installs what is missing where it may
# (Debian and Ubuntu, as root or with sudo that asks nothing); else names it and goes on.
#   packaging/system.sh window    libraries of a Qt window, fonts with Chinese
#   packaging/system.sh display   a virtual display
#   packaging/system.sh docker    a Docker engine for the tests, started if none answers; where none
#                                 can run it says why and the tests that need one are skipped
set -eu
[ "$(uname)" = Linux ] || exit 0
set -- "${1:-window}"
case "$1" in
window) want="libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libxcb-cursor0
  libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 fonts-dejavu-core fonts-inter
  fonts-jetbrains-mono fonts-noto-cjk" ;;
display) want="xvfb" ;;
docker)
  if docker version >/dev/null 2>&1; then exit 0; fi
  command -v dockerd >/dev/null 2>&1 && want="" || want="docker.io cgroupfs-mount" ;;
*) echo "usage: $0 window|display|docker" >&2; exit 2 ;;
esac
if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "· not a Debian system: if the window does not open, install what these Debian packages hold:" $want
  exit 0
fi
missing=""
for package in $want; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing="$missing $package"
done
[ -n "$missing$([ "$1" = docker ] && echo start)" ] || exit 0
if [ "$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo -n"; else
  echo "· please install${missing:- and start docker}:  sudo apt-get install$missing"
  exit 0
fi
if [ -n "$missing" ]; then
  echo "· installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  $as apt-get update -qq
  $as apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
[ "$1" = docker ] || exit 0
echo "· starting a Docker engine for the tests (log: build/dockerd.log)"
mkdir -p build
$as cgroupfs-mount 2>/dev/null || true
# In a session of its own and with no inherited descriptor: it outlives this command.
setsid $as dockerd >build/dockerd.log 2>&1 </dev/null &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  sleep 0.5
  docker version >/dev/null 2>&1 && exit 0
done
echo "· no Docker engine can run here; the tests that need one are skipped:"
tail -n 3 build/dockerd.log
