# The rest is the same for every service: it calls prepare, then present or cleanup, which are above.

set -euf

fail() {
  printf '%s\n' "$1" | tr -d '\000-\010\013-\037\177' >&2
  exit 1
}

# The server ends it after two minutes.
end=$(($(date +%s) + 90))
time_is_left() {
  [ "$(date +%s)" -lt "$end" ]
}

# The name servers of the record's zone: those of the nearest name above it that has some.
servers() {
  name=$record
  while [ "${name#*.}" != "$name" ]; do
    found=$(dig -r +noall +answer +time=2 +tries=2 NS "$name" | awk -v name="$name." 'tolower($1) == name && $4 == "NS" { print $5 }')
    [ -z "$found" ] || break
    name=${name#*.}
  done
  printf '%s' "$found"
}

# Asks one of them: yes, it has the value; no; or silent, for one that does not answer, refuses, or does not serve the zone.
ask() {
  port=53
  case $1 in *'#'*) port=${1#*#} ;; esac
  said=$(dig -r +norecurse +noall +comments +answer +time=2 +tries=1 -p "$port" TXT "$record" "@${1%#*}" 2>/dev/null) || said=
  case $said in
    *"\"$value\""*) echo yes ;;
    *'status: REFUSED'* | *'status: SERVFAIL'*) echo silent ;;
    *' aa'*) echo no ;;
    *) echo silent ;;
  esac
}

# Waits until each name server that answers has the value, for an authority may ask any of them; when the time is over one
# of them is enough. Where none can be asked it waits as long as most providers take.
wait_until_seen() {
  asked=
  command -v dig >/dev/null && asked=${DNS_HOOK_ASK:-$(servers)}
  answered=no seen=no
  while [ -n "$asked" ]; do
    without=
    for server in $asked; do
      time_is_left || break 2
      case $(ask "$server") in
        yes) answered=yes seen=yes ;;
        no) answered=yes without="$without $server" ;;
      esac
    done
    asked=$without
    [ -z "$asked" ] || sleep 2
  done
  case $answered$seen in
    yesno) fail "The record was taken, but no name server of its zone has it: is $record of the zone that they serve?" ;;
    nono) ! time_is_left || sleep 20 ;;
  esac
}

[ $# -eq 3 ] || fail 'Call it with three words: present or cleanup, the record, its value.'
action=$1 record=$2 value=$3
case $record$value in *[!A-Za-z0-9._-]*) fail 'The record or its value has letters that no ACME challenge has.' ;; esac
case $action in
  present)
    prepare
    present
    wait_until_seen
    ;;
  cleanup)
    prepare
    cleanup
    ;;
  *) fail "There is no action $action: present or cleanup." ;;
esac
