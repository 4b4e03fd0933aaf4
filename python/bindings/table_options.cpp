#include "table_options.h"

#include "communicator.h"
#include "pickles.h"

#include "base/text.h"

#include <farfield/error.h>

#include <algorithm>
#include <type_traits>

namespace nb = nanobind;

namespace farfield::python {
namespace {

[[noreturn]] void wrong_type(std::string_view name, const char* wanted, nb::handle value) {
    throw nb::type_error((std::string(name) + " must be " + wanted + ", not " +
                          nb::cast<std::string>(value.type().attr("__name__")))
                             .c_str());
}

std::string text_from(const OptionInfo& option, nb::handle value) {
    if (!nb::isinstance<nb::str>(value)) wrong_type(option.name, "a str", value);
    auto text = nb::cast<std::string>(value);
    if (option.type == OptionType::choice && !option.allows(text))
        throw InvalidArgument(std::string(option.name) + " = '" + text + "' is not known" +
                              suggestion(text, option.choices()));
    return text;
}

double number_from(const OptionInfo& option, nb::handle value) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        wrong_type(option.name, "a number", value);
    }
    return number;
}

std::int64_t count_from(const OptionInfo& option, nb::handle value) {
    const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
    if (!whole.is_valid()) {
        PyErr_Clear();
        wrong_type(option.name, "a whole number", value);
    }
    int overflow = 0;
    const auto count = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow != 0) throw InvalidArgument(std::string(option.name) + " is too large");
    return count;
}

bool flag_from(const OptionInfo& option, nb::handle value) {
    if (!nb::isinstance<nb::bool_>(value)) wrong_type(option.name, "True or False", value);
    return nb::cast<bool>(value);
}

// A number, three numbers, or a text that says so.
std::string lengths_from(const OptionInfo& option, nb::handle value) {
    if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
    if (PySequence_Check(value.ptr()) == 0) return number_text(number_from(option, value));
    std::string out;
    for (const auto length : nb::borrow<nb::sequence>(value)) {
        if (!out.empty()) out += ',';
        out += number_text(number_from(option, length));
    }
    return out;
}

OptionValue value_from(const OptionInfo& option, nb::handle value) {
    if (option.type == OptionType::number) return number_from(option, value);
    if (option.type == OptionType::count) return count_from(option, value);
    if (option.type == OptionType::flag) return flag_from(option, value);
    if (option.type == OptionType::lengths) return lengths_from(option, value);
    return text_from(option, value);
}

nb::object to_python(const OptionInfo& option, const OptionValue& value) {
    if (option.type == OptionType::lengths) {
        nb::list numbers;
        const auto& text = std::get<std::string>(value);
        for (std::size_t start = 0; start <= text.size();) {
            const auto comma = std::min(text.find(',', start), text.size());
            numbers.append(nb::float_(nb::str(text.substr(start, comma - start).c_str())));
            start = comma + 1;
        }
        return nb::len(numbers) == 1 ? nb::object(numbers[0]) : nb::object(nb::tuple(numbers));
    }
    return std::visit([](const auto& held) { return nb::cast(held); }, value);
}

std::string type_text(const OptionInfo& option) {
    switch (option.type) {
    case OptionType::choice:
        return stub_name(option);
    case OptionType::number:
        return "float";
    case OptionType::count:
        return "int";
    case OptionType::flag:
        return "bool";
    case OptionType::lengths:
        return "float | tuple[float, float, float]";
    case OptionType::device:
        break;
    }
    return "str";
}

template <class Options>
void set_option(Options& options, const OptionInfo& option, nb::handle value) {
    const auto read = value_from(option, value);
    try {
        option.template in<Options>().set(options, read);
    } catch (const InvalidArgument& error) {
        if (option.type != OptionType::lengths) throw;
        throw InvalidArgument(std::string(option.name) + ": " + error.what());
    }
}

bool holds(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Options>
[[noreturn]] void unknown_keyword(std::string_view name, const Caller& caller) {
    auto known = caller.keywords;
    known.emplace_back("comm");
    for (const auto& option : option_table())
        if (option.template in<Options>() && !holds(caller.without, option.name))
            known.push_back(option.name);
    throw nb::type_error(
        (std::string(caller.name) + "() has no keyword '" + std::string(name) + "'" + suggestion(name, known))
            .c_str());
}

// Lines of at most 110 bytes, all but the first indented.
std::string wrapped(const std::string& text, const std::string& indent) {
    constexpr std::size_t longest = 110;
    std::string out;
    std::size_t length = 0;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find(' ', start), text.size());
        const auto word = text.substr(start, end - start);
        const bool breaks = length + word.size() >= longest;
        if (!out.empty()) out += breaks ? "\n" + indent : " ";
        length = (breaks ? indent.size() : length) + word.size() + 1;
        out += word;
        start = end + 1;
    }
    return out;
}

} // namespace

std::string stub_name(const OptionInfo& option) {
    std::string out = "_";
    bool upper = true;
    for (const char c : option.name) {
        if (c != '_') out += static_cast<char>(upper && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        upper = c == '_';
    }
    return out;
}

std::string number_text(double value) { return nb::cast<std::string>(nb::repr(nb::float_(value))); }

std::string as_keyword(std::string_view option, std::string_view value) {
    std::string out(option);
    if (value.empty()) return out;
    const auto* row = find_option(option);
    const bool is_number =
        row != nullptr && row->type != OptionType::choice && row->type != OptionType::device;
    if (row != nullptr && row->type == OptionType::lengths && value.find(',') != std::string_view::npos)
        return out.append("=(").append(value).append(")");
    const char* quote = is_number ? "" : "'";
    return out.append("=").append(quote).append(value).append(quote);
}

template <class Options>
Options options_from(const nb::kwargs& keywords, const Caller& caller) {
    Options options;
    for (const auto& [key, value] : keywords) {
        const auto name = nb::cast<std::string>(key);
        if (name == "comm") {
            options.communicator = communicator_from(value);
            continue;
        }
        const auto* option = find_option(name);
        if (option == nullptr || !option->template in<Options>() || holds(caller.without, name))
            unknown_keyword<Options>(name, caller);
        set_option(options, *option, value);
    }
    return options;
}

template <class Options>
std::string option_parameters(const std::vector<std::string_view>& without) {
    std::string out;
    for (const auto& option : option_table()) {
        if (!option.template in<Options>() || holds(without, option.name)) continue;
        const auto by_default = to_python(option, option.template in<Options>().get(Options{}));
        out += ", " + std::string(option.name) + ": " + type_text(option) + " = " +
               nb::cast<std::string>(nb::repr(by_default));
    }
    return out + ", comm: Communicator | typing.Any | None = None";
}

template <class Options>
std::string option_docs(const std::vector<std::string_view>& without) {
    std::string out;
    for (const auto& option : option_table())
        if (option.template in<Options>() && !holds(without, option.name))
            out +=
                "\n    " + wrapped(std::string(option.name) + ": " + guide_text<Options>(option), "        ");
    out += "\n    " + wrapped(std::string("comm: ranks that compute together, a communicator of mpi4py or a "
                                          "farfield.Communicator; ") +
                                  (std::is_same_v<Options, SumOptions>
                                       ? "each gives its own points and gets the results at its own."
                                       : "all of them are given all bodies and share the work of each step."),
                              "        ");
    return out;
}

template SumOptions options_from<SumOptions>(const nb::kwargs&, const Caller&);
template ForceOptions options_from<ForceOptions>(const nb::kwargs&, const Caller&);
template std::string option_parameters<SumOptions>(const std::vector<std::string_view>&);
template std::string option_parameters<ForceOptions>(const std::vector<std::string_view>&);
template std::string option_docs<SumOptions>(const std::vector<std::string_view>&);
template std::string option_docs<ForceOptions>(const std::vector<std::string_view>&);

void bind_options(nb::class_<ForceOptions>& cls) {
    std::vector<std::string> fields;
    for (const auto& option : option_table()) {
        if (!option.force) continue;
        const auto& name = fields.emplace_back(option.name);
        const auto type = type_text(option);
        const auto getter = "def " + name + "(self) -> " + type;
        const auto setter = "def " + name + "(self, value: " + type + ", /) -> None";
        cls.def_prop_rw(
            name.c_str(),
            [&option](const ForceOptions& self) { return to_python(option, option.force.get(self)); },
            [&option](ForceOptions& self, const nb::object& value) { set_option(self, option, value); },
            nb::for_getter(nb::sig(getter.c_str())), nb::for_setter(nb::sig(setter.c_str())),
            guide_text<ForceOptions>(option).c_str());
    }
    make_record(cls, fields);
    cls.def_prop_rw(
        "comm", [](const ForceOptions& self) { return self.communicator; },
        [](ForceOptions& self, nb::handle value) { self.communicator = communicator_from(value); },
        nb::for_setter(nb::sig("def comm(self, value: Communicator | typing.Any | None, /) -> None")),
        "Ranks that share the work of each step; all are given all bodies. It is no part of `asdict()`.");
    cls.def(
        "__getstate__",
        [](const ForceOptions& self) {
            nb::dict values;
            for (const auto& option : option_table())
                if (option.force)
                    values[nb::str(option.name.data(), option.name.size())] =
                        to_python(option, option.force.get(self));
            return nb::make_tuple(values);
        },
        FF_GETSTATE_SIG);
    cls.def(
        "__setstate__",
        [](ForceOptions& self, const nb::tuple& state) {
            require_state(state, 1);
            const auto values = nb::cast<nb::dict>(state[0]);
            ForceOptions options;
            for (const auto& option : option_table())
                if (const nb::str name(option.name.data(), option.name.size());
                    option.force && values.contains(name))
                    option.force.set(options, value_from(option, nb::object(values[name])));
            new (&self) ForceOptions(std::move(options));
        },
        FF_SETSTATE_SIG);
}

} // namespace farfield::python
