# shellcheck shell=bash
# Compiles the CUDA sources of tests/gpu where nvcc is present, and runs them where a GPU is.

run_cuda() {
    local nvcc sources=() source program
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
    while IFS= read -r -d '' source; do sources+=("$source"); done < <(our_files 'tests/gpu/*.cu')
    if [ ${#sources[@]} -eq 0 ]; then
        record skip cuda "CUDA sources" "this version has none"
        return 0
    fi
    if [ -z "$nvcc" ]; then
        for source in "${sources[@]}"; do record skip cuda "$source" "no nvcc on this machine (CUDA 12.4 or newer)"; done
        return 0
    fi
    mkdir -p build/gpu
    for source in "${sources[@]}"; do
        program=build/gpu/$(basename "$source" .cu)
        if "$nvcc" -std=c++20 -O2 --fmad=false -arch=sm_80 -Isrc -Iinclude -Ibuild/include -o "$program" "$source"; then
            record pass cuda "compile $source"
        else
            record fail cuda "compile $source" "nvcc's message is above"
            continue
        fi
        if ! nvidia-smi -L >/dev/null 2>&1; then
            record skip cuda "run $source" "no GPU on this machine"
        elif "$program"; then
            record pass cuda "run $source"
        else
            record fail cuda "run $source" "its output is above"
        fi
    done
}
