#!/bin/sh
# Starts Ceph's gateway of Debian (packages radosgw ceph-mon ceph-osd) in memory on loopback: ceph.sh <folder> <port>. Its parts
# are daemons of their own session; `ceph.sh <folder> stop` ends them. Prints the keys of a user when the gateway answers.
set -eu
folder=$1
if [ "$2" = stop ]; then
  for part in gateway osd mon; do [ -f "$folder/$part.pid" ] && kill -9 "$(cat "$folder/$part.pid")" 2>/dev/null || true; done
  exit 0
fi
port=$2 mon=$(($2 + 1))
mkdir -p "$folder/mon" "$folder/osd" "$folder/run"
fsid=$(cat /proc/sys/kernel/random/uuid)
conf=$folder/ceph.conf
cat >"$conf" <<EOF
[global]
fsid = $fsid
monmap = $folder/monmap
auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr2 = false
run dir = $folder/run
log file =
admin socket =
pid file =
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd pool default pg num = 1
osd pool default pgp num = 1
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 2147483648
osd class update on start = false
osd crush update on start = false
osd crush chooseleaf type = 0
mon cluster log file = /dev/null
[mon.a]
mon data = $folder/mon
[osd.0]
osd data = $folder/osd
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
EOF
monmaptool --create --clobber --fsid "$fsid" --addv a "[v1:127.0.0.1:$mon]" "$folder/monmap" >/dev/null
ceph-mon -c "$conf" -i a --mkfs --monmap "$folder/monmap"
begin() { # name, command…
  name=$1
  shift
  setsid "$@" -f >"$folder/$name.log" 2>&1 </dev/null &
  echo $! >"$folder/$name.pid"
}
ceph() { timeout 60 /usr/bin/ceph -c "$conf" "$@" 2>>"$folder/ceph.log"; }
again() { # a monitor that has just begun refuses its first calls
  for try in 1 2 3 4 5 6 7 8 9; do "$@" && return 0; sleep 0.5; done
  return 1
}
begin mon ceph-mon -c "$conf" -i a
until ceph health >/dev/null; do sleep 0.3; done
uuid=$(cat /proc/sys/kernel/random/uuid)
again ceph osd new "$uuid" >/dev/null
ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$uuid" >"$folder/mkfs.log" 2>&1
again ceph osd crush add osd.0 1 host=x root=default >/dev/null
begin osd ceph-osd -c "$conf" -i 0
until ceph osd stat | grep -q "1 up"; do sleep 0.3; done
begin gateway radosgw -c "$conf" -n client.rgw
until curl -s -o /dev/null "http://127.0.0.1:$port/" || node -e "fetch('http://127.0.0.1:$port/').then(()=>process.exit(0),()=>process.exit(1))" 2>/dev/null; do sleep 0.5; done
radosgw-admin -c "$conf" -n client.rgw user create --uid svc --display-name svc --access-key svckey --secret-key svcsecret >/dev/null 2>>"$folder/ceph.log"
echo "svckey svcsecret"
