#!/bin/sh
# Tries the package for Debian in a copy of this system that vanishes afterwards: it is installed, runs under its unit,
# is reloaded and restarted, and is purged. As root, with systemd-container and curl: try-deb.sh PACKAGE
set -eu
package=$(realpath "$1")
base=$(mktemp -d -p /dev/shm)
root=$base/root
mkdir "$base/upper" "$base/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$root"
trap 'umount "$root"; rm -rf "$base"' EXIT
mkdir -p "$root/opt/try"
cp "$package" "$root/opt/try/portolan.deb"
# Policies of containers that start no service do not concern this one.
rm -f "$root/usr/sbin/policy-rc.d"

cat > "$root/opt/try/inside.sh" << 'INSIDE'
#!/bin/sh
set -eux
ready() {
    for _ in $(seq 120); do
        curl -sf http://127.0.0.1:8081/readyz && return
        sleep 1
    done
    journalctl -u portolan --no-pager -n 30
    exit 1
}
as_portolan() {
    (cd /etc/portolan && setpriv --reuid=portolan --regid=portolan --clear-groups "$@")
}
dpkg -i /opt/try/portolan.deb
ready
systemd-analyze security portolan --no-pager --threshold=20
process=$(systemctl show -p MainPID --value portolan)
grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$process/status"
as_portolan portolan doctor
as_portolan portolan config check
systemctl reload portolan
sleep 1
test "$process" = "$(systemctl show -p MainPID --value portolan)"
systemctl restart portolan
ready
as_portolan portolan doctor
dpkg -i /opt/try/portolan.deb
ready
dpkg --purge portolan
test ! -e /var/lib/portolan && test ! -e /etc/portolan
if systemctl is-active --quiet portolan || getent passwd portolan; then exit 1; fi
echo done > /opt/try/result
INSIDE
cat > "$root/etc/systemd/system/try.service" << 'UNIT'
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sh /opt/try/inside.sh > /opt/try/log 2>&1; systemctl poweroff --force'
[Install]
WantedBy=multi-user.target
UNIT
ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"
timeout 300 systemd-nspawn --directory="$root" --boot --register=no --keep-unit --private-network \
    > /dev/null 2>&1 < /dev/null || true
cat "$root/opt/try/log"
test -e "$root/opt/try/result"
echo "the package installs, runs and purges"
