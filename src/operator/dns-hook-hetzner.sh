#!/bin/sh
# Sets and removes the TXT records that prove the server's own names to a certificate authority, in zones at Hetzner
# (the DNS of its Cloud API). svc-server runs what SVC_DNS_HOOK names as: <hook> present|cleanup <record> <value>
#
# It needs curl, dig too where it is there (Debian: bind9-dnsutils), and an API token of the zone's project, read and
# write, in a file that only the server's user can read. From the server's environment:
#   DNS_HOOK_TOKEN  that file; /etc/svc/dns-token
#   DNS_HOOK_API    where the API is; https://api.hetzner.cloud/v1
#   DNS_HOOK_ASK    the name servers that must have a record, <address> or <address>#<port>; without it those of the zone

prepare() {
  file=${DNS_HOOK_TOKEN:-/etc/svc/dns-token}
  [ -r "$file" ] || fail "The API token is missing: put it into $file (DNS_HOOK_TOKEN), readable for $(id -un)."
  token=$(tr -d '[:space:]' <"$file")
  [ -n "$token" ] || fail "There is no API token in $file (DNS_HOOK_TOKEN)."
  api=${DNS_HOOK_API:-https://api.hetzner.cloud/v1}
  find_zone
}

# The token goes by the standard input, for everybody on a machine can read the words of its processes.
call() {
  answer=$(printf 'Authorization: Bearer %s\n' "$token" | curl --disable --silent --show-error --max-time 15 \
    --request "$1" --header @- --header 'Content-Type: application/json' ${3:+--data "$3"} \
    --write-out '|%{http_code}' "$api$2" 2>&1) || fail "Hetzner could not be asked. $answer"
  status=${answer##*|}
  answer=${answer%|*}
}

refused() {
  fail "Hetzner refused to $1: it answered $status $(printf '%s' "$answer" | head -c 200 | tr '\n' ' ')"
}

find_zone() {
  zone=$record
  while [ "${zone#*.}" != "$zone" ] && time_is_left; do
    call GET "/zones/$zone"
    case $status in
      200)
        name=${record%"$zone"}
        name=${name%.}
        records="/zones/$zone/rrsets/${name:-@}/TXT"
        return 0
        ;;
      400 | 404 | 422) zone=${zone#*.} ;;
      *) refused "show the zone $zone" ;;
    esac
  done
  fail "The API token sees no zone of $record: is it of the project that has the zone?"
}

# Whether the value is there now.
is_there() {
  call GET "$records"
  case $answer in *"\\\"$value\\\""*) return 0 ;; esac
  return 1
}

present() {
  set="\"records\":[{\"value\":\"\\\"$value\\\"\"}]"
  call POST "$records/actions/add_records" "{\"ttl\":60,$set}"
  # Beside values of another time to live it takes none of its own.
  case $status in 400 | 409 | 422) call POST "$records/actions/add_records" "{$set}" ;; esac
  case $status in
    2*) ;;
    *)
      # An order before this one may have set the same.
      refused_status=$status refused_answer=$answer
      is_there || { status=$refused_status answer=$refused_answer && refused "set $record"; }
      ;;
  esac
}

cleanup() {
  call POST "$records/actions/remove_records" "{\"records\":[{\"value\":\"\\\"$value\\\"\"}]}"
  case $status in
    2* | 404) ;;
    *)
      refused_status=$status refused_answer=$answer
      ! is_there || { status=$refused_status answer=$refused_answer && refused "remove $record"; }
      [ "$status" = 404 ] || [ "$status" = 200 ] || refused "show $record"
      ;;
  esac
}
