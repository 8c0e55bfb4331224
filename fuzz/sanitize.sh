#!/usr/bin/env bash
# The kernel under the address and undefined-behavior sanitizers: SECONDS of any bytes, and then
# PYTHON runs some TESTS that call it. Where the compiler has no sanitizers, there is nothing to do.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1 python=$2
shift 2

flags=(-g -O1 -std=c11 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=undefined)
mkdir -p build
if ! echo 'int main(void) { return 0; }' | gcc "${flags[@]}" -x c -o build/probe - 2> /dev/null || ! build/probe 2> /dev/null; then
    echo "sanitize: there is no gcc with sanitizers here; the kernel is tested without them"
    exit 0
fi

gcc "${flags[@]}" -DALONE -o build/fuzz-reduce fuzz/reduce.c
if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer,address -x c -o build/probe - 2> /dev/null; then
    # guided by coverage
    mkdir -p build/found
    clang "${flags[@]}" -fsanitize=fuzzer -o build/fuzz-guided fuzz/reduce.c
    build/fuzz-guided -max_total_time="$seconds" -max_len=4000 -artifact_prefix=build/ build/found fuzz/corpus/reduce 2> build/fuzz-guided.log ||
        { tail -n 40 build/fuzz-guided.log; exit 1; }
    grep "^Done" build/fuzz-guided.log
fi
(cd build && ./fuzz-reduce "$seconds" ../fuzz/corpus/reduce/*)

gcc "${flags[@]}" -fPIC -shared -o build/reduce-sanitized.so src/germane/kernel/reduce.c
# Python's own leftovers are no leaks of the kernel, which the fuzz driver looks for
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
    PYTHONMALLOC=malloc GERMANE_KERNEL="$PWD/build/reduce-sanitized.so" "$python" -m pytest "$@"
