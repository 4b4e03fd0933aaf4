// A shared object that is loaded as long as this lives.
#pragma once

#include <filesystem>
#include <string>

namespace farfield::jit {

class SharedObject {
public:
    /// @throws IoError with the loader's words.
    explicit SharedObject(const std::filesystem::path& path);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    /// Null where there is no such symbol.
    void* find(const std::string& name) const;

    /// A function of the C type F, such as void(int). @throws InternalError where there is none.
    template <class F>
    F* function(const std::string& name) const {
        return reinterpret_cast<F*>(required(name));
    }

private:
    void* required(const std::string& name) const;
    void* handle_ = nullptr;
};

} // namespace farfield::jit
