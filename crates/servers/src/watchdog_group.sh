# Ends a process group when its owner is gone. The owner holds the other end of our stdin: a first
# line with the group's number, then another line when it has ended. When the end comes without
# it, the owner has died: the group is asked to end, and killed if it has not after two seconds.
# Our stdout is the reading end of its output, to be held and nothing else.
trap '' HUP INT TERM QUIT
IFS= read -r group || exit 0
IFS= read -r all_done && exit 0
kill -s TERM -- "-$group" || exit 0
n=0
while [ "$n" -lt 20 ]; do
    sleep 0.1
    kill -s 0 -- "-$group" || exit 0
    n=$((n + 1))
done
kill -s KILL -- "-$group"
