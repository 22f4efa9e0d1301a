#!/bin/sh
# Tries the image without a container engine: read-only, as nobody, with /data as the only place to write.
# As root, with curl: try-image.sh dist/image
set -eu
image=$(realpath "$1")
# An engine gives the folders below `writable` to the image's user.
grep -qxF 'COPY --chown=65534:65534 writable/ /' "$image/Containerfile"
root=$(mktemp -d)
trap 'rmdir "$root"' EXIT
export image root
# The mounts and processes vanish with their namespaces.
unshare --mount --pid --fork --kill-child --mount-proc sh -eu << 'INSIDE'
mount -t overlay overlay -o "ro,lowerdir=$image/writable:$image/root" "$root"
mount -t tmpfs -o mode=0700,uid=65534,gid=65534 tmpfs "$root/data"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cd /
env -i PATH="$PATH" PORTOLAN_DATA_DIR=/data/portolan PORTOLAN_CATALOG_DIR=/catalog SQLITE_TMPDIR=/data \
    PORTOLAN_LISTEN=127.0.0.1:18080 PORTOLAN_ADMIN_LISTEN=127.0.0.1:18081 \
    chroot --userspec=65534:65534 "$root" /usr/bin/portolan serve &
host=$!
for _ in $(seq 300); do
    curl -sf http://127.0.0.1:18081/readyz && break
    sleep 1
done
grep -E '^(Uid|CapEff):' "/proc/$host/status"
curl -sf http://127.0.0.1:18080/v1/capabilities > /dev/null
if touch "$root/file" 2> /dev/null; then exit 1; fi
kill "$host"
wait "$host"
echo "the image runs read-only as nobody, and stops"
INSIDE
