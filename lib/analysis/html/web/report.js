/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The report: the sections of `posixtrace report` as tables, with histograms, the graph of
 * contention and the flame graph of waits.  Times lead into the timeline.
 */
"use strict";
(function (PT) {
    const {el, duration, count, percent} = PT.text;

    function address(value) {
        return value ? `0x${BigInt(value).toString(16)}` : "";
    }

    const FLOWS = ["unlocked a lock", "signalled a condition", "posted a semaphore",
                   "came to a barrier", "wrote to or read from a pipe", "ended",
                   "sent or received on a connection"];

    const CONTENTION = 40;              // rows in the picture

    class Report {
        constructor(app, report) {
            this.app = app;
            this.model = app.model;
            this.report = report;
        }

        thread(pid, tid) {
            return this.model.threadName(pid, tid);
        }

        /** A time that leads to where it was. */
        at(ns, begin, length, pid, tid) {
            if (ns === undefined || begin === undefined)
                return ns === undefined ? "" : duration(ns);
            const from = this.model.relative(begin);
            return el("button", {type: "button", class: "link", title: "Show it on the timeline",
                                 click: () => this.app.lead(from, from + length, pid, tid)},
                      duration(ns));
        }

        time(head, key, title) {
            return {head, title, number: true, value: (row) => row[key],
                    show: (row) => row[key] === undefined ? "" : duration(row[key])};
        }

        count(head, key) {
            return {head, number: true, value: (row) => row[key] || undefined,
                    show: (row) => row[key] ? count(row[key]) : ""};
        }

        text(head, get) {
            return {head, value: get};
        }

        longest(key, at, tid, pid) {
            return {head: "longest", number: true, value: (row) => row[key], show: (row) => this.at(
                row[key], row[at], row[key], row[pid], row[tid])};
        }

        section(id, heading, text, ...content) {
            return el("section", {id: `part-${id}`}, el("h2", null, heading),
                      text ? el("p", {class: "hint"}, text) : null, ...content);
        }

        threads() {
            const rows = this.report.threads || [];
            const name = (t) => `${t.name || "thread"}/${t.tid}`;
            const where = {head: "thread", value: name, show: (t) => el("button", {
                type: "button", class: "link", click: () => this.app.lead(
                    this.model.relative(t.begin_ns), this.model.relative(t.end_ns), t.pid, t.tid)},
                                                                        name(t))};
            const waiting = (t) => Object.values(t.waiting_ns || {}).reduce((a, b) => a + b, 0);
            const columns = [where, this.text("process", (t) => t.pid),
                this.time("time", "total_ns"), this.time("on a processor", "run_ns"),
                this.time("ready", "runnable_ns"),
                {head: "waiting", number: true, value: waiting, show: (t) => duration(waiting(t))},
                this.time("other waits", "other_waits_ns"), this.time("unknown", "unknown_ns"),
                {head: "shares", value: (t) => (t.run_ns || 0) / Math.max(1, t.total_ns),
                 show: (t) => this.share(t)}, this.count("switches", "switches"),
                this.count("events", "events")];

            return rows.length > 0 && this.section("threads", "Threads: where their time went", "",
                                                   PT.table.make("threads", columns, rows));
        }

        /** Parts of a thread's time as a bar, with a text for readers of the screen. */
        share(t) {
            const {states} = this.model.head;
            const parts = [["running", t.run_ns], ["runnable", t.runnable_ns],
                           ...Object.entries(t.waiting_ns || {}), ["unnamed", t.other_waits_ns]];
            const words = parts.filter(([, ns]) => ns > 0).map(([name, ns]) =>
                `${name} ${percent(ns, t.total_ns)}`).join(", ");
            const bar = el("div", {class: "share", role: "img", "aria-label": words, title: words});

            for (const [name, ns] of parts)
                if (ns > 0) {
                    const part = el("span");
                    part.style.width = `${100 * ns / Math.max(1, t.total_ns)}%`;
                    part.style.background = PT.theme.stateColour(name, states.indexOf(name) + 1);
                    bar.append(part);
                }
            return bar;
        }

        object(o) {
            return o.object_symbol || o.name || (o.descriptor !== undefined
                ? `descriptor ${o.descriptor}` : address(o.object));
        }

        caller(o, key) {
            return o[`${key}_symbol`] || address(o[key]);
        }

        objects(key, heading, text, first) {
            const rows = this.report[key] || [];
            const columns = [this.text(first, (o) => this.object(o)),
                this.text("kind", (o) => o.kind), this.count("calls", "calls"),
                this.count("waits", "waits"),
                this.time("total", "total_ns"), this.time("p50", "p50_ns"),
                this.time("p99", "p99_ns"),
                this.longest("longest_ns", "longest_at_ns", "longest_tid", "pid"),
                this.text("by", (o) => this.thread(o.pid, o.longest_tid)),
                this.text("called from", (o) => this.caller(o, "caller"))];

            if (key === "locks")
                columns.push(this.text("held by", (o) => this.thread(o.pid, o.holder_tid)),
                             this.text("locked in", (o) => this.caller(o, "holder_caller")));
            return rows.length > 0 && this.section(key, heading, text,
                PT.table.make(heading, columns, rows), this.histograms(key, (o) => this.object(o)));
        }

        pairs() {
            const rows = this.report.pairs || [];
            const columns = [this.text("pair", (p) => p.name), this.count("count", "count"),
                this.time("total", "total_ns"), this.time("p50", "p50_ns"),
                this.time("p99", "p99_ns"),
                this.time("p99.9", "p99_9_ns"),
                this.longest("max_ns", "max_at_ns", "max_tid", "max_pid"),
                this.text("by", (p) => this.thread(p.max_pid, p.max_tid)),
                this.count("not ended", "open"), this.count("unknown", "unknown")];

            return rows.length > 0 && this.section("pairs", "Pairs of events",
                "From NAME:begin to NAME:end.", PT.table.make("pairs", columns, rows),
                this.histograms("pairs", (p) => p.name));
        }

        /** Resolves while the report is looked at: counting waits for that. */
        async seen() {
            while (this.app.page !== "report")
                await new Promise((resolve) => this.app.reportSeen.push(resolve));
        }

        /** Which thread let which one continue, counted when the report is looked at. */
        flows() {
            const {model, app} = this;
            const box = el("div");
            const name = (l) => PT.details.laneText(model, l);

            if (model.flows.tiles.length === 0)
                return null;
            PT.lengths.collectFlows(model, () => this.seen()).then((rows) => box.append(
                PT.table.make("threads that let others continue", [
                    this.text("thread", (f) => name(f.from)), this.text("what it did",
                        (f) => FLOWS[f.kind] || `kind ${f.kind}`),
                    this.text("so that this one continued", (f) => name(f.to)),
                    this.count("times", "count")], rows))).catch((error) => app.fail(error));
            return this.section("flows", "Threads that let others continue",
                                "The arrows of the timeline, counted.", box);
        }

        /** Histograms of all slices by name, counted when the report is looked at. */
        lengths() {
            const {model, app} = this;
            const box = el("div", {class: "charts"});
            const state = el("p", {class: "hint"}, "");
            const seen = async (n, of) => {
                await this.seen();
                state.textContent = `Counting: ${n} of ${of} parts`;
            };

            if (!model.rows.some((row) => row.kind === "slice") || model.events.tiles.length === 0)
                return null;
            PT.lengths.collect(model, seen).then((sums) => {
                state.textContent = model.missing.length > 0
                    ? "Of the slices whose details the page has." : "";
                box.append(...this.lengthCharts(sums));
            }).catch((error) => app.fail(error));
            return this.section("lengths", "How long slices took",
                "Bars: how many took that long, the most frequent length being the highest. " +
                "Line: the share that took at most that long.", state, box);
        }

        /** Those of the program first, then calls; the most frequent first. */
        lengthCharts(sums) {
            const {labels, types} = this.model.head;
            const system = (label) => types.some((type) => type.begin === label && type.system);
            const list = [...sums].sort(([a, x], [b, y]) => system(a) - system(b) ||
                                                            y.total - x.total);

            return list.slice(0, 24).map(([label, lengths]) => this.chart(labels[label],
                lengths.total, lengths.bars(), this.quantiles(labels[label], lengths)));
        }

        /** Exact ones where the report has the pair. */
        quantiles(name, lengths) {
            const pair = (this.report.pairs || []).find((one) => one.name === name);

            return pair && pair.p50_ns !== undefined ? [[50, pair.p50_ns], [99, pair.p99_ns]]
                : [[50, lengths.percentile(50)], [99, lengths.percentile(99)]];
        }

        chart(name, total, bars, quantiles) {
            return el("figure", null,
                      el("figcaption", null, el("b", null, name), `, ${count(total)} times`),
                      PT.charts.histogram(name, bars, quantiles));
        }

        histograms(section, name) {
            const box = el("div", {class: "charts"});
            const list = (this.model.head.distributions || []).filter(
                (one) => one.section === section && one.bars.length > 0);

            for (const {row, count: total, bars, quantiles} of list.slice(0, 6)) {
                const object = this.report[section][row];
                if (object)
                    box.append(this.chart(name(object), total, bars, quantiles));
            }
            return box.firstChild ? box : null;
        }

        sites() {
            const rows = this.report.sites || [];
            const columns = [this.text("place", (s) => this.caller(s, "caller")),
                this.text("waits for", (s) => s.call ? `${s.kind}: ${s.call}` : s.kind),
                this.count("waits", "waits"), this.time("total", "total_ns"),
                this.time("p50", "p50_ns"), this.time("p99", "p99_ns"),
                this.longest("longest_ns", "longest_at_ns", "longest_tid", "pid"),
                this.text("by", (s) => this.thread(s.pid, s.longest_tid))];

            return rows.length > 0 && this.section("sites", "Places in the program that waited", "",
                                                   PT.table.make("places", columns, rows));
        }

        preemptors() {
            const rows = this.report.preemptors || [];
            const columns = [this.text("thread", (p) => `${p.name || "thread"}/${p.tid}`),
                this.count("times", "count"), this.time("total", "total_ns"),
                this.longest("longest_ns", "longest_at_ns", "longest_tid", "pid")];

            return rows.length > 0 && this.section("preemptors",
                "Threads that ran instead of others", "",
                PT.table.make("preemptors", columns, rows));
        }

        /** Which thread waited for a lock that which one had: the pairs with the most time. */
        contention() {
            const rows = this.report.contention || [];
            const thread = (pid, tid, none) => tid ? this.thread(pid, tid) : none;
            const waiter = (c) => thread(c.pid, c.tid, "others");
            const holder = (c) => thread(c.pid, c.holder_tid, "not known");
            const columns = [this.text("thread", waiter), this.text("waited for",
                                                                    (c) => this.object(c)),
                this.text("held by", holder), this.count("waits", "waits"),
                this.time("total", "total_ns"),
                this.longest("longest_ns", "longest_at_ns", "tid", "pid")];
            const edges = rows.slice(0, CONTENTION).map((c) => ({
                waiter: waiter(c), lock: this.object(c), holder: holder(c), ns: c.total_ns,
                count: c.waits}));
            const left = rows.length - edges.length;

            return rows.length > 0 && this.section("contention", "Contention",
                "Threads that waited, locks, and threads that had them meanwhile; the sum and " +
                "the number of waits." + (left > 0 ? ` The picture leaves out the ${count(left)} ` +
                    "rows with the least time." : ""),
                el("div", {class: "wide"}, PT.charts.contention(edges)),
                PT.table.make("contention", columns, rows));
        }

        /** From stacks where the page has them, else by kind, object or call, and place. */
        stacks() {
            const {flame} = this.model.head;

            if (flame && flame.length > 0)
                return flame;
            return (this.report.sites || []).filter((s) => s.total_ns > 0).map((s) => ({
                frames: [s.kind, ...s.call ? [s.call] : [], this.caller(s, "caller")],
                ns: s.total_ns}));
        }

        flame() {
            const stacks = this.stacks();
            const exact = (this.model.head.flame || []).length > 0;

            return stacks.length > 0 && this.section("flame", "Flame graph of waits", exact
                ? "Callers are above what they call; the width is the time of waiting."
                : "Kind of wait, call, place in the program; the width is the time. With record " +
                  "--stacks it would have whole stacks.",
                el("div", {class: "wide"}, PT.charts.flame(stacks)));
        }

        losses() {
            const {lost} = this.model.head;
            const {cost} = this.report;
            const rows = lost.causes.map(([cause, n]) => ({cause, n: Number(n)}));
            const columns = [this.text("cause", (r) => r.cause), this.count("events", "n")];
            const text = cost && cost.event_ns ? `Recording took about ${cost.event_ns} ns an ` +
                `event, ${duration(Math.round(cost.total_ns))} in all.` : "";

            return this.section("lost", "Lost events, and the cost of tracing",
                                rows.length === 0 ? `No event was lost. ${text}` : text,
                                rows.length > 0 ? PT.table.make("losses", columns, rows) : null);
        }
    }

    function draw(app, node) {
        const {report} = app.model.head;

        if (!report) {
            node.append(el("p", {class: "hint"}, "The page was made without a report."));
            return;
        }
        const r = new Report(app, report);
        const parts = [r.threads(), r.pairs(), r.lengths(),
            r.objects("locks", "Locks", "", "lock"), r.contention(), r.flows(),
            r.objects("waits", "Other waits", "Conditions, semaphores, sleeps, threads and others.",
                      "object"),
            r.objects("descriptors", "Descriptors and peers", "", "descriptor"), r.sites(),
            r.flame(),
            r.objects("work", "Waits for work", "poll, select and epoll_wait.", "object"),
            r.preemptors(), r.losses()];
        node.append(...parts.filter((part) => part));
    }

    PT.report = {draw, Report};
}(globalThis.PT = globalThis.PT || {}));
