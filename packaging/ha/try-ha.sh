#!/bin/sh
# Runs three databases with high availability on this machine, to try it: etcd, Patroni with PostgreSQL three times, and
# HAProxy, configured by the files beside this script. Needs Debian's patroni, etcd-server, haproxy and postgresql.
# Prints the URL of the database behind HAProxy. Then it does what its standard input says, and answers each line by one
# line: `primary` prints which database is the primary, `kill` kills it and its Patroni and prints which that was, `start`
# starts those again, `whole` waits until one primary and two followers run. At the end of the input, everything is
# stopped and removed. Logs are in the folder that the variable HA_LOGS names, if it is set.
set -eu
here=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
if [ "$(id -u)" = 0 ]; then
    # PostgreSQL refuses to run as root.
    as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
    chown nobody:nogroup "$folder"
else
    as=
fi
logs=${HA_LOGS:-$folder}
for found in /usr/lib/postgresql/*/bin; do programs=$found; done
PATH=$PATH:/usr/sbin
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
ports=$(/usr/bin/python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(9)]
print(*(socket.getsockname()[1] for socket in sockets))')
# shellcheck disable=SC2086 # They are nine numbers.
set -- $ports
etcd_port=$1 peer_port=$2 port=$3
port_1=$4 port_2=$5 port_3=$6
rest_1=$7 rest_2=$8 rest_3=$9

port_of() { eval "echo \"\$port_$1\""; }
rest_of() { eval "echo \"\$rest_$1\""; }

# Starts Patroni number $1, which starts its database.
start_patroni() {
    # shellcheck disable=SC2086 # It is a command, or nothing.
    $as patroni "$folder/patroni-$1.yml" >> "$logs/patroni-$1.log" 2>&1 &
    eval "patroni_$1=$!"
}

# Prints the number of the primary; fails if there is none.
primary() {
    for number in 1 2 3; do
        if curl -sf -m 2 -o /dev/null "http://127.0.0.1:$(rest_of "$number")/primary"; then
            echo "$number"
            return
        fi
    done
    return 1
}

# Waits up to $1 seconds until the command in the other arguments succeeds.
wait_for() {
    turns=$(($1 * 5))
    shift
    while ! "$@" > /dev/null 2>&1; do
        turns=$((turns - 1))
        if [ $turns = 0 ]; then
            echo "in vain: $*" >&2
            exit 1
        fi
        sleep 0.2
    done
}

# Succeeds if one database is the primary, and two follow it, one of them synchronously.
is_whole() {
    leading=$(primary) || return 1
    followers=$(PGPASSWORD=$password PGCONNECT_TIMEOUT=2 psql -Atqc \
        "SELECT count(*) || ' ' || count(*) FILTER (WHERE sync_state = 'sync') FROM pg_stat_replication WHERE state = 'streaming'" \
        "postgres://postgres@127.0.0.1:$(port_of "$leading")/postgres")
    [ "$followers" = '2 1' ]
}

# Succeeds if HAProxy leads to a database that accepts writes.
is_reachable() {
    test "$(PGPASSWORD=$password PGCONNECT_TIMEOUT=2 psql -Atqc 'SELECT pg_is_in_recovery()' \
        "postgres://postgres@127.0.0.1:$port/postgres")" = f
}

# Kills these processes and their children at once, as a power loss does, and waits until they are gone.
kill_all() {
    doomed=
    for process in "$@"; do
        doomed="$doomed $process $(cat "/proc/$process/task/$process/children" 2> /dev/null || true)"
    done
    # shellcheck disable=SC2086 # They are numbers of processes, some of which may have ended.
    kill -KILL $doomed 2> /dev/null || true
    for process in $doomed; do
        # Those that nobody has waited for yet have no program.
        while [ -e "/proc/$process/exe" ]; do sleep 0.02; done
    done
}

# Prints the number of the process of database number $1; fails if there is none.
database_process() { head -n 1 "$folder/data-$1/postmaster.pid" 2> /dev/null; }

stop() {
    for number in 1 2 3; do
        eval "patroni=\${patroni_$number:-}"
        [ -z "$patroni" ] || kill_all "$patroni"
        ! database=$(database_process "$number") || kill_all "$database"
    done
    [ -z "${haproxy:-}" ] || kill_all "$haproxy"
    [ -z "${etcd:-}" ] || kill_all "$etcd"
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' INT TERM

etcd_url=http://127.0.0.1:$etcd_port
peer_url=http://127.0.0.1:$peer_port
# shellcheck disable=SC2086 # It is a command, or nothing.
$as etcd --name one --data-dir "$folder/etcd" --enable-v2=false \
    --listen-client-urls "$etcd_url" --advertise-client-urls "$etcd_url" \
    --listen-peer-urls "$peer_url" --initial-advertise-peer-urls "$peer_url" \
    --initial-cluster "one=$peer_url" >> "$logs/etcd.log" 2>&1 &
etcd=$!
wait_for 30 curl -sf "$etcd_url/health"
for number in 1 2 3; do
    sed -e "s|@NAME@|database-$number|; s|@ADDRESS@|127.0.0.1|g; s|@NETWORK@|127.0.0.1/32|" \
        -e "s|@PORT@|$(port_of "$number")|; s|@REST_PORT@|$(rest_of "$number")|" \
        -e "s|@ETCD@|127.0.0.1:$etcd_port|; s|@PASSWORD@|$password|" \
        -e "s|@DATA@|$folder/data-$number|; s|@PROGRAMS@|$programs|" \
        "$here/patroni.yml" > "$folder/patroni-$number.yml"
    start_patroni "$number"
done
sed -e "s|@LISTEN@|127.0.0.1:$port|; s|@ADDRESS_.@|127.0.0.1|" \
    -e "s|@PORT_1@|$port_1|; s|@PORT_2@|$port_2|; s|@PORT_3@|$port_3|" \
    -e "s|@REST_PORT_1@|$rest_1|; s|@REST_PORT_2@|$rest_2|; s|@REST_PORT_3@|$rest_3|" \
    "$here/haproxy.cfg" > "$folder/haproxy.cfg"
# shellcheck disable=SC2086 # It is a command, or nothing.
$as haproxy -db -f "$folder/haproxy.cfg" >> "$logs/haproxy.log" 2>&1 &
haproxy=$!
wait_for 120 is_whole
wait_for 30 is_reachable
PGPASSWORD=$password psql -qv ON_ERROR_STOP=1 "postgres://postgres@127.0.0.1:$port/postgres" << SQL
CREATE ROLE portolan LOGIN PASSWORD '$password';
CREATE DATABASE portolan OWNER portolan;
SQL
echo "postgres://portolan:$password@127.0.0.1:$port/portolan"

killed=
while read -r order; do
    case $order in
    primary) primary || echo none ;;
    kill)
        wait_for 60 primary
        killed=$(primary)
        eval "patroni=\$patroni_$killed"
        # Patroni goes too, so its lock stays until that expires.
        # shellcheck disable=SC2154 # eval sets it.
        kill_all "$patroni" "$(database_process "$killed")"
        echo "$killed"
        ;;
    start)
        start_patroni "$killed"
        echo "$killed"
        ;;
    whole)
        wait_for 120 is_whole
        echo whole
        ;;
    *) echo "unknown: $order" ;;
    esac
done
