#!/bin/sh
# Sets and removes the TXT records that prove the server's own names to a certificate authority, by dynamic updates
# (RFC 2136). svc-server runs what SVC_DNS_HOOK names as: <hook> present|cleanup <record> <value>
#
# It needs nsupdate and dig (Debian: bind9-dnsutils), and the key of the updates as tsig-keygen prints it, in a file
# that the server's user can read. From the server's environment:
#   DNS_HOOK_KEY     that file; /etc/svc/dns.key
#   DNS_HOOK_SERVER  the primary name server, <address> or <address>#<port>; without it the one in the zone's SOA
#   DNS_HOOK_ASK     the name servers that must have a record, in the same form; without it those of the zone

prepare() {
  key=${DNS_HOOK_KEY:-/etc/svc/dns.key}
  [ -r "$key" ] || fail "The key of the updates is missing: put it into $key (DNS_HOOK_KEY), readable for $(id -un)."
}

update() {
  {
    case ${DNS_HOOK_SERVER-} in
      '') ;;
      *'#'*) printf 'server %s %s\n' "${DNS_HOOK_SERVER%#*}" "${DNS_HOOK_SERVER#*#}" ;;
      *) printf 'server %s\n' "$DNS_HOOK_SERVER" ;;
    esac
    printf 'update %s\nsend\n' "$1"
  } | nsupdate -t 20 -k "$key" || fail "The name server did not take it: may the key $key update TXT records of $record?"
}

present() {
  update "add $record 60 TXT \"$value\""
}

cleanup() {
  update "delete $record TXT \"$value\""
}
