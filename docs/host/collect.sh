#!/bin/bash
# Take runs from a folder of uploads, and rebuild the board:
#
#     collect.sh UPLOADS ACCEPTED PUBLIC_QRELS QRELS SITE
#
# NAME.run and NAME.yaml that pass the checks move from UPLOADS to ACCEPTED; NAME.log says why others
# don't. An accepted run is never replaced. From cron: flock -n LOCK collect.sh ...
set -euo pipefail
uploads=$1 accepted=$2 public=$3 qrels=$4 site=$5
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT

build() { # build RUNS SITE; what it says may tell of the levels: it is for the host alone
  momentrank board "$1" 'nDCG(iou=0.5)@10' 'AP(iou=0.5)@10' --qrels "$qrels" --hidden --out "$2" >&3 2>&3
}
exec 3>&2

check() { # check NAME, on copies that nobody can change
  for file in "$1.run" "$1.yaml"; do
    if test -e "$accepted/$file"; then echo "$1 is taken: choose another name"; return 1; fi
    cp -RP "$uploads/$file" "$trial/runs/" || return 1
    if test -L "$trial/runs/$file" || ! test -f "$trial/runs/$file"; then
      echo "$file is not a regular file"; return 1
    fi
  done
  momentrank validate --like paper --qrels "$public" "$trial/runs/$1.run" \
    && momentrank board "$trial/runs" AxIoU@10 --qrels "$public" --out "$trial/public" || return 1
  build "$trial/runs" "$trial/site" || { echo "refused (20 runs a team?): ask the host"; return 1; }
}

shopt -s nullglob
for entry in "$uploads"/*.yaml; do
  name=$(basename "$entry" .yaml)
  rm -rf "$trial"/*
  mkdir "$trial/runs"
  for file in "$accepted"/*; do cp "$file" "$trial/runs/"; done
  if check "$name" > "$trial/log" 2>&1; then
    mv "$trial/runs/$name".{run,yaml} "$accepted/"
    rm -f "$uploads/$name".{run,yaml,log}
  else
    mv -fT "$trial/log" "$uploads/$name.log" || true # in place of whatever was there, such as a link
  fi
done
build "$accepted" "$site"
