#!/usr/bin/env bash
# run.sh QTOOL FOLDER: calibrates the demo as eight shards, by GNU parallel and by a Slurm job array, with the command lines of
# docs/scaling.md, and compares the merged tables with that of one run, byte by byte. Slurm is set up as one node in FOLDER and ends with
# the script. Packages that are missing are installed, as root or by sudo; where that cannot be, the test is skipped (exit 77).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
qtool=$(readlink -f "$1") folder=$2
shards=8
model=$root/calib_samples/digits/model.onnx data=$root/calib_samples/digits/calib

install_packages() {
  local missing='' as_root=()
  command -v parallel >/dev/null || missing+=' parallel'
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null || missing+=' slurm-wlm'
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null || { echo "scaling: skipped: not installed:$missing"; exit 77; }
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "scaling: skipped: not root, and not installed:$missing"; exit 77; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  # shellcheck disable=SC2086
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# A cluster of this one machine: no daemon of the system takes part, so it needs no munge and no accounts.
start_slurm() {
  local host cores
  host=$(hostname -s) cores=$(nproc)
  mkdir -p state spool
  cat >slurm.conf <<CONF
ClusterName=qtool
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
CONF
  export SLURM_CONF=$PWD/slurm.conf
  slurmctld -D -f "$SLURM_CONF" >slurmctld.log 2>&1 &
  daemons=$!
  slurmd -D -f "$SLURM_CONF" -N "$host" >slurmd.log 2>&1 &
  daemons+=" $!"
  wait_for "slurmd" sh -c 'sinfo -h -o %t | grep -qx idle'
}

# wait_for WHAT COMMAND...: until the command succeeds, for a minute
wait_for() {
  local what=$1 tries=0
  shift
  until "$@" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -ge 300 ]; then
      echo "scaling: $what did not get ready" >&2
      tail -n 20 ./*.log >&2
      exit 1
    fi
    sleep 0.2
  done
}

merge_and_compare() {
  "$qtool" calibrate --merge "$1"/part-*.qcal -o "$1/model.qcal" -q >/dev/null
  cmp "$1/model.qcal" whole.qcal
  echo "scaling: $1: $shards shards give the bytes of one run"
}

install_packages
rm -rf "$folder"
mkdir -p "$folder/parallel" "$folder/slurm"
cd "$folder"
daemons=''
# shellcheck disable=SC2064,SC2086
trap '[ -z "$daemons" ] || kill $daemons 2>/dev/null; wait' EXIT
"$qtool" calibrate -i "$model" --calib-data "$data" -o whole.qcal -q >/dev/null

seq 0 $((shards - 1)) | parallel -j 2 \
  "$qtool" calibrate -i "$model" --calib-data "$data" -o parallel/part-{}.qcal --shard {}/$shards --resume -q >/dev/null
merge_and_compare parallel

start_slurm
cat >job.sh <<JOB
#!/bin/bash
exec "$qtool" calibrate -i "$model" --calib-data "$data" -o "$PWD/slurm/part-\$SLURM_ARRAY_TASK_ID.qcal" \\
  --shard "\$SLURM_ARRAY_TASK_ID/\$SLURM_ARRAY_TASK_COUNT" --threads 1 --resume -q
JOB
sbatch --wait --array=0-$((shards - 1)) --output="$PWD/slurm/%a.log" job.sh
merge_and_compare slurm
