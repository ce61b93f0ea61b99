/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The view in the address: #t=FROM,TO in ns since the first event, &sel=ROW,TIME for the selected
 * item, &q=WORDS for the search, &page=report.  What does not fit the log is left out.
 */
"use strict";
(function (PT) {
    function format(state) {
        const parts = [];

        if (state.from !== undefined)
            parts.push(`t=${Math.round(state.from)},${Math.round(state.to)}`);
        if (state.selected)
            parts.push(`sel=${state.selected[0]},${Math.round(state.selected[1])}`);
        if (state.query)
            parts.push(`q=${encodeURIComponent(state.query)}`);
        if (state.page && state.page !== "timeline")
            parts.push(`page=${state.page}`);
        return `#${parts.join("&")}`;
    }

    function pair(text) {
        const numbers = (text || "").split(",").map(Number);

        return numbers.length === 2 && numbers.every(Number.isFinite) ? numbers : null;
    }

    function decoded(text) {
        try {
            return decodeURIComponent(text);
        } catch (error) {
            return "";
        }
    }

    function parse(hash) {
        const given = new Map(hash.replace(/^#/, "").split("&").map((part) => {
            const at = part.indexOf("=");
            return [part.slice(0, at), part.slice(at + 1)];
        }));
        const t = pair(given.get("t")), selected = pair(given.get("sel"));
        const state = {query: decoded(given.get("q") || ""), selected};

        if (t && t[0] < t[1])
            [state.from, state.to] = t;
        if (["report", "why"].includes(given.get("page")))
            state.page = given.get("page");
        return state;
    }

    PT.link = {format, parse};
}(globalThis.PT = globalThis.PT || {}));
