/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Headless Firefox through its Marionette protocol: JSON with its length before it, over a socket
 * whose port Firefox leaves in its profile.
 */
"use strict";
const {spawn} = require("child_process");
const fs = require("fs");
const net = require("net");
const os = require("os");
const path = require("path");

class Firefox {
    constructor(program) {
        this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "posixtrace-page-"));
        fs.writeFileSync(path.join(this.profile, "user.js"),
                         "user_pref(\"marionette.port\", 0);\n");
        this.child = spawn(program, ["--headless", "--marionette", "--no-remote",
                                     "--profile", this.profile],
                           {stdio: "ignore", env: {...process.env, HOME: this.profile}});
        this.ended = new Promise((resolve) => this.child.on("exit", resolve));
        this.calls = new Map();
        this.number = 0;
        this.rest = Buffer.alloc(0);
    }

    async start() {
        const file = path.join(this.profile, "MarionetteActivePort");

        while (!fs.existsSync(file) || !fs.readFileSync(file, "utf8").trim()) {
            if (this.child.exitCode !== null)
                throw new Error(`Firefox ended with ${this.child.exitCode}`);
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
        this.socket = net.connect(Number(fs.readFileSync(file, "utf8")), "127.0.0.1");
        const hello = new Promise((resolve) => this.calls.set("hello", {resolve}));
        this.socket.on("data", (data) => this.read(data));
        await hello;
        await this.send("WebDriver:NewSession", {});
        await this.send("WebDriver:SetWindowRect", {width: 1400, height: 900});
    }

    read(data) {
        this.rest = Buffer.concat([this.rest, data]);
        for (;;) {
            const colon = this.rest.indexOf(":");
            const end = colon + 1 + Number(this.rest.subarray(0, Math.max(0, colon)));
            if (colon < 0 || this.rest.length < end)
                return;
            this.answer(JSON.parse(this.rest.subarray(colon + 1, end)));
            this.rest = this.rest.subarray(end);
        }
    }

    answer(message) {
        const [, id, error, result] = Array.isArray(message) ? message
            : [1, "hello", null, message];
        const call = this.calls.get(id);

        this.calls.delete(id);
        if (error)
            call.reject(new Error(`${error.error}: ${error.message}`));
        else
            call.resolve(result);
    }

    send(name, parameters) {
        const id = ++this.number;
        const text = Buffer.from(JSON.stringify([0, id, name, parameters]));

        this.socket.write(`${text.length}:`);
        this.socket.write(text);
        return new Promise((resolve, reject) => this.calls.set(id, {resolve, reject}));
    }

    /** The value of an expression of the page, also if it comes later. */
    async run(expression) {
        const {value} = await this.send("WebDriver:ExecuteAsyncScript", {sandbox: null, args: [],
            script: `const done = arguments[arguments.length - 1];
                     (async () => (${expression}))().then((value) => done([value]),
                                                          (error) => done(String(error)));`});

        if (!Array.isArray(value))
            throw new Error(`${expression}: ${value}`);
        return value[0];
    }

    async load(url) {
        await this.send("WebDriver:Navigate", {url});
        await this.run(`new Promise((resolve) => {
            const look = () => window.posixtrace && posixtrace.settled() ? resolve()
                : setTimeout(look, 5);
            look();
        })`);
    }

    async close() {
        if (this.socket)
            await this.send("Marionette:Quit", {flags: ["eForceQuit"]}).catch(() => null);
        else
            this.child.kill("SIGKILL");
        await this.ended;
        fs.rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
    }
}

module.exports = {Firefox};
