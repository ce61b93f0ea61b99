/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Colours of the drawing: of states by what they mean, of everything else by number.  The hues
 * are those of Okabe and Ito, which people with any common form of colour blindness tell apart;
 * each state also has its name in the legend and where there is room on the band.
 */
"use strict";
(function (PT) {
    const STATES = {
        "running": "#009e73", "runnable": "#f0c000", "lock": "#d55e00", "condition": "#cc79a7",
        "semaphore": "#a04a82", "barrier": "#7b3f98", "sleep": "#9db2c4", "I/O": "#0072b2",
        "thread": "#56b4e9", "child": "#3a86b8", "signal": "#8aa35c", "work": "#b9c9d6",
        "file lock": "#b3501f", "futex": "#e0793c", "unnamed": "#b39b7d", "unknown": "#00000000"};
    const NUMBERED = ["#4e9bd4", "#e0a030", "#3bb08f", "#d98cb3", "#8f86d8", "#c8b940", "#e07b52",
                      "#6fb7c9", "#a9bf5a", "#b98bd0", "#d4a07c", "#7fa3e0"];
    const SHADES = 16;
    const LIGHT = {ground: "#ffffff", band: "#f3f5f7", line: "#d8dde2", text: "#1b2127",
                   faint: "#5b6670", strong: "#0b57a4", hatch: "#c0392b", mark: "#7a5200",
                   neutral: "#44525f"};
    const DARK = {ground: "#14181c", band: "#1b2127", line: "#333c45", text: "#e3e8ec",
                  faint: "#9aa7b3", strong: "#7cc0ff", hatch: "#ff7b6b", mark: "#ffcf70",
                  neutral: "#a9b6c2"};
    let dark = false;

    function channels(text) {
        const hex = text.slice(1);

        return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
    }

    /** A pixel of an ImageData as one number: red is its first byte. */
    function pixel(r, g, b) {
        return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }

    /** SHADES pixels for each colour, from nearly the ground to the colour itself. */
    function shades(colours) {
        const table = new Uint32Array(colours.length * SHADES);
        const ground = channels(colour("ground"));

        colours.forEach((one, c) => {
            if (one.length > 7)
                return;         // transparent
            const rgb = channels(one);
            for (let s = 0; s < SHADES; s++) {
                const part = 0.3 + 0.7 * s / (SHADES - 1);
                const mix = rgb.map((v, k) => Math.round(v * part + ground[k] * (1 - part)));
                table[c * SHADES + s] = pixel(mix[0], mix[1], mix[2]);
            }
        });
        return table;
    }

    function colour(name) {
        return (dark ? DARK : LIGHT)[name];
    }

    function stateColour(name, index) {
        return STATES[name] || NUMBERED[index % NUMBERED.length];
    }

    /** Of text on a pixel of that colour. */
    function ink(colourOf) {
        const [r, g, b] = [0, 8, 16].map((shift) => (colourOf >> shift) & 255);

        if (colourOf === 0)
            return colour("text");
        return 0.3 * r + 0.59 * g + 0.11 * b > 100 ? "#10161b" : "#ffffff";
    }

    function inkOn(text) {
        return text.length === 7 ? ink(pixel(...channels(text))) : colour("text");
    }

    /** What readers call a state. */
    function stateName(name) {
        return {unnamed: "other wait", unknown: "not known", work: "for work"}[name] || name;
    }

    function numbered(value) {
        return NUMBERED[value % NUMBERED.length];
    }

    /** Tables of the present theme. */
    function tables(states) {
        return {states: shades(states.map(stateColour)), numbered: shades(NUMBERED),
                neutral: shades([colour("neutral")]), colours: NUMBERED.length};
    }

    /** Follows the system until the button is pressed. */
    function start(button, changed) {
        const query = matchMedia("(prefers-color-scheme: dark)");
        const set = (value) => {
            dark = value;
            document.documentElement.dataset.theme = dark ? "dark" : "light";
            button.setAttribute("aria-pressed", String(dark));
            changed();
        };
        let chosen = false;

        query.addEventListener("change", () => chosen || set(query.matches));
        button.addEventListener("click", () => {
            chosen = true;
            set(!dark);
        });
        set(query.matches);
    }

    PT.theme = {SHADES, channels, pixel, colour, stateColour, stateName, numbered, ink, inkOn,
                tables, start};
}(globalThis.PT = globalThis.PT || {}));
