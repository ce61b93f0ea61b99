/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What is selected, in words: a slice, state, event, counter or loss with its times, its fields,
 * its place in the program, and the command that prints it.
 */
"use strict";
(function (PT) {
    const {el, clear, duration, offset, argument, count} = PT.text;

    /** Rows of a table of two columns. */
    function facts(list) {
        const body = el("tbody");

        for (const [name, ...value] of list)
            if (value[0] !== null && value[0] !== undefined && value[0] !== "")
                body.append(el("tr", null, el("th", {scope: "row"}, name),
                               el("td", null, ...value)));
        return el("table", {class: "facts"}, body);
    }

    function command(text) {
        const button = el("button", {type: "button", click: () => copy(text, button)}, "Copy");

        return el("p", {class: "command"}, el("code", null, text), " ", button);
    }

    /** navigator.clipboard is not there for file: pages everywhere. */
    function copy(text, button) {
        const area = el("textarea", {class: "away"}, text);

        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        button.textContent = "Copied";
    }

    /** The command of a span, of one thread if it has one. */
    function printCommand(model, from, to, lane) {
        const thread = lane !== undefined && lane >= 0 ? model.lanes[lane] : null;
        const tid = thread && thread.tid > 0 ? ` --tid=${thread.tid}` : "";

        return model.head.log.print.replace(/^posixtrace print/,
            `posixtrace print --from=${argument(Math.floor(from))} ` +
            `--to=${argument(Math.ceil(to))}${tid}`);
    }

    function laneOf(model, item) {
        const row = model.rows[item.row];

        return row.lane !== undefined && row.lane >= 0 ? row.lane : undefined;
    }

    function shortText(lane) {
        if (lane.process < 0 && lane.tid === 0)
            return lane.name || "events of no thread";
        return `${lane.name || "thread"} ${lane.tid}`;
    }

    function laneText(model, l) {
        const lane = model.lanes[l];
        const process = lane && model.head.processes[lane.process];

        if (!lane)
            return "";
        return shortText(lane) +
               (process ? ` of ${process.name || "process"} ${process.pid}` : "");
    }

    /** The value; where several are joined, the last one and their range. */
    function counterText({name}, {part, index}) {
        const least = part.least[index], greatest = part.greatest[index], last = part.last[index];

        return `${name} = ${last}` + (least < greatest ? `, from ${least} to ${greatest}` : "");
    }

    /** The item's name, as it is on the timeline. */
    function title(model, item) {
        const {labels, states, types} = model.head;
        const row = model.rows[item.row];
        const many = item.count > 1;

        switch (row.kind) {
        case "slice":
            return many ? `${count(item.count)} slices, mostly ${labels[item.value]}`
                : labels[item.value];
        case "state":
            return (many ? `${count(item.count)} states, mostly ` : "") +
                   PT.theme.stateName(states[item.value]);
        case "events":
            return item.part.many ? PT.text.plural(item.count, "event") : types[item.value].name;
        case "cpu":
        case "lock":
            return item.value > 0 ? laneText(model, item.value - 1) : "free";
        case "counter":
            return counterText(row, item);
        default:
            return item.value === 1 ? "recording was stopped" : "events were lost";
        }
    }

    /** How many of a type there are in a tile before an event: its place in the columns. */
    function placeOf(part, ordinal) {
        const type = part.type[ordinal];
        let place = 0;

        for (let i = 0; i < ordinal; i++)
            if (part.type[i] === type)
                place++;
        return place;
    }

    function valueText(field, value) {
        const named = (field.names || []).find(([v]) => v === String(value));

        if (named)
            return `${named[1]} (${value})`;
        if (field.kind === "x")
            return `0x${value.toString(16)}`;
        if (field.kind === "u" || field.kind === "i")
            return count(value);
        return field.kind === "s" ? JSON.stringify(value) : String(value);
    }

    /** [[name, text]] of one event of a tile; null where the page has no fields of it. */
    async function eventFields(model, tile, ordinal) {
        const got = await model.fields(tile);
        const part = tile.parts[1];
        const type = part.type[ordinal];

        if (!got)
            return null;
        const columns = got.table.ofType.get(type);
        const list = [];
        if (columns) {
            const place = placeOf(part, ordinal);
            const site = columns.site[place];
            if (!got.table.raw.has(ordinal))
                model.head.types[type].fields.forEach((field, f) => list.push(
                    [field.name, valueText(field, columns.fields[f](place))]));
            if (site > 0 && !model.head.types[type].system)
                list.push(["recorded in", model.head.sites[site - 1]]);
        }
        if (got.table.raw.has(ordinal))
            list.push(["data", got.table.raw.get(ordinal)]);
        if (got.table.truncated.has(ordinal))
            list.push(["truncated", "yes: the data were cut when the event was recorded"]);
        return list;
    }

    /** The events that an item is made of: [[heading, ordinal]]. */
    function eventsOf(item) {
        const {part, index} = item;

        if (part.kind === "events")
            return [["", part.ordinal[index]]];
        if (part.kind === "slice")
            return [["at its beginning", part.first[index]], ["at its end", part.last[index]]];
        return [];
    }

    class Details {
        constructor(model, view, panel) {
            Object.assign(this, {model, view, panel});
            this.turn = 0;
            this.nothing();
        }

        nothing() {
            this.turn++;
            this.panel.classList.add("empty");
            clear(this.panel).append(el("p", {class: "hint"},
                "Click a slice, state or event for its details; drag to select a span. ",
                "W S zoom, A D move, ? for all keys."));
        }

        /** Shows an item; what has to be decoded first is added when it has come. */
        async show(item) {
            const {model} = this;
            const turn = ++this.turn;
            const lane = laneOf(model, item);
            const row = model.rows[item.row];
            const end = item.begin + item.length;
            const list = [["thread", lane === undefined ? "" : laneText(model, lane)],
                          ["lock", row.kind === "lock" ? row.name : ""],
                          ["starts at", `${offset(item.begin)} s`],
                          ["length", item.length > 0 ? duration(item.length) : ""],
                          ["of that", item.covered !== item.length && item.count > 1
                              ? `${duration(item.covered)} covered` : ""],
                          ["not known", this.cuts(item)]];
            const name = title(model, item);
            const columns = el("div", {class: "columns"}, facts(list));

            this.panel.classList.remove("empty");
            clear(this.panel).append(el("h2", null, name), columns,
                                     command(printCommand(model, item.begin, end, lane)),
                                     this.buttons(item, name));
            this.panel.dataset.of = name;
            for (const [heading, ordinal] of eventsOf(item)) {
                const part = item.tile.parts[1];
                const type = model.head.types[part.type[ordinal]];
                const fields = await eventFields(model, item.tile, ordinal);
                if (turn !== this.turn)
                    return;
                columns.append(el("div", {class: "event"},
                    el("h3", null, `${type.name} ${heading}`),
                    fields === null ? el("p", null, "The page has no fields of this event; the " +
                                         "command below prints them.")
                        : fields.length === 0 ? el("p", null, "no data") : facts(fields)));
            }
        }

        cuts(item) {
            const flags = item.part.flags ? item.part.flags[item.index] : 0;

            return [flags & 1 ? "when it began" : "", flags & 2 ? "when it ended" : ""]
                .filter((text) => text).join(", ");
        }

        buttons(item, name) {
            const {view, model} = this;
            const row = el("p", {class: "buttons"});
            const room = Math.max(item.length * 0.3, 50);
            const pair = model.rows[item.row].kind === "slice" && item.count === 1 &&
                model.head.types.some((type) => type.begin === item.value && !type.system);

            row.append(el("button", {type: "button", click: () => view.show(
                item.begin - room, item.begin + item.length + room)},
                          item.count > 1 ? "Zoom in until they are apart" : "Zoom to it"));
            if (pair && model.head.log.why)
                row.append(command(`${model.head.log.why} ${quoted(name)}`));
            return row;
        }
    }

    /** For a POSIX shell. */
    function quoted(text) {
        return /^[\w.:/+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
    }

    PT.details = {shortText, Details, facts, command, printCommand, title, laneText, eventFields,
                  placeOf, valueText, quoted};
}(globalThis.PT = globalThis.PT || {}));
