#!/bin/sh
# Sets and removes the TXT records that prove the server's own names to a certificate authority, in zones at Cloudflare.
# svc-server runs what SVC_DNS_HOOK names as: <hook> present|cleanup <record> <value>
#
# It needs curl and jq, dig too where it is there (Debian: bind9-dnsutils), and an API token that may read the zone and
# edit its DNS ("Edit zone DNS"), in a file that only the server's user can read. From the server's environment:
#   DNS_HOOK_TOKEN  that file; /etc/svc/dns-token
#   DNS_HOOK_API    where the API is; https://api.cloudflare.com/client/v4
#   DNS_HOOK_ASK    the name servers that must have a record, <address> or <address>#<port>; without it those of the zone

prepare() {
  file=${DNS_HOOK_TOKEN:-/etc/svc/dns-token}
  [ -r "$file" ] || fail "The API token is missing: put it into $file (DNS_HOOK_TOKEN), readable for $(id -un)."
  token=$(tr -d '[:space:]' <"$file")
  [ -n "$token" ] || fail "There is no API token in $file (DNS_HOOK_TOKEN)."
  api=${DNS_HOOK_API:-https://api.cloudflare.com/client/v4}
  command -v jq >/dev/null || fail 'jq is missing: apt-get install jq.'
  find_zone
}

# The token goes by the standard input, for everybody on a machine can read the words of its processes.
call() {
  answer=$(printf 'Authorization: Bearer %s\n' "$token" | curl --disable --silent --show-error --max-time 15 \
    --request "$1" --header @- --header 'Content-Type: application/json' ${3:+--data "$3"} "$api$2" 2>&1) ||
    fail "Cloudflare could not be asked. $answer"
}

# Prints what a jq filter makes of the answer; nothing where that is no JSON.
read_answer() {
  printf '%s' "$answer" | jq -r --arg record "$record" --arg value "$value" --arg zone "${zone-}" "$1" 2>/dev/null || :
}

is_done() {
  [ "$(read_answer .success)" = true ]
}

# What the API says where it does not what it was asked to.
reason() {
  text=$(read_answer '[.errors[]? | "\(.message) (\(.code))"] | join(", ")')
  printf '%s' "${text:-it answered $(printf '%s' "$answer" | head -c 200 | tr '\n' ' ')}"
}

# A token for one zone may be refused where it asks for the names above and below that: only a token that is none ends it.
find_zone() {
  zone=$record refusal=
  while [ "${zone#*.}" != "$zone" ] && time_is_left; do
    call GET "/zones?name=$zone"
    if is_done; then
      zone_id=$(read_answer '[.result[] | select(.name == $zone)] | sort_by(.status != "active") | .[0].id // empty')
      [ -z "$zone_id" ] || return 0
    else
      refusal=$(reason)
      case " $(read_answer '.errors[]? | .code' | tr '\n' ' ')" in
        *" 6003 "* | *" 6111 "* | *" 9103 "* | *" 9109 "* | *" 10000 "*) break ;;
      esac
    fi
    zone=${zone#*.}
  done
  fail "The API token shows no zone of $record: is it made for that zone, and may it read it?${refusal:+ Cloudflare says: $refusal}"
}

# The ids of the records that have the value.
find_records() {
  call GET "/zones/$zone_id/dns_records?type=TXT&name=$record&per_page=1000"
  is_done || fail "Cloudflare refused to list the values of $record: $(reason)"
  ids=$(read_answer '.result[] | select(.name == $record and (.content | gsub("\""; "")) == $value) | .id')
}

present() {
  call POST "/zones/$zone_id/dns_records" "{\"type\":\"TXT\",\"name\":\"$record\",\"content\":\"\\\"$value\\\"\",\"ttl\":60}"
  if ! is_done; then
    refusal=$(reason)
    find_records # an order before this one may have set the same
    [ -n "$ids" ] || fail "Cloudflare refused to set $record: $refusal"
  fi
}

cleanup() {
  find_records
  for id in $ids; do
    call DELETE "/zones/$zone_id/dns_records/$id"
    is_done || fail "Cloudflare refused to remove $record: $(reason)"
  done
}
