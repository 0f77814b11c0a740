#!/bin/sh
# System libraries that Qt's wheels need and do not carry. Installs what is missing where it may
# (Debian and Ubuntu, as root or with sudo that asks nothing); else names it and goes on.
#   packaging/system.sh window    libraries of a Qt window, fonts with Chinese
#   packaging/system.sh display   a virtual display
set -eu
[ "$(uname)" = Linux ] || exit 0
case "${1:-window}" in
window) want="libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libxcb-cursor0
  libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 fonts-dejavu-core fonts-inter
  fonts-jetbrains-mono fonts-noto-cjk" ;;
display) want="xvfb" ;;
*) echo "usage: $0 window|display" >&2; exit 2 ;;
esac
if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "· not a Debian system: if the window does not open, install what these Debian packages hold:" $want
  exit 0
fi
missing=""
for package in $want; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo -n"; else
  echo "· please install:  sudo apt-get install$missing"
  exit 0
fi
echo "· installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as apt-get update -qq
$as apt-get install -y -qq --no-install-recommends $missing >/dev/null
