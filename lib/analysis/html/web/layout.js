/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where lanes lie, from top to bottom: blocks of rows, grouped by process.  Only the blocks in
 * sight are looked at when the page is drawn, by binary search, so ten thousand lanes cost as
 * ten do.
 */
"use strict";
(function (PT) {
    const HEIGHT = {state: 12, events: 9, slice: 18, counter: 40, cpu: 16, lock: 16};
    const HEAD = 24, GAP = 7, LEAST = 30;

    class Layout {
        constructor(model) {
            this.model = model;
            this.closed = new Set(["locks", "cpus"]);
            this.build();
        }

        toggle(key) {
            if (!this.closed.delete(key))
                this.closed.add(key);
            this.build();
        }

        build() {
            const model = this.model;

            this.blocks = [];
            this.height = 0;
            this.ofRow = new Map();
            for (const p of this.order())
                this.addProcess(model.head.processes[p], p);
            const shared = this.lanesOf(-1).some((l) => model.lanes[l].name);
            this.addProcess({name: shared ? "other events" : "events of no thread", pid: ""}, -1);
            if (model.cpuRows.length > 0 && this.addHead("cpus", "Processors",
                                                         `${model.cpuRows.length}`,
                                                         "which thread runs there"))
                for (const row of model.cpuRows)
                    this.addBlock("cpu", `cpu ${model.rows[row].cpu}`, "", [row]);
            this.tops = Float64Array.from(this.blocks, (block) => block.y);
        }

        /** Processes in order, but last those that have nothing but events: mostly the tracer. */
        order() {
            const {processRows, laneRows, rows} = this.model;
            const plain = (p) => processRows[p].length === 0 && this.lanesOf(p).every(
                (l) => laneRows[l].every((r) => rows[r].kind === "events"));
            const all = [...processRows.keys()];

            return [...all.filter((p) => !plain(p)), ...all.filter(plain)];
        }

        addProcess(process, p) {
            const {lanes} = this.model;
            const own = this.lanesOf(p);
            if (p < 0 && own.length === 0)
                return;
            const events = own.reduce((sum, l) => sum + (lanes[l].events || 0), 0);

            if (!this.addHead(`process ${p}`, process.name || "process", `${process.pid}`,
                              `${PT.text.plural(own.length, "thread")}, ` +
                              PT.text.plural(events, "event")))
                return;
            for (const l of own)
                this.addBlock("lane", lanes[l].name || "thread", p < 0 ? "" : `${lanes[l].tid}`,
                              this.model.laneRows[l], l);
            if (p >= 0)
                this.addShared(p);
        }

        lanesOf(p) {
            if (!this.byProcess) {
                this.byProcess = this.model.head.processes.map(() => []);
                this.ownerless = [];
                this.model.lanes.forEach((lane, l) => (this.byProcess[lane.process] ||
                                                       this.ownerless).push(l));
            }
            return this.byProcess[p] || this.ownerless;
        }

        addShared(p) {
            const {rows} = this.model;
            const shared = this.model.processRows[p];
            const locks = shared.filter((r) => rows[r].kind === "lock");

            for (const r of shared.filter((i) => rows[i].kind === "counter"))
                this.addBlock("counter", rows[r].name, "counter", [r]);
            if (locks.length === 0)
                return;
            const key = this.closed.has("locks") ? "locks" : `locks ${p}`;
            if (this.addHead(key, "Locks", `${locks.length}`, "which thread holds them"))
                for (const r of locks)
                    this.addBlock("lock", rows[r].name, "lock", [r]);
        }

        /** The head of a group; false if the group is closed. */
        addHead(key, title, number, more) {
            const open = !this.closed.has(key);

            this.blocks.push({kind: "head", key, title, sub: number, more: more || "", open,
                              y: this.height, h: HEAD, rows: []});
            this.height += HEAD;
            return open;
        }

        addBlock(kind, title, sub, rows, lane) {
            const block = {kind, title, sub, y: this.height, h: 0, lane, rows: []};
            let at = GAP / 2;

            for (const row of rows) {
                const h = HEIGHT[this.model.rows[row].kind] || 16;
                block.rows.push({row, y: at, h});
                this.ofRow.set(row, block);
                at += h + 1;
            }
            block.h = Math.max(LEAST, Math.ceil(at + GAP / 2));
            this.blocks.push(block);
            this.height += block.h;
        }

        /** All rows of open groups, from top to bottom. */
        rows() {
            return this.blocks.flatMap((block) => block.rows.map(({row}) => row));
        }

        /** Index of the block at y, or of the last one. */
        at(y) {
            const i = PT.tiles.lower(this.tops, y + 0.001, 0, this.tops.length) - 1;

            return Math.max(0, i);
        }

        /** Blocks of y..y + h. */
        within(y, h) {
            const list = [];

            for (let i = this.at(y); i < this.blocks.length && this.blocks[i].y < y + h; i++)
                list.push(this.blocks[i]);
            return list;
        }
    }

    PT.layout = {Layout};
}(globalThis.PT = globalThis.PT || {}));
