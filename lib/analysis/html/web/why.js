/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What `posixtrace why` found, as pictures: the longest times as segments, below a wait what the
 * other thread did meanwhile.  Each leads into the timeline.
 */
"use strict";
(function (PT) {
    const {el, svg, cut, duration, count, plural, percent} = PT.text;
    const WIDTH = 860, ROW = 26, LEFT = 150;

    const RELATIONS = {holds: " held by", unlocked: " after it was unlocked by", ran: " by"};

    function objectOf(s) {
        if (s.object_symbol || s.name)
            return ` ${s.object_symbol || s.name}`;
        if (s.object)
            return ` 0x${BigInt(s.object).toString(16)}`;
        return s.descriptor >= 0 ? ` descriptor ${s.descriptor}` : "";
    }

    /** Which thread it was about, and where that was. */
    function otherOf(s, name) {
        if (!s.relation)
            return "";
        return `${RELATIONS[s.relation] || `, ${s.relation}`} ` +
               (s.other_tid ? name(s.other_pid, s.other_tid) : "another thread") +
               (s.other_caller_site ? ` in ${s.other_caller_site}` : "");
    }

    /** A segment in words, as `posixtrace why` has them. */
    function words(s, name) {
        if (s.state === "run")
            return "on a processor";
        if (s.state === "runnable")
            return `preempted${otherOf(s, name)}`;
        if (s.state === "wait")
            return `waits for ${s.call || s.kind}${objectOf(s)}` +
                   (s.caller_site ? ` in ${s.caller_site}` : "") + otherOf(s, name) +
                   (s.deadlock ? ": a deadlock" : "");
        return s.reason ? `unknown: ${s.reason}` : s.state || "unknown";
    }

    function stateOf(s) {
        return {run: "running", runnable: "runnable", wait: s.kind}[s.state] || "unnamed";
    }

    class Why {
        constructor(app) {
            this.app = app;
            this.model = app.model;
        }

        name(pid, tid) {
            return this.model.threadName(pid, tid);
        }

        words(s) {
            return words(s, (pid, tid) => this.name(pid, tid));
        }

        colour(s) {
            const name = stateOf(s);
            const colour = PT.theme.stateColour(name, this.model.head.states.indexOf(name) + 1);

            return colour.length > 7 ? "none" : colour;
        }

        /** One instance: a line for each depth of segments. */
        picture(instance, title) {
            const begin = this.model.relative(instance.begin_ns);
            const length = Math.max(1, instance.length_ns);
            const depth = 1 + Math.max(0, ...instance.segments.map((s) => s.depth));
            const room = WIDTH - LEFT - 4;
            const x = (ns) => LEFT + room * (this.model.relative(ns) - begin) / length;
            const height = depth * ROW + 18;
            const picture = svg("svg", {viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height,
                                        role: "group", "aria-label": `${title}: segments`});
            const named = new Set();

            for (const s of instance.segments) {
                const y = s.depth * ROW, a = x(s.begin_ns), w = Math.max(0.6, x(s.end_ns) - a);
                if (!named.has(`${s.depth}`)) {
                    named.add(`${s.depth}`);
                    picture.append(svg("text", {x: 2 + 8 * Math.min(6, s.depth), y: y + 15},
                                       cut(this.name(s.pid, s.tid), 20)));
                }
                this.segment(picture, s, a, w, y);
            }
            for (const part of [0, 0.5, 1])
                picture.append(svg("text", {class: "faint", y: height - 4, x: LEFT + room * part,
                                            "text-anchor": ["start", "middle", "end"][part * 2]},
                                   duration(Math.round(length * part))));
            return picture;
        }

        segment(picture, s, a, w, y) {
            const from = this.model.relative(s.begin_ns), to = this.model.relative(s.end_ns);
            const text = `${this.name(s.pid, s.tid)} ${this.words(s)}: ${duration(to - from)}`;
            const press = () => this.app.lead(from, to, s.pid, s.tid);
            const plate = svg("rect", {class: "plate press", x: a, y, width: w, height: ROW - 6,
                                       fill: this.colour(s), role: "button", "aria-label": text,
                                       tabindex: w > 8 ? 0 : null, click: press},
                              svg("title", null, text));

            plate.addEventListener("keydown", (event) => event.key === "Enter" && press());
            picture.append(plate);
            const room = Math.floor((w - 8) / 6.3);
            if (room >= 5)
                picture.append(svg("text", {class: "on", x: a + 4, y: y + 14,
                                            fill: PT.theme.inkOn(this.colour(s))},
                                   cut(this.words(s), room)));
        }

        instance(instance, i, subject) {
            const begin = this.model.relative(instance.begin_ns);
            const title = `${i + 1}. ${duration(instance.length_ns)} of ` +
                          `${this.name(instance.pid, instance.tid)}` +
                          (instance.value === undefined ? "" : `, value ${instance.value}`) +
                          (instance.open ? ", not ended" : "");

            return el("figure", {class: "case"}, el("figcaption", null,
                el("button", {type: "button", class: "link", title: "Show it on the timeline",
                              click: () => this.app.lead(begin, begin + instance.length_ns,
                                                         instance.pid, instance.tid)}, title),
                ` at ${PT.text.offset(begin)} s`), el("div", {class: "wide"},
                this.picture(instance, `${subject} ${title}`)));
        }

        causes(why) {
            const whole = why.summary.beyond_ns || 0;
            const columns = [
                {head: "more than usual", number: true, value: (c) => c.beyond_ns,
                 show: (c) => duration(c.beyond_ns)},
                {head: "share", number: true, value: (c) => c.beyond_ns,
                 show: (c) => percent(c.beyond_ns, whole)},
                {head: "in", number: true, value: (c) => c.instances,
                 show: (c) => count(c.instances)},
                {head: "cause", value: (c) => this.words(c.segment)},
                {head: "its root", value: (c) => this.words(c.root)}];

            return why.causes && why.causes.length > 0
                ? PT.table.make("causes", columns, why.causes) : null;
        }

        blocked(why) {
            const list = why.blocked || [];

            return list.length > 0 ? el("ul", null, ...list.map((b) => el("li", null,
                `${this.name(b.pid, b.tid)} ${this.words(b)}, for ` + duration(Math.max(0,
                    this.model.span - this.model.relative(b.since_ns))) +
                (b.deadlock_number ? ` (deadlock ${b.deadlock_number})` : "")))) : null;
        }

        section(why) {
            const s = why.summary, subject = why.subject || "Where the log ends";
            const text = s.count > 0 ? `${plural(s.count, "time")}; ` +
                `median ${duration(s.median_ns)}; the ${count(s.slow)} slowest took ` +
                `${duration(s.slow_ns)} or more.` : "";

            return el("section", null, el("h2", null, subject), el("p", {class: "hint"}, text),
                      this.causes(why), ...(why.instances || []).map(
                          (one, i) => this.instance(one, i, subject)), this.blocked(why));
        }
    }

    function draw(app, node) {
        const why = new Why(app);

        node.append(el("p", {class: "hint"}, "The longest of each kind: what the thread did, and " +
            "below a wait what the thread did that it waited for. Press a segment to see it on " +
            "the timeline."));
        for (const one of app.model.head.why)
            node.append(why.section(one));
    }

    PT.why = {draw, words};
}(globalThis.PT = globalThis.PT || {}));
