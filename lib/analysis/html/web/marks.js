/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Small parts of the drawing: times on the ruler, texts that fit, hatching.
 */
"use strict";
(function (PT) {
    const {duration, offset} = PT.text;

    function bar(c, x, top, bottom) {
        c.fillRect(x, top, 1, Math.max(1, bottom - top));
    }

    /** A number in few letters. */
    function short(value) {
        return Math.abs(value) >= 1e6 ? value.toPrecision(4)
            : String(Math.round(value * 1000) / 1000);
    }

    const widths = new Map();

    /** The text, or as much of it as fits, with an ellipsis. */
    function fit(c, text, room) {
        let width = widths.get(text);

        if (width === undefined) {
            width = c.measureText(text).width;
            if (widths.size > 5000)
                widths.clear();
            widths.set(text, width);
        }
        if (width <= room)
            return text;
        const letters = Math.floor(text.length * room / width) - 1;
        return letters >= 3 ? `${text.slice(0, letters)}…` : "";
    }

    /** Times at round numbers, about one in 110 pixels. */
    function ticks(from, to, width) {
        const aim = (to - from) * 110 / width;
        const power = Math.pow(10, Math.floor(Math.log10(aim)));
        const step = Math.max(1, power * [1, 2, 5, 10].find((f) => f * power >= aim));
        const list = [];

        for (let n = Math.ceil(Math.max(0, from) / step); n * step <= to; n++) {
            const t = n * step;
            list.push({x: Math.round((t - from) / (to - from) * width), text: tickText(t, step)});
        }
        return list;
    }

    function tickText(t, step) {
        if (step >= 1e9)
            return `${t / 1e9} s`;
        const digits = Math.min(9, 9 - Math.floor(Math.log10(step)));
        if (t < 1e9 && step < 1e6 && t <= 1000 * step)
            return duration(t);
        return `${offset(t).slice(0, digits - 9 || undefined)} s`;
    }

    function hatch(c) {
        const tile = document.createElement("canvas");
        const t = tile.getContext("2d");

        tile.width = tile.height = 8;
        t.strokeStyle = PT.theme.colour("hatch");
        t.lineWidth = 1.5;
        t.beginPath();
        for (const x of [-8, 0, 8]) {
            t.moveTo(x - 1, 9);
            t.lineTo(x + 9, -1);
        }
        t.stroke();
        return c.createPattern(tile, "repeat");
    }

    PT.marks = {bar, short, fit, ticks, hatch};
}(globalThis.PT = globalThis.PT || {}));
