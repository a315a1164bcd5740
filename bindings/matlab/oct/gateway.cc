// SPDX-License-Identifier: Apache-2.0
// The one function that the .m files of +warpool call in Octave: warpool_gateway(verb, ...). It is not for users: arguments are
// checked by the .m files, except what comes from a program's own data.
#include <octave/interpreter.h>
#include <octave/oct.h>
#include <octave/ov-typeinfo.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "draft.h"
#include "facts.h"
#include "failure.h"
#include "keeper.h"
#include "layout.h"
#include "session.h"
#include "value_in.h"
#include "value_out.h"

namespace warpool_oct {

namespace {

using Arguments = octave_value_list;

std::string text_of(const octave_value& value, const char* what) {
  if (!value.is_string()) {
    warpool_error error;
    wpm_refuse(&error, "%s must be text, such as 'lab/signal'", what);
    raise(error);
  }
  return value.string_value();
}

std::string text_argument(const Arguments& args, int index, const char* what) {
  return text_of(index < args.length() ? args(index) : octave_value(), what);
}

/// The arguments that a verb looks at without asking whether they are there.
void need(const Arguments& args, int count) {
  if (args.length() < count) {
    warpool_error error;
    wpm_refuse(&error, "too few arguments");
    raise(error);
  }
}

double number_argument(const Arguments& args, int index) {
  return index < args.length() ? args(index).double_value() : 0;
}

warpool_connection* connection() {
  warpool_connection* result = nullptr;
  warpool_error error;
  check(wpm_connection(&result, &error), error);
  return result;
}

/// The options of put, create and load from `args(index)` (four numbers) and `args(index + 1)` (attributes as JSON).
class CreateOptions {
 public:
  CreateOptions(const Arguments& args, int index) {
    double numbers[4] = {0, 0, 0, 0};
    if (index < args.length()) {
      const NDArray given = args(index).array_value();
      for (int i = 0; i < 4 && i < given.numel(); i++) {
        numbers[i] = given.xelem(i);
      }
      attributes_ = text_argument(args, index + 1, "attrs");
    }
    wait_ = wpm_wait(numbers[3]);
    options_ =
        wpm_create_options(numbers, attributes_.empty() ? nullptr : attributes_.c_str(), &wait_);
  }
  CreateOptions(const CreateOptions&) = delete;
  CreateOptions& operator=(const CreateOptions&) = delete;
  const warpool_create_options* get() const { return &options_; }

 private:
  std::string attributes_;
  warpool_wait wait_;
  warpool_create_options options_;
};

octave_value put(const octave_value& name, const octave_value& value,
                 const warpool_create_options* options = nullptr) {
  warpool_error error;
  std::uint64_t version = 0;
  const std::string text = text_of(name, "the name");
  const Packer packer(value);
  check(warpool_put(connection(), text.c_str(), packer.parts(), packer.count(), options, &version,
                    &error),
        error);
  return octave_value(static_cast<double>(version));
}

// warpool_gateway('put', name, value [, numbers, attributes])
octave_value put_verb(const Arguments& args) {
  need(args, 3);
  if (args.length() == 3) {
    return put(args(1), args(2));
  }
  const CreateOptions options(args, 3);
  return put(args(1), args(2), options.get());
}

struct ArrayReleaser {
  void operator()(warpool_array* item) const { warpool_array_release(item); }
};

octave_value get(const octave_value& name, double version, double wait_ms) {
  warpool_error error;
  warpool_array* item = nullptr;
  const std::string text = text_of(name, "the name");
  const warpool_wait wait = wpm_wait(wait_ms);
  check(warpool_get(connection(), text.c_str(), static_cast<std::uint64_t>(version),
                    wait_ms != 0 ? &wait : nullptr, &item, &error),
        error);
  const std::unique_ptr<warpool_array, ArrayReleaser> owner(item);
  return value_of(item);
}

// warpool_gateway('get', name [, version, wait_ms])
octave_value get_verb(const Arguments& args) {
  need(args, 2);
  return get(args(1), number_argument(args, 2), number_argument(args, 3));
}

// warpool_gateway('create', name, extents, class, numbers, attributes)
octave_value create(const Arguments& args, octave::interpreter& interp) {
  need(args, 6);
  static bool is_registered = false;
  if (!is_registered) {
    WarpoolDraft::register_type(interp.get_type_info());
    is_registered = true;
  }
  warpool_error error;
  auto state = std::make_shared<DraftState>();
  state->name = text_argument(args, 1, "the name");
  const NDArray extents = args(2).array_value();
  const std::uint32_t dtype =
      wpm_dtype_of_class(text_argument(args, 3, "the class").c_str(), &error);
  if (dtype == 0) {
    raise(error);
  }
  std::vector<std::int64_t> shape;
  for (octave_idx_type i = 0; i < extents.numel(); i++) {
    shape.push_back(static_cast<std::int64_t>(extents.xelem(i)));
  }
  const CreateOptions options(args, 4);
  check(warpool_part_init(&state->part, dtype, static_cast<std::uint32_t>(shape.size()),
                          shape.data(), WARPOOL_ORDER_F, &error),
        error);
  warpool_draft* draft = nullptr;
  check(warpool_create(connection(), state->name.c_str(), &state->part, 1, options.get(), &draft,
                       &error),
        error);
  wpm_hold_draft(&state->slot, draft);
  state->data = warpool_draft_data(draft, 0);
  return octave_value(new WarpoolDraft(std::move(state)));
}

DraftState& draft_argument(const Arguments& args) {
  auto* value = args.length() > 1 && args(1).class_name() == "warpool_draft"
                    ? dynamic_cast<const WarpoolDraft*>(&args(1).get_rep())
                    : nullptr;
  if (value == nullptr || value->state() == nullptr) {
    warpool_error error;
    wpm_refuse(
        &error,
        "give what warpool.create returned: h = warpool.create(...); h(:) = x; warpool.publish(h)");
    raise(error);
  }
  return *value->state();
}

octave_value publish(const Arguments& args) {
  warpool_error error;
  std::uint64_t version = 0;
  DraftState& state = draft_argument(args);
  state.check_open();
  check(warpool_publish(state.slot.draft, nullptr, &version, &error), error);
  wpm_forget_draft(&state.slot);
  state.fate = "published";
  return octave_value(static_cast<double>(version));
}

octave_value discard(const Arguments& args) {
  wpm_discard_draft(&draft_argument(args).slot);
  return octave_value();
}

octave_value draft_facts(const Arguments& args) {
  const DraftState& state = draft_argument(args);
  octave_scalar_map facts;
  facts.setfield("name", state.name);
  facts.setfield("class", wpm_class_name(state.part.dtype));
  facts.setfield("complex",
                 state.part.dtype == WARPOOL_COMPLEX128 || state.part.dtype == WARPOOL_COMPLEX64);
  facts.setfield("open", state.slot.draft != nullptr);
  return octave_value(facts);
}

/// Makes a struct of what facts.h tells.
class StructMaker {
 public:
  const wpm_sink* sink() const { return &sink_; }
  octave_scalar_map take() { return std::exchange(map_, octave_scalar_map()); }

 private:
  static octave_scalar_map& map(void* context) { return static_cast<StructMaker*>(context)->map_; }
  static void number(void* context, const char* field, double value) {
    map(context).setfield(field, value);
  }
  static void id(void* context, const char* field, std::uint64_t value) {
    map(context).setfield(field, octave_uint64(value));
  }
  static void flag(void* context, const char* field, int value) {
    map(context).setfield(field, value != 0);
  }
  static void text(void* context, const char* field, const char* value) {
    map(context).setfield(field, octave_value(value, '\''));
  }
  static void row(void* context, const char* field, const double* values, std::uint32_t count) {
    RowVector result(static_cast<octave_idx_type>(count));
    std::copy_n(values, count, result.fortran_vec());
    map(context).setfield(field, result);
  }
  static void texts(void* context, const char* field, const char* const* values,
                    std::uint32_t count) {
    Cell cell(static_cast<octave_idx_type>(count), 1);
    for (std::uint32_t i = 0; i < count; i++) {
      cell(static_cast<octave_idx_type>(i)) = octave_value(values[i], '\'');
    }
    map(context).setfield(field, cell);
  }

  octave_scalar_map map_;
  wpm_sink sink_{this, number, id, flag, text, row, texts};
};

/// A column of structs; `tell(i, sink)` tells the facts of one, and `tell(-1, sink)` the names of the fields.
template <typename Tell>
octave_value struct_column(std::size_t count, Tell tell) {
  StructMaker maker;
  tell(-1, maker.sink());
  const string_vector names = maker.take().fieldnames();
  std::vector<Cell> columns(static_cast<std::size_t>(names.numel()),
                            Cell(static_cast<octave_idx_type>(count), 1));
  for (std::size_t i = 0; i < count; i++) {
    tell(static_cast<std::ptrdiff_t>(i), maker.sink());
    const octave_scalar_map one = maker.take();
    for (octave_idx_type f = 0; f < names.numel(); f++) {
      columns[static_cast<std::size_t>(f)](static_cast<octave_idx_type>(i)) =
          one.contents(names(f));
    }
  }
  octave_map result(dim_vector(static_cast<octave_idx_type>(count), 1));
  for (octave_idx_type f = 0; f < names.numel(); f++) {
    result.setfield(names(f), columns[static_cast<std::size_t>(f)]);
  }
  return octave_value(result);
}

struct ListingDeleter {
  void operator()(warpool_listing* listing) const { warpool_listing_free(listing); }
};

octave_value listing_value(warpool_listing* raw) {
  const std::unique_ptr<warpool_listing, ListingDeleter> listing(raw);
  return struct_column(warpool_listing_count(raw), [raw](std::ptrdiff_t i, const wpm_sink* sink) {
    wpm_tell_item(i < 0 ? nullptr : warpool_listing_get(raw, static_cast<std::size_t>(i)), sink);
  });
}

octave_value list(const Arguments& args) {
  warpool_error error;
  warpool_listing* listing = nullptr;
  const std::string pattern = text_argument(args, 1, "the pattern");
  check(warpool_list(connection(), pattern.empty() ? nullptr : pattern.c_str(),
                     static_cast<std::uint32_t>(number_argument(args, 2)), &listing, &error),
        error);
  return listing_value(listing);
}

octave_value stat(const Arguments& args) {
  warpool_error error;
  warpool_listing* listing = nullptr;
  const std::string name = text_argument(args, 1, "the name");
  check(warpool_stat(connection(), name.c_str(),
                     static_cast<std::uint64_t>(number_argument(args, 2)), &listing, &error),
        error);
  return listing_value(listing);
}

octave_value remove(const Arguments& args) {
  warpool_error error;
  const std::string name = text_argument(args, 1, "the name");
  check(warpool_remove(connection(), name.c_str(),
                       static_cast<std::uint64_t>(number_argument(args, 2)), &error),
        error);
  return octave_value();
}

octave_value chmod(const Arguments& args) {
  warpool_error error;
  const std::string name = text_argument(args, 1, "the name");
  check(warpool_chmod(connection(), name.c_str(),
                      static_cast<std::uint32_t>(number_argument(args, 2)), &error),
        error);
  return octave_value();
}

octave_value expire(const Arguments& args) {
  warpool_error error;
  const std::string name = text_argument(args, 1, "the name");
  check(warpool_expire(connection(), name.c_str(),
                       static_cast<std::int64_t>(number_argument(args, 2)), &error),
        error);
  return octave_value();
}

octave_value save(const Arguments& args) {
  warpool_error error;
  const std::string name = text_argument(args, 1, "the name");
  const std::string path = text_argument(args, 2, "the file");
  check(warpool_save(connection(), name.c_str(),
                     static_cast<std::uint64_t>(number_argument(args, 3)), path.c_str(), &error),
        error);
  return octave_value();
}

octave_value load(const Arguments& args) {
  warpool_error error;
  std::uint64_t version = 0;
  const std::string path = text_argument(args, 1, "the file");
  const std::string name = text_argument(args, 2, "the name");
  const CreateOptions options(args, 3);
  check(warpool_load(connection(), path.c_str(), name.c_str(), options.get(), &version, &error),
        error);
  return octave_value(static_cast<double>(version));
}

octave_value watch_open(const Arguments& args) {
  warpool_error error;
  double watch = 0;
  const std::string pattern = text_argument(args, 1, "the pattern");
  check(wpm_watch_open(pattern.empty() ? nullptr : pattern.c_str(),
                       static_cast<std::uint32_t>(number_argument(args, 2)),
                       number_argument(args, 3) != 0, &watch, &error),
        error);
  return octave_value(watch);
}

octave_value watch_next(const Arguments& args) {
  warpool_error error;
  warpool_event event;
  check(wpm_watch_next(number_argument(args, 1), number_argument(args, 2), &event, &error), error);
  StructMaker maker;
  wpm_tell_event(&event, maker.sink());
  return octave_value(maker.take());
}

octave_value watch_close(const Arguments& args) {
  wpm_watch_close(number_argument(args, 1));
  return octave_value();
}

struct SessionsDeleter {
  void operator()(warpool_sessions* sessions) const { warpool_sessions_free(sessions); }
};

octave_value sessions(const Arguments& args) {
  warpool_error error;
  warpool_sessions* raw = nullptr;
  const std::string run = args.length() > 1 ? text_argument(args, 1, "the run") : std::string();
  check(warpool_list_sessions(connection(), run.empty() ? nullptr : run.c_str(), &raw, &error),
        error);
  const std::unique_ptr<warpool_sessions, SessionsDeleter> owner(raw);
  return struct_column(warpool_sessions_count(raw), [raw](std::ptrdiff_t i, const wpm_sink* sink) {
    wpm_tell_session(i < 0 ? nullptr : warpool_sessions_get(raw, static_cast<std::size_t>(i)),
                     sink);
  });
}

octave_value status(const Arguments&) {
  warpool_error error;
  warpool_broker_info info{};
  info.struct_size = sizeof info;
  check(warpool_get_broker_info(connection(), &info, &error), error);
  StructMaker maker;
  wpm_tell_broker(&info, maker.sink());
  return octave_value(maker.take());
}

octave_value ping(const Arguments&) {
  warpool_error error;
  check(warpool_ping(connection(), &error), error);
  return octave_value();
}

// warpool_gateway('connect', label, socket, flags); empty texts stand for the defaults.
octave_value connect(const Arguments& args) {
  warpool_error error;
  const std::string label = text_argument(args, 1, "the label");
  const std::string path = text_argument(args, 2, "the socket");
  check(wpm_connect(label.empty() ? nullptr : label.c_str(), path.empty() ? nullptr : path.c_str(),
                    static_cast<std::uint32_t>(number_argument(args, 3)), &error),
        error);
  return octave_value();
}

octave_value disconnect(const Arguments&) {
  wpm_disconnect();
  return octave_value();
}

octave_value version(const Arguments&) {
  octave_scalar_map facts;
  facts.setfield("warpool", warpool_version());
  facts.setfield("gateway", "oct");
#if defined(OCTAVE_HAVE_STD_PMR_POLYMORPHIC_ALLOCATOR)
  facts.setfield("borrowing", "memory resource");
#else
  facts.setfield("borrowing", "keeper reference");
#endif
  facts.setfield("built_for", OCTAVE_VERSION);
  return octave_value(facts);
}

/// For tests: ends all loans that are over, and returns how many are left.
octave_value sweep(const Arguments&) {
  return octave_value(static_cast<double>(sweep_all()));
}

/// For tests: the address of a value's first element.
octave_value address(const Arguments& args) {
  need(args, 2);
  if (args(1).class_name() == "warpool_draft") {
    return octave_value(octave_uint64(reinterpret_cast<std::uintptr_t>(draft_argument(args).data)));
  }
  return octave_value(octave_uint64(reinterpret_cast<std::uintptr_t>(args(1).mex_get_data())));
}

struct Verb {
  const char* name;
  octave_value (*call)(const Arguments&);
};

const Verb kVerbs[] = {
    {"put", put_verb},
    {"get", get_verb},
    {"publish", publish},
    {"discard", discard},
    {"draft", draft_facts},
    {"list", list},
    {"stat", stat},
    {"rm", remove},
    {"chmod", chmod},
    {"expire", expire},
    {"save", save},
    {"load", load},
    {"watch_open", watch_open},
    {"watch_next", watch_next},
    {"watch_close", watch_close},
    {"sessions", sessions},
    {"status", status},
    {"ping", ping},
    {"connect", connect},
    {"disconnect", disconnect},
    {"version", version},
    {"sweep", sweep},
    {"address", address},
};

void set_up(octave::interpreter& interp) {
  static bool is_set_up = false;
  if (is_set_up) {
    return;
  }
  is_set_up = true;
  // Borrowed arrays and drafts point into this file: `clear all` must not unload it.
  interp.mlock();
  wpm_configure("octave", interrupted);
  std::atexit(wpm_disconnect);
}

octave_value call(const Arguments& args, octave::interpreter& interp) {
  set_up(interp);
  sweep_some();
  const std::string verb = text_argument(args, 0, "the verb");
  if (verb == "create") {
    return create(args, interp);
  }
  for (const Verb& known : kVerbs) {
    if (verb == known.name) {
      return known.call(args);
    }
  }
  warpool_error error;
  wpm_refuse(&error,
             "there is no verb '%s': the .m files of +warpool and this gateway are of different "
             "versions; install both again",
             verb.c_str());
  raise(error);
}

}  // namespace

}  // namespace warpool_oct

// What help says of these two is made from the .m files that they stand in for.
#include "help_texts.h"

DEFMETHOD_DLD(warpool_gateway, interp, args, ,
              "-*- texinfo -*-\n@deftypefn {} {} warpool_gateway (@var{verb}, @dots{})\n"
              "What the functions of the package @code{warpool} call. Not for users: see "
              "@code{help warpool.put}.\n"
              "@end deftypefn") {
  return octave_value_list(warpool_oct::call(args, interp));
}

// +warpool/put.oct and +warpool/get.oct are this file under other names. A call with options goes through the .m files.

DEFMETHOD_DLD(put, interp, args, nargout, WARPOOL_HELP_PUT) {
  if (args.length() != 2) {
    return interp.feval("warpool.internal.put_with_options", args, nargout);
  }
  warpool_oct::set_up(interp);
  warpool_oct::sweep_some();
  return octave_value_list(warpool_oct::put(args(0), args(1)));
}

DEFMETHOD_DLD(get, interp, args, nargout, WARPOOL_HELP_GET) {
  if (args.length() != 1) {
    return interp.feval("warpool.internal.get_with_options", args, nargout);
  }
  warpool_oct::set_up(interp);
  warpool_oct::sweep_some();
  return octave_value_list(warpool_oct::get(args(0), 0, 0));
}
