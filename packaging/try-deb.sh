#!/bin/sh
# Tries the package for Debian in a copy of this system that vanishes afterwards: it is installed, runs under its unit,
# is reloaded and restarted, the runbooks of its documentation are followed, and it is purged. As root, with
# systemd-container and curl: try-deb.sh PACKAGE
set -eu
package=$(realpath "$1")
base=$(mktemp -d -p /dev/shm)
root=$base/root
mkdir "$base/upper" "$base/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$root"
trap 'umount "$root"; rm -rf "$base"' EXIT
mkdir -p "$root/opt/try" "$root/opt/portolan"
cp "$package" "$root/opt/try/portolan.deb"
cp "$package" "$root/opt/portolan/portolan.deb"
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
# Runs the commands of a runbook as the package's documentation has them.
follow() {
    dpkg-deb --fsys-tarfile /opt/try/portolan.deb | tar -xO ./usr/share/doc/portolan/operations.md > /opt/try/operations.md
    sed -n "/^### $1\$/,/^\`\`\`\$/p" /opt/try/operations.md | sed '1,/^```sh$/d; /^```$/d; s/^apt install/dpkg -i/' \
        > /opt/try/runbook.sh
    test -s /opt/try/runbook.sh
    sh -eux /opt/try/runbook.sh
    ready
}
state=/var/lib/portolan
environment=/etc/portolan/environment
follow Install
test "$(stat -c '%a %U' /opt/portolan/secret.keys.copy)" = '600 root'
test "$(stat -c '%a %U' "$environment")" = '600 root'
systemd-analyze security portolan --no-pager --threshold=20
process=$(systemctl show -p MainPID --value portolan)
grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$process/status"
portolan-admin doctor
portolan-admin config check
# Arguments arrive as they are given.
if portolan-admin '$HOME ${HOME} 5$' 2> /opt/try/refused; then exit 1; fi
grep -F '$HOME ${HOME} 5$' /opt/try/refused
systemctl reload portolan
sleep 1
test "$process" = "$(systemctl show -p MainPID --value portolan)"
systemctl restart portolan
ready
portolan-admin doctor
dpkg -i /opt/try/portolan.deb
ready

follow Upgrade
test -s "$state/before-upgrade.db"
cp "$state/before-upgrade.db" /opt/portolan/backup.db
follow Restore
test -e "$state/data/portolan.db.before-1"
mv "$state/data/secret.keys" /opt/portolan/secret.keys.copy
chown root:root /opt/portolan/secret.keys.copy
follow 'Lost key'
test "$(stat -c '%a %U' "$state/data/secret.keys")" = '600 portolan'
follow 'Full disk'

# The commands use the database that the service uses, and make no other.
systemctl stop portolan
mv "$state/data/portolan.db" /opt/try/portolan.db
echo 'PORTOLAN_DATABASE_URL=postgres://nobody:secret@127.0.0.1:1/none' > "$environment"
test "$(stat -c '%a %U' "$environment")" = '600 root'
if portolan-admin migrate; then exit 1; fi
if portolan-admin doctor > /opt/try/doctor; then exit 1; fi
grep '^error: database' /opt/try/doctor
test ! -e "$state/data/portolan.db"
: > "$environment"
mv /opt/try/portolan.db "$state/data/portolan.db"
systemctl start portolan
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
timeout 600 systemd-nspawn --directory="$root" --boot --register=no --keep-unit --private-network \
    > /dev/null 2>&1 < /dev/null || true
cat "$root/opt/try/log"
test -e "$root/opt/try/result"
echo "the package installs, runs and purges"
