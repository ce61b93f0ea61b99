/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_layout_*, _value_*, _field_*: descriptions, apart from any stream. */
#include <errno.h>
#include <stdlib.h>
#include "base/atomics.h"
#include "model/layout.h"

PT_PUBLIC int posixtrace_layout_parse(const char *description, posixtrace_layout_t **layout,
                                      struct posixtrace_layout_fault *fault)
{
    if (fault)
        *fault = (struct posixtrace_layout_fault){ 0 };
    return description && layout ? -pt_layout_parse(description, layout, fault) : EINVAL;
}

PT_PUBLIC void posixtrace_layout_free(posixtrace_layout_t *layout)
{
    free(layout);
}

PT_PUBLIC size_t posixtrace_layout_count(const posixtrace_layout_t *layout)
{
    return layout->count;
}

PT_PUBLIC const struct posixtrace_field *posixtrace_layout_field(const posixtrace_layout_t *layout,
                                                                 size_t i)
{
    return i < layout->count ? &layout->fields[i] : NULL;
}

PT_PUBLIC size_t posixtrace_layout_find(const posixtrace_layout_t *layout, const char *name)
{
    return pt_layout_find(layout, name);
}

PT_PUBLIC bool posixtrace_layout_is_big_endian(const posixtrace_layout_t *layout)
{
    return layout->big_endian;
}

PT_PUBLIC size_t posixtrace_layout_size(const posixtrace_layout_t *layout)
{
    return layout->size;
}

PT_PUBLIC int posixtrace_layout_split(const posixtrace_layout_t *layout, const void *data,
                                      size_t len, struct posixtrace_value *values, size_t *fields)
{
    return -pt_layout_split(layout, data, len, values, fields);
}

PT_PUBLIC uint64_t posixtrace_value_integer(const posixtrace_layout_t *layout, size_t field,
                                            const struct posixtrace_value *value, size_t i)
{
    return pt_value_integer(layout, field, value, i);
}

PT_PUBLIC double posixtrace_value_float(const posixtrace_layout_t *layout, size_t field,
                                        const struct posixtrace_value *value, size_t i)
{
    return pt_value_float(layout, field, value, i);
}

PT_PUBLIC const char *posixtrace_field_enumerator(const struct posixtrace_field *field,
                                                  int64_t value)
{
    return pt_field_enumerator(field, value);
}
