#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a riscv64 Linux program on the emulated SM10. `--help` explains.
set -eu

usage() {
    cat <<'EOF'
usage: sm10 [OPTION]... [--] PROGRAM [ARGUMENT]...

Runs a riscv64 Linux program on the emulated SM10: X100 harts 0-7 (VLEN 256) and A100 harts 8-15 (VLEN 1024, IME2).
Threads start on X100 harts; one that writes its tid (0: its own) to /proc/set_ai_thread moves to the A100 harts.
Children that are riscv64 programs, or scripts for one, run on the same board.

  --a100              start the program on an A100 hart, as the child of an A100 thread does
  --counts FILE       append exact counts to FILE when a program ends; sm10-counts prints them by function
  --ime2-lenient      with IME2: let register overlaps and vl other than VLMAX pass, as hardware may
  --ime2-rounding N   with IME2: 3 (default) one rounding, 1 after each step, 2 before a fused addition
  --set-ai-thread HOW denied: opening /proc/set_ai_thread fails with EACCES; absent: there is no such file
  --sysroot DIR       folder that holds the program's /lib, for dynamically linked programs
  --vlen N            no board, but a machine whose harts all have VLEN N (128 to 1024, a power of two)
  --ime2              with --vlen 1024: the harts have IME2
  --help              print this

Exit status: the program's; 128 + N when signal N killed it; 2 for a wrong command line.
EOF
}

refuse() {
    echo "sm10: $1; see sm10 --help" >&2
    exit 2
}

# Beside this script in the archive, or below bazel's runfiles.
self=$(readlink -f "$0")
emulator=$(dirname "$self")/qemu-riscv64
if [ ! -x "$emulator" ]; then
    # Absolute, because of the cd below.
    emulator=$(readlink -f "${RUNFILES_DIR:-$0.runfiles}/@EMULATOR@" || echo "$emulator")
fi
[ -x "$emulator" ] || refuse "the emulator is missing: $emulator"
# bazel run starts in the runfiles; the caller's folder is meant.
cd "${BUILD_WORKING_DIRECTORY:-.}"

board=sm10 ai_thread='' vlen='' ime2=false a100=false ime2_options='' counts='' sysroot=''
while [ $# -gt 0 ]; do
    case $1 in
        --help) usage; exit 0 ;;
        --a100) a100=true ;;
        --ime2) ime2=true ;;
        --ime2-lenient) ime2_options="$ime2_options,ime2-strict=false" ;;
        --counts | --ime2-rounding | --set-ai-thread | --sysroot | --vlen)
            [ $# -ge 2 ] || refuse "$1 needs a value"
            case $1 in
                --counts) counts=$2 ;;
                --ime2-rounding) ime2_options="$ime2_options,ime2-rounding=$2" ;;
                --set-ai-thread)
                    case $2 in
                        absent | denied) ai_thread=$2 ;;
                        *) refuse "--set-ai-thread is denied or absent, not $2" ;;
                    esac
                    ;;
                --sysroot) [ -d "$2" ] || refuse "--sysroot: no such folder: $2"; sysroot=$2 ;;
                --vlen) vlen=$2 ;;
            esac
            shift
            ;;
        --) shift; break ;;
        -*) refuse "unknown option: $1" ;;
        *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || refuse "no program given"

if [ -z "$vlen" ]; then
    ! $ime2 || refuse "--ime2 belongs to --vlen 1024; the board's A100 harts have IME2"
    ! $a100 || board=$board,hart=a100
    [ -z "$ai_thread" ] || board=$board,set-ai-thread=$ai_thread
    set -- -board "$board$ime2_options" -- "$@"
else
    case $vlen in
        128 | 256 | 512 | 1024) ;;
        *) refuse "--vlen is 128, 256, 512 or 1024, not $vlen" ;;
    esac
    ! $a100 || refuse "--a100 needs the board; leave --vlen away"
    [ -z "$ai_thread" ] || refuse "--set-ai-thread needs the board; leave --vlen away"
    if $ime2 && [ "$vlen" != 1024 ]; then
        refuse "IME2 is only defined for VLEN 1024"
    fi
    # ztso: fences that a program does not need make memory accesses several times slower.
    set -- -cpu "max,vlen=$vlen,xsmtvdotii=$ime2,ztso=false,rvv_ta_all_1s=true,rvv_ma_all_1s=true$ime2_options" -- "$@"
fi
[ -z "$counts" ] || set -- -counts "$counts" "$@"
[ -z "$sysroot" ] || set -- -L "$sysroot" "$@"
exec "$emulator" "$@"
