#!/usr/bin/env bash
# Builds the program and the GPU tests on a machine without a GPU and puts them into one folder that runs elsewhere, with
# the shared libraries they need:
#   tools/device_bundle.sh [FOLDER]     then, on a machine with an NVIDIA driver:  FOLDER/run.sh RESULTS_FOLDER
# FOLDER defaults to build-gpu/bundle. ARCHITECTURES (90-real) and BUILD (build-gpu) come from the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build-gpu}
bundle=${1:-$build/bundle}

command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "device_bundle: no nvcc; install the CUDA toolkit (12.4 or later) and put it on PATH" >&2; exit 1; }
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFARFIELD_CUDA=ON -DFARFIELD_BUILD_TESTS=ON \
    -DFARFIELD_BUILD_BENCH=ON -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" >/dev/null
cmake --build "$build" --target farfield_app gpu_tests gpu_box_tests bench_multi_gpu bench_step_cuda bench_stencil_cuda \
    bench_blocks_cuda
rm -rf "$bundle"
mkdir -p "$bundle/bin" "$bundle/lib"
for program in farfield gpu/gpu_tests gpu/gpu_box_tests gpu/bench_multi_gpu gpu/bench_step_cuda gpu/bench_stencil_cuda gpu/bench_blocks_cuda; do
    strip -o "$bundle/bin/$(basename "$program")" "$build/$program"
done
# Everything but the C library, which belongs to the machine.
ldd "$bundle"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux[^/]*)\.so' | while read -r library; do
    cp -L "$library" "$bundle/lib/"
done
cat >"$bundle/env.sh" <<'ENV'
# To be sourced: puts the programs of this folder on PATH and lets them find their libraries.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH="$here/bin:$PATH" LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
ENV
cat >"$bundle/run.sh" <<'RUN'
#!/usr/bin/env bash
# Lists the machine, runs the GPU tests, then the bench; results go to the folder named. Exit code: that of the first to
# fail.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
out=${1:?use: run.sh RESULTS_FOLDER}
mkdir -p "$out"
farfield info --json >"$out/info.json" || exit 1
gpu_tests --gtest_brief=1 --gtest_output="json:$out/tests.json" || exit 1
gpu_box_tests --gtest_brief=1 --gtest_output="json:$out/box_tests.json" || exit 1
farfield bench direct --device cuda --json "$out/direct.json" || exit 1
bench_step_cuda "$out/simulation_step.json" || exit 1
bench_stencil_cuda "$out/stencil.json" || exit 1
bench_blocks_cuda "$out/blocks.json" || exit 1
bench_multi_gpu "$out/multi_gpu.json" 5
RUN
chmod +x "$bundle/run.sh"
size=$(du -sm "$bundle" | cut -f1)
echo "$bundle: $size MiB"
[ "$size" -le 64 ] || { echo "the bundle is larger than 64 MiB" >&2; exit 1; }
