#!/bin/sh
# Registers an agent at a Portolan host and stores its credentials on this machine.
# Needs curl or wget. Writes one file and nothing else; run it with --help or --dry-run first.
set -eu

# The host writes its own address here when it serves the script.
BASE_URL='{{public_url}}'

usage() {
    cat <<EOF
Registers an agent at $BASE_URL
and writes its credentials to \${XDG_CONFIG_HOME:-\$HOME/.config}/portolan/credentials.json.

Usage: install.sh [options]
       curl -fsSL $BASE_URL/v1/install/install.sh | sh -s -- [options]

  --name NAME   what the agent is called; the person who claims it reads this
  --force       register again and replace the credentials that are there
  --dry-run     say what would be done; send nothing and change nothing
  --uninstall   remove the credentials
  --help        this text
EOF
}

say() {
    printf '%s\n' "$1"
}

# Ends with an error. Arguments: the error, and its fix.
fail() {
    printf 'install.sh: %s\n' "$1" >&2
    printf '  to fix it: %s\n' "$2" >&2
    exit 1
}

misused() {
    printf 'install.sh: %s\n\n' "$1" >&2
    usage >&2
    exit 2
}

read_options() {
    name='installed agent'
    force=no
    dry_run=no
    uninstall=no
    while [ $# -gt 0 ]; do
        case $1 in
            --name)
                [ $# -ge 2 ] || misused '--name needs a name'
                name=$2
                shift
                ;;
            --name=*) name=${1#--name=} ;;
            --force) force=yes ;;
            --dry-run) dry_run=yes ;;
            --uninstall) uninstall=yes ;;
            --help | -h)
                usage
                exit 0
                ;;
            *) misused "there is no option $1" ;;
        esac
        shift
    done
    case $name in
        '' | *[[:cntrl:]]*) misused '--name needs a name of visible characters' ;;
    esac
}

# The XDG base directory specification: a folder that is not absolute counts as not set.
find_folder() {
    case ${XDG_CONFIG_HOME:-} in
        /*) folder=$XDG_CONFIG_HOME/portolan ;;
        *)
            case ${HOME:-} in
                /*) folder=$HOME/.config/portolan ;;
                *) fail 'there is no home folder' 'set HOME or XDG_CONFIG_HOME to an absolute path' ;;
            esac
            ;;
    esac
    file=$folder/credentials.json
}

# Prints the value of a field of a JSON object. Ids and keys need no unescaping.
json_field() {
    # shellcheck disable=SC2020 # Each of the three characters ends a line.
    tr ',{}' '\n\n\n' |
        sed -n 's/^[[:space:]]*"'"$1"'"[[:space:]]*:[[:space:]]*"\([^"\\]*\)"[[:space:]]*$/\1/p' |
        sed 1q
}

json_string() {
    printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

# Quotes a text as one word of a shell command.
shell_word() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

there() {
    [ -e "$file" ] || [ -L "$file" ]
}

remove() {
    if ! there; then
        say "nothing to remove: there is no $file"
        return
    fi
    agent_id=$(json_field agent_id <"$file" 2>/dev/null) || agent_id=
    if [ "$dry_run" = yes ]; then
        say "would remove $file"
        say 'nothing was changed'
        return
    fi
    rm -f "$file" 2>/dev/null ||
        fail "$file cannot be removed" 'run this as the user it belongs to'
    rmdir "$folder" 2>/dev/null || :
    say "removed $file"
    say "The agent ${agent_id:-of that file} is still registered at the host. If a person has claimed it,"
    say 'another of their agents can revoke it with the action revoke_agent of the capability owners.'
}

rehearse() {
    say "would register an agent called $(json_string "$name") at $BASE_URL"
    if there; then
        say "would replace $file"
    else
        say "would write $file, which only you can read"
    fi
    say 'nothing was sent and nothing was changed'
}

# Creates a temporary folder next to the file, so that the file can be renamed into place.
make_work_folder() {
    work=$folder/.install.$$
    { mkdir -p "$folder" && mkdir "$work"; } 2>/dev/null ||
        fail "$folder cannot be written" 'make it writable, or set XDG_CONFIG_HOME to a folder that is'
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
}

# Sends a request. Sets $status, and writes the answer to $work/answer and errors to $work/trouble.
post() {
    status=
    : >"$work/answer"
    if command -v curl >/dev/null 2>&1; then
        status=$(curl --silent --show-error --max-time 30 --output "$work/answer" \
            --write-out '%{http_code}' --header 'Content-Type: application/json' \
            --data-binary "@$work/body" "$1" 2>"$work/trouble") || status=
    elif command -v wget >/dev/null 2>&1; then
        # Only GNU wget has this option. Other wgets print no body of a refusal.
        if wget --help 2>&1 | grep -q -e --content-on-error; then
            set -- --content-on-error --tries=1 --timeout=30 "$1"
        fi
        wget -S -O "$work/answer" --header 'Content-Type: application/json' \
            --post-data "$(cat "$work/body")" "$@" 2>"$work/trouble" || :
        status=$(sed -n 's/.*HTTP\/[0-9.]* \([0-9][0-9][0-9]\).*/\1/p' "$work/trouble" | sed -n '$p')
    else
        fail 'there is neither curl nor wget' 'install one of them'
    fi
}

register() {
    install_id=$(od -A n -N 16 -t x1 /dev/urandom | tr -d ' \n')
    printf '{"type":"anonymous","agent_name":%s,"software_id":"portolan-install","install_id":"%s"}' \
        "$(json_string "$name")" "$install_id" >"$work/body"
    post "$BASE_URL/v1/agents/register"
    case $status in
        200) ;;
        429) refused 'too many registrations' ;;
        '' | 000)
            fail "$BASE_URL does not answer: $(sed -n '$p' "$work/trouble" | tr -d '[:cntrl:]')" \
                'check the address and the network, then try again'
            ;;
        *) refused "the registration was refused with status $status" ;;
    esac
    agent_id=$(json_field agent_id <"$work/answer")
    client_id=$(json_field client_id <"$work/answer")
    client_key=$(json_field client_key <"$work/answer")
    if [ -z "$agent_id" ] || [ -z "$client_id" ] || [ -z "$client_key" ]; then
        fail "$BASE_URL did not answer as a Portolan host does" \
            'check the address; a proxy may have answered in its place'
    fi
}

# Ends with the host's refusal, and with the time of a retry if the host names one.
refused() {
    code=$(json_field error_code <"$work/answer")
    message=$(sed -n 's/.*"message"[[:space:]]*:[[:space:]]*"\([^"\\]*\).*/\1/p' "$work/answer" |
        sed 1q | tr -d '[:cntrl:]')
    wait_s=$(sed -n 's/.*"after_s"[[:space:]]*:[[:space:]]*\([0-9][0-9]*\).*/\1/p' "$work/answer" |
        sed 1q)
    said="${code:+ ($code)}${message:+: $message}"
    if [ -n "$wait_s" ]; then
        fail "$1$said" "try again in $wait_s seconds"
    elif [ "$status" = 429 ]; then
        fail "$1$said" 'try again in an hour'
    fi
    fail "$1$said" 'change what the message names, or ask whoever operates the host'
}

# The client key replaces the client's secret, which is not stored.
keep_credentials() {
    {
        printf '{\n'
        printf '  "base_url": %s,\n' "$(json_string "$BASE_URL")"
        printf '  "agent_id": "%s",\n' "$agent_id"
        printf '  "client_id": "%s",\n' "$client_id"
        printf '  "client_key": "%s"\n' "$client_key"
        printf '}\n'
    } >"$work/credentials.json" ||
        fail "$folder cannot be written" 'make room on the disk'
    mv -f "$work/credentials.json" "$file" ||
        fail "$file cannot be written" 'remove what is in its place'
}

tell_what_next() {
    say "registered $agent_id at $BASE_URL"
    say "credentials are in $file, which only you can read"
    cat <<EOF

A first call, from a token to an answer:

  file=$(shell_word "$file")
  host=$(shell_word "$BASE_URL")
  value() { sed -n "s/^ *\"\$1\": \"\\([^\"]*\\)\".*/\\1/p" "\$file"; }
  token=\$(printf 'user = "%s:%s"\\n' "\$(value client_id)" "\$(value client_key)" |
    curl -fsS -K - -d grant_type=client_credentials "\$host/oauth/token" |
    sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')
  call() {
    printf 'header = "Authorization: Bearer %s"\\n' "\$token" |
      curl -fsS -K - -H 'Content-Type: application/json' -d "\$2" "\$host/v1/capabilities/\$1/call"
  }
  call faq_search '{"query":"how does a person claim an agent"}'

Reading needs no more than this. To write, the person behind the agent claims it
with a code sent to their mobile phone:

    call {{phone_verification}} '{"action":"bind","phone":"+12015550123"}'
    call {{phone_verification}} '{"action":"verify","code":"123456"}'
EOF
}

main() {
    umask 077
    read_options "$@"
    find_folder
    if [ "$uninstall" = yes ]; then
        remove
        return
    fi
    if there && [ "$force" = no ]; then
        fail "$file is there already, so this machine has an agent" \
            'use it, or run this with --force to register another one and replace it'
    fi
    if [ "$dry_run" = yes ]; then
        rehearse
        return
    fi
    make_work_folder
    register
    keep_credentials
    tell_what_next
}

# This is the last line, so that a partially downloaded script does nothing.
main "$@"
