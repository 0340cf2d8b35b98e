#!/bin/bash
# sum.sh LAST SECONDS: the sum of the squares of 1 to LAST, a square each SECONDS, as a job that saves itself.
#
#     qsub -W preempt_methods=CR -- /bin/bash $PWD/sum.sh 10000 0.1
#
# The trap only notes that it was asked: between two commands of the loop `next` and `sum` may not belong together. A shell runs it
# after its foreground command, so a step is how long a checkpoint may take.
state=${PBS_CHECKPOINT_DIR:-.}/state
next=1 sum=0
asked=
trap asked=1 USR1
[ -e "$state" ] && read -r next sum <"$state"

save() {
    echo "$next $sum" >"$state.new" && sync "$state.new" && mv "$state.new" "$state" && touch "${state%/*}/done"
    asked=
}

while [ "$next" -le "$1" ]; do
    sum=$((sum + next * next)) next=$((next + 1))
    sleep "$2"
    [ -z "$asked" ] || save
done
echo "$sum"
