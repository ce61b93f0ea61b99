/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Headless Chromium through its DevTools protocol over a pipe: no port, no library.  Collects
 * what must not happen: errors on the console, exceptions, requests other than for the page
 * itself.
 */
"use strict";
const {spawn} = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

function findBrowser() {
    const folders = (process.env.PATH || "").split(":");

    for (const name of NAMES)
        for (const folder of folders)
            if (fs.existsSync(path.join(folder, name)))
                return path.join(folder, name);
    return null;
}

class Page {
    constructor(browser, session) {
        Object.assign(this, {browser, session, faults: [], requests: [], waiters: []});
        this.loaded = new Set();
    }

    send(method, params) {
        return this.browser.send(method, params, this.session);
    }

    hear({method, params}) {
        if (method === "Runtime.exceptionThrown") {
            const {text, exception} = params.exceptionDetails;
            this.faults.push(`${text} ${exception ? exception.description : ""}`);
        } else if (method === "Runtime.consoleAPICalled" &&
                   /error|assert|warning/.test(params.type)) {
            this.faults.push(`console.${params.type} ${JSON.stringify(params.args)}`);
        } else if (method === "Log.entryAdded" && params.entry.level === "error") {
            this.faults.push(`log: ${params.entry.text} ${params.entry.url || ""}`);
        } else if (method === "Network.requestWillBeSent") {
            this.requests.push(params.request.url);
        } else if (method === "Page.javascriptDialogOpening") {
            this.faults.push(`dialog: ${params.message}`);
            this.send("Page.handleJavaScriptDialog", {accept: true});
        } else if (method === "Page.lifecycleEvent" && params.name === "load") {
            this.loaded.add(params.loaderId);
            this.waiters.splice(0).forEach((resolve) => resolve());
        }
    }

    size(width, height) {
        return this.send("Emulation.setDeviceMetricsOverride",
                         {width, height, deviceScaleFactor: 1, mobile: false});
    }

    /** By an empty page, since a URL that differs in its fragment only is no load. */
    async load(url) {
        for (const one of ["about:blank", url]) {
            const {loaderId, errorText} = await this.send("Page.navigate", {url: one});

            if (errorText)
                throw new Error(`${one}: ${errorText}`);
            // Other loads, as that of a new page, end when they like.
            while (!this.loaded.has(loaderId))
                await new Promise((resolve) => this.waiters.push(resolve));
        }
        await this.settle();
    }

    async run(expression) {
        const {result, exceptionDetails} = await this.send("Runtime.evaluate",
            {expression, awaitPromise: true, returnByValue: true});

        if (exceptionDetails)
            throw new Error(`${expression}: ${exceptionDetails.text} ${
                exceptionDetails.exception ? exceptionDetails.exception.description : ""}`);
        return result.value;
    }

    /** Until the condition holds, looked at again and again. */
    until(condition) {
        return this.run(`new Promise((resolve) => {
            const look = () => (${condition}) ? resolve(true) : setTimeout(look, 5);
            look();
        })`);
    }

    /** A page that failed at its start never settles: its fault says why. */
    async settle() {
        if (!await this.run("Boolean(window.posixtrace)"))
            throw new Error(`the page did not start: ${this.faults.join("\n")}`);
        await this.until("posixtrace.settled()");
    }

    visible() {
        return this.run("posixtrace.visible()");
    }

    async key(key, times) {
        const text = key.length === 1 ? key : undefined;

        for (let i = 0; i < (times || 1); i++) {
            await this.send("Input.dispatchKeyEvent", {type: "keyDown", key, text});
            await this.send("Input.dispatchKeyEvent", {type: "keyUp", key});
        }
        await this.settle();
    }

    async type(text) {
        await this.send("Input.insertText", {text});
    }

    mouse(type, x, y, more) {
        return this.send("Input.dispatchMouseEvent", {type, x, y, button: "left", clickCount: 1,
                                                      ...more});
    }

    async click(x, y) {
        await this.mouse("mouseMoved", x, y, {button: "none"});
        await this.mouse("mousePressed", x, y);
        await this.mouse("mouseReleased", x, y);
        await this.settle();
    }

    async drag(x0, y0, x1, y1, modifiers) {
        await this.mouse("mousePressed", x0, y0, {modifiers});
        await this.mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, {buttons: 1, modifiers});
        await this.mouse("mouseMoved", x1, y1, {buttons: 1, modifiers});
        await this.mouse("mouseReleased", x1, y1, {modifiers});
        await this.settle();
    }

    async screenshot(file) {
        const {data} = await this.send("Page.captureScreenshot", {format: "png"});

        fs.writeFileSync(file, Buffer.from(data, "base64"));
    }
}

class Browser {
    constructor(program) {
        this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "posixtrace-page-"));
        this.child = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu",
            "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-default-apps", "--disable-sync",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
            `--user-data-dir=${this.profile}`, "about:blank"],
                           {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
        this.calls = new Map();
        this.listeners = [];
        this.number = 0;
        this.rest = "";
        this.child.stdio[4].setEncoding("utf8");
        this.child.stdio[4].on("data", (data) => this.read(data));
        this.ended = new Promise((resolve) => this.child.on("exit", resolve));
        this.ended.then(() => this.calls.forEach(({reject}) => reject(new Error("browser ended"))));
    }

    read(data) {
        const parts = (this.rest + data).split("\0");

        this.rest = parts.pop();
        for (const part of parts) {
            const message = JSON.parse(part);
            const call = this.calls.get(message.id);
            this.calls.delete(message.id);
            if (!call)
                this.listeners.forEach((listener) => listener(message));
            else if (message.error)
                call.reject(new Error(`${call.method}: ${message.error.message}`));
            else
                call.resolve(message.result);
        }
    }

    send(method, params, sessionId) {
        const id = ++this.number;

        this.child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
        return new Promise((resolve, reject) => this.calls.set(id, {resolve, reject, method}));
    }

    async open(width, height, dark) {
        const {targetId} = await this.send("Target.createTarget", {url: "about:blank"});
        const {sessionId} = await this.send("Target.attachToTarget", {targetId, flatten: true});
        const page = new Page(this, sessionId);

        this.listeners.push((message) => message.sessionId === sessionId && page.hear(message));
        for (const domain of ["Page", "Runtime", "Network", "Log"])
            await page.send(`${domain}.enable`);
        await page.send("Page.setLifecycleEventsEnabled", {enabled: true});
        await page.size(width || 1400, height || 900);
        await page.send("Emulation.setEmulatedMedia", {features: [
            {name: "prefers-color-scheme", value: dark ? "dark" : "light"}]});
        return page;
    }

    async close() {
        await this.send("Browser.close").catch(() => null);
        await this.ended;
        fs.rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
    }
}

/** The end of a test program: what it says when all holds, or the first fault and exit status 1. */
function report(done, words) {
    done.then(() => console.log(words), (error) => {
        console.error(error);
        process.exit(1);
    });
}

module.exports = {Browser, find: findBrowser, report};
