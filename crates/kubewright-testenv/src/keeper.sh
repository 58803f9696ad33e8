#!/bin/sh
# Ends everything that belongs to the environment in directory $1: its processes (and with them their
# namespaces, mounts and interfaces), what is named after its short name $2, and the directory itself.
#
# Starts when standard input ends. That is the other end of a pipe that only the owner of the
# environment holds, so it ends however the owner ends: by itself, by a panic, by SIGKILL. The word
# "release" on it means that the environment shall outlive its owner.
set -u
directory=$1
short=$2
PATH=$PATH:/usr/sbin:/sbin
trap '' HUP INT QUIT TERM
cd /

while read -r word; do
    [ "$word" = release ] && exit 0
done

# From here on nothing of this environment starts any more: whoever starts a process looks for this file.
# It may not be possible to write it, on a full disk for one, and all the rest has to be done even so.
(: >"$directory/stopping") 2>/dev/null

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

# The host's end of the network, and the cgroups of the nodes. A cgroup stays busy for a moment after
# its last process.
ip link del "kw$short" 2>/dev/null
cgroups() {
    find /sys/fs/cgroup -maxdepth 2 -type d -name "kubewright-$short-*" 2>/dev/null
}
tries=0
while [ -n "$(cgroups)" ] && [ "$tries" -lt 50 ]; do
    cgroups | while read -r cgroup; do
        find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
    done
    tries=$((tries + 1))
    sleep 0.05
done

# The lock goes last: whoever waits for it may then be sure that nothing is left.
find "$directory" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf -- {} + 2>/dev/null
rm -rf -- "$directory"
