# Ends a server and removes its folder when its owner is gone. The owner holds the other end of
# our stdin: a first line with the folder, then another line when all is done already. When the
# end comes without it, the owner has died. The folder's marks are those of processes.rs.
trap '' HUP INT TERM QUIT
IFS= read -r home || exit 0
IFS= read -r all_done && exit 0
name=${home##*/}
# The patterns come by stdin, so that grep's own command line does not have them.
marked() { grep -lsaFf - /proc/[0-9]*/cmdline | tr -cd '0-9\n'; }
cluster() { printf '%s\n' "cluster_name=$name" "postgres: $name: " | marked; }
folder() {
    printf '%s\n' "--datadir=$home/data" "--pgdata=$home/data" "$home/data/rsync_sst.conf" | marked
}
n=0
pids=$(cluster)
[ -z "$pids" ] || kill -s QUIT $pids
[ -z "$pids" ] || kill -s CONT $pids
while [ -n "$pids" ] && [ "$n" -lt 10 ]; do
    sleep 0.1
    pids=$(cluster)
    n=$((n + 1))
done
n=0
while [ "$n" -lt 300 ]; do
    pids="$(cluster) $(folder)"
    [ "$pids" = ' ' ] || kill -s KILL $pids
    [ "$pids" = ' ' ] && rm -rf -- "$home" && exit 0
    sleep 0.1
    n=$((n + 1))
done
