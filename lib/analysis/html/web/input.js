/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Wheel, pointer and keys.  As in Perfetto: W A S D, Ctrl and wheel zooms, the wheel alone moves
 * through the lanes, dragging selects a span.
 */
"use strict";
(function (PT) {
    const STEP = 0.12, ZOOM = 0.75, CLICK = 4;
    const MOVES = {w: 1, s: 1, a: 1, d: 1};

    class Input {
        constructor(view, actions) {
            const {canvas, map} = view;

            Object.assign(this, {view, actions});
            this.held = new Set();
            this.drag = null;
            canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
            canvas.addEventListener("pointerdown", (event) => this.down(event));
            canvas.addEventListener("pointermove", (event) => this.move(event));
            canvas.addEventListener("pointerup", (event) => this.up(event));
            canvas.addEventListener("pointerleave", () => actions.tip(null));
            canvas.addEventListener("dblclick", () => actions.zoomToSelection());
            map.addEventListener("pointerdown", (event) => this.mapDown(event));
            map.addEventListener("pointermove", (event) => event.buttons && this.mapMove(event));
            document.addEventListener("keydown", (event) => this.key(event));
            document.addEventListener("keyup",
                                      (event) => this.held.delete(event.key.toLowerCase()));
            window.addEventListener("blur", () => this.held.clear());
        }

        place(event) {
            const box = this.view.canvas.getBoundingClientRect();

            return {x: event.clientX - box.left, y: event.clientY - box.top};
        }

        wheel(event) {
            const {view} = this;
            const {x, y} = this.place(event);
            const lines = event.deltaMode === 1 ? 30 : 1;
            const dx = event.deltaX * lines, dy = event.deltaY * lines;

            if (event.ctrlKey || event.metaKey || y < PT.view.RULER) {
                view.zoom(Math.pow(1.0025, Math.max(-400, Math.min(400, dy))), x / view.width);
                event.preventDefault();
            } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
                view.pan((dx || dy) / view.width);
                event.preventDefault();
            }
        }

        down(event) {
            const {x, y} = this.place(event);

            if (event.button !== 0)
                return;
            this.view.canvas.setPointerCapture(event.pointerId);
            this.drag = {x, y, last: x, moved: false, pans: event.shiftKey};
        }

        move(event) {
            const {view, drag} = this;
            const {x, y} = this.place(event);

            if (!drag) {
                this.actions.tip({x, y});
                return;
            }
            drag.moved = drag.moved || Math.abs(x - drag.x) > CLICK;
            if (!drag.moved)
                return;
            if (drag.pans)
                view.pan((drag.last - x) / view.width);
            else
                this.actions.span(this.time(Math.min(drag.x, x)), this.time(Math.max(drag.x, x)),
                                  false);
            drag.last = x;
        }

        time(x) {
            const {view} = this;
            const t = view.from + (view.to - view.from) * x / view.width;

            return Math.min(Math.max(0, Math.round(t)), view.model.span);
        }

        up(event) {
            const {x, y} = this.place(event);
            const drag = this.drag;

            this.drag = null;
            if (!drag)
                return;
            if (!drag.moved)
                this.actions.click(this.view.hit(x, y));
            else if (!drag.pans)
                this.actions.span(this.time(Math.min(drag.x, x)), this.time(Math.max(drag.x, x)),
                                  true);
        }

        mapTime(event) {
            const box = this.view.map.getBoundingClientRect();

            return (event.clientX - box.left) / box.width * this.view.model.span;
        }

        /** A press outside of what is shown moves there; dragging chooses a span. */
        mapDown(event) {
            this.view.map.setPointerCapture(event.pointerId);
            this.mapFrom = this.mapTime(event);
            const half = (this.view.to - this.view.from) / 2;
            this.view.show(this.mapFrom - half, this.mapFrom + half);
        }

        mapMove(event) {
            const t = this.mapTime(event);

            if (Math.abs(t - this.mapFrom) > this.view.model.span / 500)
                this.view.show(Math.min(t, this.mapFrom), Math.max(t, this.mapFrom));
        }

        key(event) {
            const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
            const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;

            if (event.ctrlKey || event.metaKey || event.altKey)
                return;
            if (typing && event.key === "Escape")
                event.target.blur();
            if (typing || document.querySelector("dialog[open]"))
                return;
            if (this.actions.key(key, event.shiftKey) ||
                (this.actions.timeline() && this.moves(key)))
                event.preventDefault();
        }

        moves(key) {
            if (MOVES[key] && !this.held.has(key)) {
                this.held.add(key);
                this.step(key, 1);
                if (this.held.size === 1)
                    this.hold(0);
            }
            return Boolean(MOVES[key]);
        }

        step(key, part) {
            const {view} = this;

            if (key === "a" || key === "d")
                view.pan(part * (key === "a" ? -STEP : STEP));
            else
                view.zoom(Math.pow(key === "w" ? ZOOM : 1 / ZOOM, part), 0.5);
        }

        /** While keys are held, a frame moves as far as its time: about eight steps a second. */
        hold(before) {
            requestAnimationFrame((now) => {
                if (this.held.size === 0)
                    return;
                const part = before > 0 ? Math.min(0.5, (now - before) / 125) : 0;
                for (const key of this.held)
                    this.step(key, part);
                this.hold(now);
            });
        }
    }

    PT.input = {Input};
}(globalThis.PT = globalThis.PT || {}));
