/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Text for readers: times, counts, names of lanes and rows, commands for a shell; and elements of
 * the page.  Text of a log becomes text nodes only, never markup.
 */
"use strict";
(function (PT) {
    const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

    /** A length of time in ns, with three or more significant digits. */
    function duration(ns) {
        const size = Math.abs(ns);

        if (size < 1000)
            return `${Number.isInteger(ns) ? ns : ns.toFixed(1)} ns`;
        for (const [unit, name] of UNITS)
            if (size >= unit) {
                const value = ns / unit;
                const digits = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
                return `${value.toFixed(digits)} ${name}`;
            }
        return "0 ns";
    }

    /** ns since the first event as seconds with all digits: what `print` shows. */
    function offset(ns) {
        const whole = Math.floor(ns / 1e9);
        const rest = Math.round(ns - whole * 1e9);

        return `${whole}.${String(rest).padStart(9, "0")}`;
    }

    /** A form that --from and --to read: exact. */
    function argument(ns) {
        return `+${offset(Math.max(0, Math.round(ns)))}s`;
    }

    function count(n) {
        return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    }

    /** "1 event", "2 events" */
    function plural(n, one, many) {
        return `${count(n)} ${Number(n) === 1 ? one : many || one + "s"}`;
    }

    function percent(part, whole) {
        return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "";
    }

    /** At most so many letters. */
    function cut(text, letters) {
        return text.length > letters ? `${text.slice(0, Math.max(0, letters - 1))}…` : text;
    }

    /** el("td", {class: "n"}, child, "text", …): attributes, then children; strings become text. */
    function el(tag, attributes, ...children) {
        const node = document.createElement(tag);

        return fill(node, attributes, children);
    }

    function svg(tag, attributes, ...children) {
        const node = document.createElementNS("http://www.w3.org/2000/svg", tag);

        return fill(node, attributes, children);
    }

    function fill(node, attributes, children) {
        for (const [name, value] of Object.entries(attributes || {}))
            if (name === "click")
                node.addEventListener("click", value);
            else if (value !== null && value !== undefined && value !== false)
                node.setAttribute(name, value === true ? "" : String(value));
        for (const child of children)
            if (child !== null && child !== undefined)
                node.append(child);
        return node;
    }

    function clear(node) {
        while (node.firstChild)
            node.removeChild(node.firstChild);
        return node;
    }

    PT.text = {duration, offset, argument, count, plural, percent, cut, el, svg, clear};
}(globalThis.PT = globalThis.PT || {}));
