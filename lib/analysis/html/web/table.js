/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Tables that sort: a press on a head sorts by that column, another one the other way round.
 */
"use strict";
(function (PT) {
    const {el, clear} = PT.text;
    const FIRST = 15;

    function compare(a, b) {
        if (typeof a === "string" || typeof b === "string")
            return String(a).localeCompare(String(b), "en", {numeric: true});
        return a - b;
    }

    /** The rows in order of a column; rows without a value are last in either direction. */
    function ordered(rows, column, down) {
        const absent = (value) => value === undefined || value === null;

        return [...rows].sort((x, y) => {
            const a = column.value(x), b = column.value(y);
            if (absent(a) || absent(b))
                return (absent(a) ? 1 : 0) - (absent(b) ? 1 : 0);
            return down ? compare(b, a) : compare(a, b);
        });
    }

    /**
     * columns: [{head, value(row), show(row): text or node, number, title}].  The first rows
     * show; a button shows all.
     */
    function make(caption, columns, rows) {
        const body = el("tbody"), heads = el("tr");
        const state = {column: null, down: true, all: false};
        const table = el("table", {class: "rows"}, el("caption", {class: "away"}, caption),
                         el("thead", null, heads), body);
        const more = el("button", {type: "button", click: () => {
            state.all = true;
            draw();
        }}, `All ${rows.length}`);
        const draw = () => {
            const list = state.column ? ordered(rows, state.column, state.down) : rows;
            clear(body);
            for (const row of state.all ? list : list.slice(0, FIRST))
                body.append(el("tr", null, ...columns.map((column) => el(
                    "td", {class: column.number ? "n" : null}, cell(column, row)))));
            more.hidden = state.all || rows.length <= FIRST;
        };

        for (const column of columns) {
            const head = el("th", {scope: "col", class: column.number ? "n" : null,
                                   title: column.title},
                            el("button", {type: "button", click: () => sort(column, head)},
                               column.head));
            heads.append(head);
        }
        const sort = (column, head) => {
            state.down = state.column === column ? !state.down : Boolean(column.number);
            state.column = column;
            for (const other of heads.children)
                other.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
            draw();
        };
        draw();
        window.addEventListener("beforeprint", () => {
            state.all = true;
            draw();
        });
        return el("div", {class: "wide"}, table, more);
    }

    function cell(column, row) {
        const shown = column.show ? column.show(row) : column.value(row);

        return shown === undefined || shown === null ? "" : shown;
    }

    PT.table = {make, ordered};
}(globalThis.PT = globalThis.PT || {}));
