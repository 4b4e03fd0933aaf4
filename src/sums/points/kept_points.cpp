#include "sums/points/kept_points.h"

#include "backend/cuda/host_copy.h"
#include "sums/points/read.h"

#include <utility>

namespace farfield {

void KeptPoints::keep(int threads, const ConstArrayView& view, std::int64_t rows, std::int64_t columns,
                      void* stream) {
    rows_ = rows;
    columns_ = columns;
    is_there_ = view.device.type == DeviceType::cuda && rows > 0;
    if (is_there_)
        there_.take(view, rows, columns, stream);
    else
        host_ = copy_on(threads, view, rows, columns);
}

std::span<const double> KeptPoints::on_host() {
    if (std::exchange(is_there_, false)) {
        const auto copied = cuda::host_copy(there_.view(), rows_, columns_);
        host_ = {copied.begin(), copied.end()};
    }
    return host_;
}

} // namespace farfield
