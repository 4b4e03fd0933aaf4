#!/usr/bin/env bash
# Builds the GPU tests and benches on a machine without a GPU and puts them into one folder that runs elsewhere:
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
cmake --build "$build" --target gpu_tests bench_direct_cuda
mkdir -p "$bundle"
for program in gpu_tests bench_direct_cuda; do
    strip -o "$bundle/$program" "$build/gpu/$program"
done
cat >"$bundle/run.sh" <<'RUN'
#!/usr/bin/env bash
# Runs the GPU tests, then the bench; results go to the folder named. Exit code: that of the first to fail.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?use: run.sh RESULTS_FOLDER}
mkdir -p "$out"
"$here/gpu_tests" --gtest_brief=1 --gtest_output="json:$out/tests.json" || exit 1
"$here/bench_direct_cuda" "$out/direct.json" 5
RUN
chmod +x "$bundle/run.sh"
size=$(du -sm "$bundle" | cut -f1)
echo "$bundle: $size MiB"
[ "$size" -le 64 ] || { echo "the bundle is larger than 64 MiB" >&2; exit 1; }
