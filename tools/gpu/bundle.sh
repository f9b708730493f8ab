#!/bin/sh
# bundle.sh - the folder that `./dev gpu-bundle` makes.
#   bundle.sh targets             what has to be built for it
#   bundle.sh pack BUILD FOLDER   puts FOLDER and FOLDER.tar.xz together
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
limit_mib=60

programs='tools/unir/unir tests/exec/exec_ops tests/exec/exec_calls tests/exec/exec_programs tests/exec/sweep tests/fuzz/fuzz
tests/cuda/cuda_gpu tests/cuda/cuda_nvrtc bench/gpu-bench'

# The libraries a program needs that are not the C library's own, which every system has.
libraries_of() {
  ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -Ev '/(libc|libm|libdl|librt|libpthread)\.so'
}

pack() {
  build=$1 folder=$2
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/lib" "$folder/tests" "$folder/bench"
  for p in $programs; do
    cp "$build/$p" "$folder/bin/"
    strip "$folder/bin/${p##*/}"
    for l in $(libraries_of "$build/$p"); do cp -L "$l" "$folder/lib/"; done
  done
  cp -r "$root/tests/exec/reference" "$folder/tests/"
  cp "$root/bench/gpu/peers.py" "$folder/bench/"
  cp "$root/tools/gpu/gpu-test" "$root/tools/gpu/gpu-bench" "$root/LICENSE" "$folder/"
  tar -C "$(dirname "$folder")" -c "$(basename "$folder")" | xz -T0 -6 >"$folder.tar.xz"
  mib=$(($(wc -c <"$folder.tar.xz") / 1048576))
  echo "$folder.tar.xz: $mib MiB"
  [ "$mib" -lt "$limit_mib" ] || { echo "bundle.sh: expected less than $limit_mib MiB" >&2; exit 1; }
}

case ${1:-} in
  targets) echo "$programs" ;;
  pack) pack "$2" "$3" ;;
  *) echo "usage: bundle.sh targets | pack BUILD FOLDER" >&2; exit 2 ;;
esac
