#!/bin/sh
# Ends everything that belongs to the environment in directory $1: its processes (and with them their
# namespaces, mounts and interfaces), what its undo file lists, and the directory itself.
#
# Starts when standard input ends. That is the other end of a pipe that only the owner of the
# environment holds, so it ends however the owner ends: by itself, by a panic, by SIGKILL. The word
# "release" on it means that the environment shall outlive its owner.
set -u
directory=$1
trap '' HUP INT QUIT TERM
cd /

while read -r word; do
    [ "$word" = release ] && exit 0
done

# From here on nothing of this environment starts any more: whoever starts a process looks for this file.
: >"$directory/stopping"

# Every process of the environment carries this variable. It also proves that a process is ours.
members() {
    grep -lzsxF -- "KUBEWRIGHT_ENVIRONMENT=$directory" /proc/[0-9]*/environ | cut -d/ -f3
}
quiet=0
rounds=0
while [ "$quiet" -lt 2 ] && [ "$rounds" -lt 200 ]; do
    found=$(members)
    if [ -n "$found" ]; then
        quiet=0
        # shellcheck disable=SC2086 # one word per process
        kill -KILL $found 2>/dev/null
    else
        quiet=$((quiet + 1))
    fi
    rounds=$((rounds + 1))
    sleep 0.03
done

# Called by lines of the undo file. A cgroup stays busy for a moment after its last process.
remove_cgroup() {
    tries=0
    while [ -d "$1" ] && [ "$tries" -lt 50 ]; do
        find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
        tries=$((tries + 1))
        [ -d "$1" ] && sleep 0.05
    done
}
if [ -f "$directory/undo" ]; then
    # The last thing done is the first to be undone.
    for number in $(seq "$(wc -l <"$directory/undo")" -1 1); do
        eval "$(sed -n "${number}p" "$directory/undo")" >/dev/null 2>&1
    done
fi
# The lock goes last: whoever waits for it may then be sure that nothing is left.
find "$directory" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf -- {} +
rm -rf -- "$directory"
