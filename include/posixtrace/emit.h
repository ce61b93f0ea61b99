/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Typed events in one line:
 *
 *     POSIXTRACE_EVENT("order", id, price, symbol);
 *
 * traces an event of type "order" with three fields, which have the names and types of the
 * arguments, and describes the type (posixtrace/typed.h) when the line runs first.  The arguments
 * are evaluated once, also when no stream traces; then the compiler leaves out what has no effect.
 * For that each is in the code twice: no label or static object may be defined in one; and whether
 * a stream wants the event is asked before they are evaluated: a stream that starts while one of
 * them blocks, as read() does, has no event of it.  Compared with posix_trace_event() the line
 * costs only a test whether a stream records the type, and the stores that pack the fields.
 *
 *     POSIXTRACE_EVENT_TYPE(order, "order", (uint32_t, id), (double, price),
 *                           (const char *, symbol))
 *
 * at file scope makes a function trace_order(uint32_t id, double price, const char
 * *symbol) that does the same, and whose arguments the compiler checks.  Up to 15
 * fields each; for C11 with the extensions of gcc and clang, and for C++11.
 *
 * Types: bool, char, the integers (a bit-field as `+s.bits`), float, double, long double (stored as
 * double), char * and const char * (a string, with its NUL; NULL traces ""), void * and
 * const void * (an address), posixtrace_text(string, length) (a string that has a length and
 * perhaps no NUL).
 * In C++ also enumerations, stored as their underlying type, and string classes (std::string,
 * std::string_view: data() of const char and size()), stored up to a NUL in them.  Any other is
 * an error of the compiler.  Strings of one event have POSIXTRACE_EMIT_STRINGS bytes together;
 * the rest is cut off.  Define that before the first use for another size.
 *
 * A string is read after its argument was evaluated, when temporary objects of the argument
 * are destroyed.  A temporary std::string as the argument itself is kept; one that the
 * argument only refers into is not: name the object first instead of passing make().c_str(),
 * a reference that make().name() returns, or a std::string_view of a temporary.
 *
 * Field names: the last identifier of the argument, `p->count` is count; before the first
 * bracket, `size(list)` is size; of posixtrace_text() that of its first argument.  Where there is
 * none, or it was used, argN.  A macro is expanded first: errno gets the name of a function.
 *
 * The first run of a line opens the event type, which is not async-signal-safe; later runs
 * are, as posix_trace_event() is.  A line in a signal handler has to run once before, or
 * the handler traces by hand what posixtrace_event_describe() has described.  If the type cannot be
 * opened, the event is not traced, and the next run tries again.
 *
 * One name, one description: the first line that runs describes "order".  A line that gives
 * the name to fields of other names, types or order, as a C++ template does, traces events
 * of the type "order#2", a third kind of line "order#3".  A name that is too long for that
 * loses its end.  Filters that name "order" mean these, too (posixtrace-filter(5)); its id
 * is that of the first alone.  An earlier description stays if it names the same values and has
 * more about them: hexadecimal, or names of values.
 */
#ifndef POSIXTRACE_EMIT_H
#define POSIXTRACE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../trace.h" /* not a trace.h of the program's own */

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#ifndef POSIXTRACE_EMIT_STRINGS
#define POSIXTRACE_EMIT_STRINGS 512
#endif

/*
 * Whether any stream records events of the type now: one load and one test, for a program
 * that would have to prepare the data.  Also true until the first call of the library
 * that finds out.  Async-signal-safe, thread-safe, no cancellation point, leaves errno
 * alone.
 */
bool posixtrace_event_wanted(trace_event_id_t event);

/*
 * An event whose data are the first size bytes of one word, 1 to 8, or of two, 9 to 16, as these
 * lie in memory: as posix_trace_event(), but the data pass in registers.  What POSIXTRACE_EVENT
 * calls for fields that have no more bytes together.  A size beyond that of the words is taken for
 * theirs.  Async-signal-safe and thread-safe, no cancellation point, leaves errno alone.
 */
void posixtrace_event_word(trace_event_id_t event, size_t size, uint64_t first);
void posixtrace_event_words(trace_event_id_t event, size_t size, uint64_t first, uint64_t second);

/*
 * A field of POSIXTRACE_EVENT: the string of at most length bytes, up to a NUL in them; NULL: "".
 * It is read when the line records it, and costs no search for its end where no stream wants the
 * event.  Async-signal-safe and thread-safe.
 */
struct posixtrace_text {
    const char *string;
    size_t length;
#ifdef __cplusplus
    const char *data() const
    {
        return string;
    }
    size_t size() const
    {
        return length;
    }
#endif
};
static inline __attribute__((unused)) struct posixtrace_text posixtrace_text(const char *string,
                                                                             size_t length)
{
    struct posixtrace_text text = { string, length };

    return text;
}

/*
 * Opens the type for a line of the program and describes it: count fields with these types
 * (words of posixtrace-description(5)) and names, made of expressions.  If the name has
 * another description, the type is a further one, NAME#2 and so on.  *site keeps the id,
 * which is returned; 0 if there is no memory, or a type is not such a word.  Thread-safe, not
 * async-signal-safe.
 */
trace_event_id_t posixtrace_site_open(trace_event_id_t *site, const char *event_name,
                                      const char *const *types, const char *const *fields,
                                      size_t count);

/*
 * Where a line of the program looks without a call whether any stream records its type: the address
 * of a pointer to a word for each type, which is not 0 where posixtrace_event_wanted() is true.
 * The address stays the same while the library is loaded; the pointer changes, so it is loaded each
 * time.  Only to be read.
 * Async-signal-safe and thread-safe.
 */
const uint64_t *const *posixtrace_site_gates(void);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

/* ---- internals of the macros; not for use ---- */

#if __SIZEOF_LONG__ == 8
#define POSIXTRACE_LONG_  "i64"
#define POSIXTRACE_ULONG_ "u64"
#else
#define POSIXTRACE_LONG_  "i32"
#define POSIXTRACE_ULONG_ "u32"
#endif
#if __SIZEOF_POINTER__ == 8
#define POSIXTRACE_POINTER_ "x64"
#else
#define POSIXTRACE_POINTER_ "x32"
#endif

#ifdef __cplusplus
#define POSIXTRACE_CAST_(type, value) static_cast<type>(value)
#else
#define POSIXTRACE_CAST_(type, value) ((type)(value))
#endif

static inline __attribute__((always_inline, unused)) bool
pxt_is_wanted_(const uint64_t *const *gates, trace_event_id_t event)
{
    const uint64_t *word = __atomic_load_n(gates, __ATOMIC_RELAXED) + event;
#if __SIZEOF_POINTER__ == 8
    return __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
#else
    /* Either half tells, and needs no access of 64 bits. */
    typedef uint32_t __attribute__((may_alias)) half;
    const half *halves = POSIXTRACE_CAST_(const half *, POSIXTRACE_CAST_(const void *, word));

    return (__atomic_load_n(&halves[0], __ATOMIC_RELAXED) |
            __atomic_load_n(&halves[1], __ATOMIC_RELAXED)) != 0;
#endif
}

struct pxt_packer_ {
    unsigned char *at;
    size_t room; /* for strings, without their NULs */
};

static inline __attribute__((always_inline, unused)) void
pxt_pack_plain_(struct pxt_packer_ *p, const void *value, size_t size)
{
    memcpy(p->at, value, size);
    p->at += size;
}

static inline __attribute__((unused)) void pxt_pack_long_double_(struct pxt_packer_ *p,
                                                                 const void *value, size_t size)
{
    long double wide;
    double narrow;

    memcpy(&wide, value, size);
    narrow = POSIXTRACE_CAST_(double, wide);
    pxt_pack_plain_(p, &narrow, sizeof narrow);
}

/* Fields without strings, at most 16 bytes of them, as they would lie in memory.  bits: so many are
 * in use. */
struct pxt_words_ {
    uint64_t first, second;
    unsigned bits;
};

/* A long double, which is longer than a word, is stored as double. */
static inline __attribute__((always_inline, unused)) void
pxt_put_word_(struct pxt_words_ *w, const void *value, size_t size)
{
    uint64_t word = 0;

    if (size > 8) {
        long double wide = 0;
        double narrow;

        memcpy(&wide, value, size < sizeof wide ? size : sizeof wide);
        narrow = POSIXTRACE_CAST_(double, wide);
        size = sizeof narrow;
        memcpy(&word, &narrow, sizeof narrow);
    } else if (size == 8) {
        memcpy(&word, value, 8);
    } else if (size == 4) {
        uint32_t part;

        memcpy(&part, value, 4);
        word = part;
    } else if (size == 2) {
        uint16_t part;

        memcpy(&part, value, 2);
        word = part;
    } else {
        uint8_t part;

        memcpy(&part, value, 1);
        word = part;
    }
    if (w->bits < 64)
        w->first |= word << w->bits;
    if (w->bits >= 64)
        w->second |= word << (w->bits - 64);
    else if (w->bits + size * 8 > 64)
        w->second |= word >> (64 - w->bits);
    w->bits += POSIXTRACE_CAST_(unsigned, size * 8);
}

static inline __attribute__((always_inline, unused)) void
pxt_trace_words_(trace_event_id_t event, const struct pxt_words_ *w)
{
    if (w->bits <= 64)
        posixtrace_event_word(event, w->bits / 8, w->first);
    else
        posixtrace_event_words(event, w->bits / 8, w->first, w->second);
    /* As a function's last call it would become a jump, and the event's address the caller's. */
    __asm__ __volatile__("");
}

/* Packs up to a NUL, if there is one; at most size bytes may be read. */
static inline __attribute__((unused)) void pxt_pack_text_(struct pxt_packer_ *p, const char *string,
                                                          size_t size)
{
    size_t length = size < p->room ? size : p->room;
    const char *end;

    /* The room may be more than an array has that the compiler knows: no cause to warn. */
    __asm__("" : "+r"(string));
    /* As strnlen(), which strict C does not declare. */
    end = string && length ? POSIXTRACE_CAST_(const char *, memchr(string, 0, length)) : string;
    length = end ? POSIXTRACE_CAST_(size_t, end - string) : string ? length : 0;
    if (length)
        memcpy(p->at, string, length);
    p->at[length] = 0;
    p->at += length + 1;
    p->room -= length;
}

static inline __attribute__((unused)) void pxt_pack_string_(struct pxt_packer_ *p,
                                                            const void *value, size_t size)
{
    const char *string;

    memcpy(&string, value, size);
    pxt_pack_text_(p, string, SIZE_MAX);
}

static inline __attribute__((unused)) void pxt_pack_span_(struct pxt_packer_ *p, const void *value,
                                                          size_t size)
{
    struct posixtrace_text text;

    memcpy(&text, value, size);
    pxt_pack_text_(p, text.string, text.length);
}

#ifdef __cplusplus

#define POSIXTRACE_LOCAL_(i, x)  auto posixtrace_v##i = pxt_value_(x);
#define POSIXTRACE_TYPE_(v)      pxt_typed_<decltype(v)>::name()
#define POSIXTRACE_IS_STRING_(v) pxt_typed_<decltype(v)>::is_string
#define POSIXTRACE_PACK_(p, v)   pxt_typed_<decltype(v)>::pack(&p, &v, sizeof v)

template <bool, typename T> struct pxt_if_ {
};
template <typename T> struct pxt_if_<true, T> {
    typedef T type;
};

/* A string class, as std::string and std::string_view: data() gives const char *. */
template <typename T>
auto pxt_text_test_(const T *t, int)
    -> decltype(static_cast<void>(t->size()), static_cast<const char *>(t->data()), true);
template <typename T> void *pxt_text_test_(const T *, long);
template <typename T> struct pxt_is_text_ {
    static constexpr bool value = sizeof pxt_text_test_(static_cast<T *>(nullptr), 0) ==
                                  sizeof true;
};
template <typename T> struct pxt_is_text_<T &> {
    static constexpr bool value = false;
};

template <typename T, bool text = pxt_is_text_<T>::value> struct pxt_typed_ {
    static constexpr bool is_string = false, known = false;
    static const char *name()
    {
        return "";
    }
    static void pack(pxt_packer_ *, const void *, size_t)
    {
    }
};
template <typename T> struct pxt_typed_<T, true> {
    static constexpr bool is_string = true, known = true;
    static const char *name()
    {
        return "str";
    }
    static void pack(pxt_packer_ *p, const void *value, size_t)
    {
        const T *text = static_cast<const T *>(value);

        pxt_pack_text_(p, text->data(), text->size());
    }
};
#define POSIXTRACE_TYPED_(type, text, string, how)                       \
    template <> struct pxt_typed_<type, false> {                         \
        static constexpr bool is_string = string, known = true;          \
        static const char *name()                                        \
        {                                                                \
            return text;                                                 \
        }                                                                \
        static void pack(pxt_packer_ *p, const void *value, size_t size) \
        {                                                                \
            how(p, value, size);                                         \
        }                                                                \
    };
POSIXTRACE_TYPED_(bool, "bool", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(char, "char", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(signed char, "i8", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(unsigned char, "u8", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(short, "i16", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(unsigned short, "u16", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(int, "i32", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(unsigned, "u32", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(long, POSIXTRACE_LONG_, false, pxt_pack_plain_)
POSIXTRACE_TYPED_(unsigned long, POSIXTRACE_ULONG_, false, pxt_pack_plain_)
POSIXTRACE_TYPED_(long long, "i64", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(unsigned long long, "u64", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(float, "f32", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(double, "f64", false, pxt_pack_plain_)
POSIXTRACE_TYPED_(long double, "f64", false, pxt_pack_long_double_)
POSIXTRACE_TYPED_(void *, POSIXTRACE_POINTER_, false, pxt_pack_plain_)
POSIXTRACE_TYPED_(const void *, POSIXTRACE_POINTER_, false, pxt_pack_plain_)
POSIXTRACE_TYPED_(char *, "str", true, pxt_pack_string_)
POSIXTRACE_TYPED_(const char *, "str", true, pxt_pack_string_)
#undef POSIXTRACE_TYPED_

#define POSIXTRACE_NO_FIELD_                                        \
    "POSIXTRACE_EVENT: no type for a field; known are bool, char, " \
    "integers, enumerations, float, double, char *, void * and string classes"

/* Traits of the compiler, which cannot be used in the type of a function. */
template <typename T> struct pxt_kind_ {
    static constexpr bool is_enum = __is_enum(T), is_text = pxt_is_text_<T>::value,
                          is_other = (__is_class(T) || __is_union(T)) && !is_text,
                          is_plain = !is_enum && !is_text && !is_other;
};
template <typename T, bool = pxt_kind_<T>::is_enum> struct pxt_underlying_ {
};
template <typename T> struct pxt_underlying_<T, true> {
    typedef __underlying_type(T) type;
};

template <typename T>
static inline typename pxt_if_<pxt_kind_<T>::is_plain, T>::type pxt_value_(T value)
{
    static_assert(pxt_typed_<T>::known, POSIXTRACE_NO_FIELD_);
    return value;
}

template <typename T> static inline typename pxt_underlying_<T>::type pxt_value_(T value)
{
    return static_cast<typename pxt_underlying_<T>::type>(value);
}

/* The stored form of a string class; the object itself if the argument was a temporary. */
template <typename T>
static inline typename pxt_if_<pxt_kind_<T>::is_text, struct posixtrace_text>::type
pxt_value_(const T &text)
{
    return { text.data(), static_cast<size_t>(text.size()) };
}

template <typename T>
static inline typename pxt_if_<pxt_kind_<T>::is_text, T>::type pxt_value_(T &&text)
{
    return static_cast<T &&>(text);
}

template <typename T>
static inline typename pxt_if_<pxt_kind_<T>::is_other, int>::type pxt_value_(const T &)
{
    static_assert(pxt_typed_<T>::known, POSIXTRACE_NO_FIELD_);
    return 0;
}

#else

#define POSIXTRACE_LOCAL_(i, x) __extension__ __auto_type posixtrace_v##i = (x);
#define POSIXTRACE_TYPE_(v) \
    _Generic((v), \
    _Bool: "bool", char: "char", signed char: "i8", unsigned char: "u8", short: "i16", \
    unsigned short: "u16", int: "i32", unsigned: "u32", long: POSIXTRACE_LONG_, \
    unsigned long: POSIXTRACE_ULONG_, long long: "i64", unsigned long long: "u64", \
    float: "f32", double: "f64", long double: "f64", void *: POSIXTRACE_POINTER_, \
    const void *: POSIXTRACE_POINTER_, char *: "str", const char *: "str", \
    struct posixtrace_text: "str")
#define POSIXTRACE_IS_STRING_(v) \
    _Generic((v), char * : 1, const char * : 1, struct posixtrace_text : 1, default : 0)
#define POSIXTRACE_PACK_(p, v) \
    _Generic((v), char *: pxt_pack_string_, const char *: pxt_pack_string_, \
    struct posixtrace_text: pxt_pack_span_, long double: pxt_pack_long_double_, \
    default: pxt_pack_plain_)(&p, &v, sizeof v)

#endif

/* EACH(m, s, x, ...): m(1, x), then s() m(i, x) for each further one. */
#define POSIXTRACE_CAT_(a, b)  POSIXTRACE_CAT2_(a, b)
#define POSIXTRACE_CAT2_(a, b) a##b
#define POSIXTRACE_COUNT_(...) \
    POSIXTRACE_COUNT2_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define POSIXTRACE_COUNT2_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) count
#define POSIXTRACE_NONE_()
#define POSIXTRACE_COMMA_()                      ,
#define POSIXTRACE_PLUS_()                       +
#define POSIXTRACE_OR_()                         ||
#define POSIXTRACE_1_(m, s, a)                   m(1, a)
#define POSIXTRACE_2_(m, s, a, b)                POSIXTRACE_1_(m, s, a) s() m(2, b)
#define POSIXTRACE_3_(m, s, a, b, c)             POSIXTRACE_2_(m, s, a, b) s() m(3, c)
#define POSIXTRACE_4_(m, s, a, b, c, d)          POSIXTRACE_3_(m, s, a, b, c) s() m(4, d)
#define POSIXTRACE_5_(m, s, a, b, c, d, e)       POSIXTRACE_4_(m, s, a, b, c, d) s() m(5, e)
#define POSIXTRACE_6_(m, s, a, b, c, d, e, f)    POSIXTRACE_5_(m, s, a, b, c, d, e) s() m(6, f)
#define POSIXTRACE_7_(m, s, a, b, c, d, e, f, g) POSIXTRACE_6_(m, s, a, b, c, d, e, f) s() m(7, g)
#define POSIXTRACE_8_(m, s, a, b, c, d, e, f, g, h) \
    POSIXTRACE_7_(m, s, a, b, c, d, e, f, g) s() m(8, h)
#define POSIXTRACE_9_(m, s, a, b, c, d, e, f, g, h, i) \
    POSIXTRACE_8_(m, s, a, b, c, d, e, f, g, h) s() m(9, i)
#define POSIXTRACE_10_(m, s, a, b, c, d, e, f, g, h, i, j) \
    POSIXTRACE_9_(m, s, a, b, c, d, e, f, g, h, i) s() m(10, j)
#define POSIXTRACE_11_(m, s, a, b, c, d, e, f, g, h, i, j, k) \
    POSIXTRACE_10_(m, s, a, b, c, d, e, f, g, h, i, j) s() m(11, k)
#define POSIXTRACE_12_(m, s, a, b, c, d, e, f, g, h, i, j, k, l) \
    POSIXTRACE_11_(m, s, a, b, c, d, e, f, g, h, i, j, k) s() m(12, l)
#define POSIXTRACE_13_(m, s, a, b, c, d, e, f, g, h, i, j, k, l, n) \
    POSIXTRACE_12_(m, s, a, b, c, d, e, f, g, h, i, j, k, l) s() m(13, n)
#define POSIXTRACE_14_(m, s, a, b, c, d, e, f, g, h, i, j, k, l, n, o) \
    POSIXTRACE_13_(m, s, a, b, c, d, e, f, g, h, i, j, k, l, n) s() m(14, o)
#define POSIXTRACE_15_(m, s, a, b, c, d, e, f, g, h, i, j, k, l, n, o, p) \
    POSIXTRACE_14_(m, s, a, b, c, d, e, f, g, h, i, j, k, l, n, o) s() m(15, p)
#define POSIXTRACE_EACH_(m, s, ...)                                                  \
    POSIXTRACE_CAT_(POSIXTRACE_CAT_(POSIXTRACE_, POSIXTRACE_COUNT_(__VA_ARGS__)), _) \
    (m, s, __VA_ARGS__)

/* For POSIXTRACE_EVENT: types, names and stores, one of each for a field, and locals above. */
#define POSIXTRACE_WORD_(i, x)   POSIXTRACE_TYPE_(posixtrace_v##i)
#define POSIXTRACE_FIELD_(i, x)  #x
#define POSIXTRACE_SIZE_(i, x)   sizeof posixtrace_v##i
#define POSIXTRACE_STRING_(i, x) POSIXTRACE_IS_STRING_(posixtrace_v##i)
#define POSIXTRACE_STORE_(i, x)  POSIXTRACE_PACK_(posixtrace_p, posixtrace_v##i);
#define POSIXTRACE_LEAVE_(i, x)  POSIXTRACE_CAST_(void, posixtrace_v##i);
#define POSIXTRACE_PUT_(i, x) \
    pxt_put_word_(&posixtrace_w, &posixtrace_v##i, sizeof posixtrace_v##i);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define POSIXTRACE_IN_WORDS_ 16
#else
#define POSIXTRACE_IN_WORDS_ 0
#endif

/* Where no stream wants the type, nothing is packed or called, and of the arguments only effects
 * remain. */
#define POSIXTRACE_FIELDS_(event_name, ...)                                                        \
    do {                                                                                           \
        static trace_event_id_t posixtrace_line;                                                   \
        static const uint64_t *const *posixtrace_gates;                                            \
        trace_event_id_t posixtrace_id = __atomic_load_n(&posixtrace_line, __ATOMIC_ACQUIRE);      \
        if (__builtin_expect(posixtrace_id != 0, 1) &&                                             \
            !pxt_is_wanted_(__atomic_load_n(&posixtrace_gates, __ATOMIC_RELAXED),                  \
                            posixtrace_id)) {                                                      \
            POSIXTRACE_EACH_(POSIXTRACE_LOCAL_, POSIXTRACE_NONE_, __VA_ARGS__)                     \
            POSIXTRACE_EACH_(POSIXTRACE_LEAVE_, POSIXTRACE_NONE_, __VA_ARGS__)                     \
            break;                                                                                 \
        }                                                                                          \
        POSIXTRACE_EACH_(POSIXTRACE_LOCAL_, POSIXTRACE_NONE_, __VA_ARGS__)                         \
        enum {                                                                                     \
            posixtrace_strings = POSIXTRACE_EACH_(POSIXTRACE_STRING_, POSIXTRACE_OR_, __VA_ARGS__) \
        };                                                                                         \
        unsigned char                                                                              \
            posixtrace_bytes[POSIXTRACE_EACH_(POSIXTRACE_SIZE_, POSIXTRACE_PLUS_, __VA_ARGS__) +   \
                             (posixtrace_strings ? POSIXTRACE_EMIT_STRINGS : 0)];                  \
        struct pxt_packer_ posixtrace_p = { posixtrace_bytes, POSIXTRACE_EMIT_STRINGS };           \
        if (__builtin_expect(posixtrace_id == 0, 0)) {                                             \
            const char *posixtrace_types[] = { POSIXTRACE_EACH_(POSIXTRACE_WORD_,                  \
                                                                POSIXTRACE_COMMA_, __VA_ARGS__) }; \
            const char *posixtrace_names[] = { POSIXTRACE_EACH_(POSIXTRACE_FIELD_,                 \
                                                                POSIXTRACE_COMMA_, __VA_ARGS__) }; \
            __atomic_store_n(&posixtrace_gates, posixtrace_site_gates(), __ATOMIC_RELAXED);        \
            posixtrace_id = posixtrace_site_open(                                                  \
                &posixtrace_line, event_name, posixtrace_types, posixtrace_names,                  \
                sizeof posixtrace_types / sizeof posixtrace_types[0]);                             \
        }                                                                                          \
        if (!posixtrace_strings && sizeof posixtrace_bytes <= POSIXTRACE_IN_WORDS_) {              \
            struct pxt_words_ posixtrace_w = { 0, 0, 0 };                                          \
            POSIXTRACE_EACH_(POSIXTRACE_PUT_, POSIXTRACE_NONE_, __VA_ARGS__)                       \
            pxt_trace_words_(posixtrace_id, &posixtrace_w);                                        \
            break;                                                                                 \
        }                                                                                          \
        POSIXTRACE_EACH_(POSIXTRACE_STORE_, POSIXTRACE_NONE_, __VA_ARGS__)                         \
        posix_trace_event(posixtrace_id, posixtrace_bytes,                                         \
                          POSIXTRACE_CAST_(size_t, posixtrace_p.at - posixtrace_bytes));           \
    } while (0)

#define POSIXTRACE_BARE_(event_name)                                                           \
    do {                                                                                       \
        static trace_event_id_t posixtrace_site;                                               \
        trace_event_id_t posixtrace_id = __atomic_load_n(&posixtrace_site, __ATOMIC_RELAXED);  \
        if (__builtin_expect(posixtrace_id == 0, 0))                                           \
            posixtrace_id = posixtrace_site_open(&posixtrace_site, event_name, NULL, NULL, 0); \
        posix_trace_event(posixtrace_id, NULL, 0);                                             \
    } while (0)

#define POSIXTRACE_FORM_(one, two, ...)                                                        \
    POSIXTRACE_FORM2_(__VA_ARGS__, two, two, two, two, two, two, two, two, two, two, two, two, \
                      two, two, two, one, 0)
#define POSIXTRACE_FORM2_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, form, ...) form

/* POSIXTRACE_EVENT(name), POSIXTRACE_EVENT(name, field, ...); a statement. */
#define POSIXTRACE_EVENT(...) \
    POSIXTRACE_FORM_(POSIXTRACE_BARE_, POSIXTRACE_FIELDS_, __VA_ARGS__)(__VA_ARGS__)

/* For POSIXTRACE_EVENT_TYPE: (type, name) pairs as parameters and as arguments. */
#define POSIXTRACE_PARAMETER_(i, pair)     POSIXTRACE_PARAMETER2_ pair
#define POSIXTRACE_PARAMETER2_(type, name) type name
#define POSIXTRACE_ARGUMENT_(i, pair)      POSIXTRACE_ARGUMENT2_ pair
#define POSIXTRACE_ARGUMENT2_(type, name)  name

#define POSIXTRACE_EVENT_TYPE(function, event_name, ...)                                        \
    static inline __attribute__((unused)) void trace_##function(                                \
        POSIXTRACE_EACH_(POSIXTRACE_PARAMETER_, POSIXTRACE_COMMA_, __VA_ARGS__))                \
    {                                                                                           \
        POSIXTRACE_TYPE_BODY_(event_name, POSIXTRACE_EACH2_(POSIXTRACE_ARGUMENT_, __VA_ARGS__)) \
    }
#define POSIXTRACE_TYPE_BODY_(event_name, ...) POSIXTRACE_FIELDS_(event_name, __VA_ARGS__);
#define POSIXTRACE_EACH2_(m, ...)              POSIXTRACE_EACH_(m, POSIXTRACE_COMMA_, __VA_ARGS__)

#endif
