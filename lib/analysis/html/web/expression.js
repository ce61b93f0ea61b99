/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Expressions over events, in the language of posixtrace-filter(5) as far as the page knows
 * their data: event, class, group, pid, tid, thread and fields, with and, or, not and brackets.
 * A single word, or a text in quotes, is looked for in names and in fields that are texts.
 */
"use strict";
(function (PT) {
    const TOKEN = new RegExp("\\s*(?:" + [
        /("(?:[^"\\]|\\.)*")/,                                                 // text
        /(-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?))(?![\w.])/,             // number
        /(==|!=|<=|>=|&&|\|\||[<>~!()])/,
        /([\w.:*?[\]#/-]+)/].map((part) => part.source).join("|") + ")", "iy");
    const CONNECT = {and: "&&", or: "||", not: "!", "&&": "&&", "||": "||", "!": "!"};
    const DEPTH = 16;

    function tokens(text) {
        const list = [];

        TOKEN.lastIndex = 0;
        while (TOKEN.lastIndex < text.trimEnd().length) {
            const at = TOKEN.lastIndex, found = TOKEN.exec(text);
            if (!found)
                throw new Error(`not understood: ${text.slice(at, at + 20)}`);
            const [, string, number, sign, word] = found;
            if (string !== undefined)
                list.push({kind: "text", value: string.slice(1, -1).replace(/\\(.)/g, "$1")});
            else if (number !== undefined)
                list.push({kind: "number", value: number});
            else if (sign !== undefined)
                list.push({kind: CONNECT[sign] || sign});
            else
                list.push(CONNECT[word.toLowerCase()] ? {kind: CONNECT[word.toLowerCase()]}
                    : {kind: "word", value: word});
        }
        return list;
    }

    /** A pattern of the shell as a regular expression over the whole text. */
    function pattern(text) {
        const body = text.replace(/\\(.)|([.+^${}()|/])|(\*)|(\?)|\[!/g,
            (all, quoted, special, star, any) => quoted !== undefined ? `\\${quoted}`
                : special ? `\\${special}` : star ? "[^]*" : any ? "[^]" : "[^");

        try {
            return new RegExp(`^(?:${body})$`, "u");
        } catch (error) {
            throw new Error(`no pattern: ${text}`);
        }
    }

    function numberOf(token) {
        if (token.kind !== "number")
            throw new Error("a number is due");
        return /^-?(0x[0-9a-f]+|\d+)$/i.test(token.value) ? integerOf(token.value)
            : Number(token.value);
    }

    function integerOf(text) {
        return text[0] === "-" ? -BigInt(text.slice(1)) : BigInt(text);
    }

    /* BigInt and numbers compare exactly with each other. */
    const COMPARE = {"==": (a, b) => a == b, "!=": (a, b) => a != b, // eslint-disable-line eqeqeq
                     "<": (a, b) => a < b, "<=": (a, b) => a <= b,
                     ">": (a, b) => a > b, ">=": (a, b) => a >= b};

    class Parser {
        constructor(text) {
            this.list = tokens(text);
            this.fields = new Set();
            this.anyText = false;
            this.at = 0;
            this.depth = 0;
        }

        peek() {
            return this.list[this.at] || {kind: "end"};
        }

        take(...kinds) {
            const token = this.peek();

            if (kinds.length > 0 && !kinds.includes(token.kind))
                throw new Error(token.kind === "end" ? "something is missing at the end"
                    : `not expected: ${token.value || token.kind}`);
            this.at++;
            return token;
        }

        whole() {
            const test = this.any();

            this.take("end");
            return test;
        }

        any() {
            const tests = this.joined("||", () => this.all());

            return tests.length === 1 ? tests[0] : (event) => tests.some((test) => test(event));
        }

        all() {
            const tests = this.joined("&&", () => this.single());

            return tests.length === 1 ? tests[0] : (event) => tests.every((test) => test(event));
        }

        joined(sign, next) {
            const tests = [next()];

            while (this.peek().kind === sign) {
                this.take();
                tests.push(next());
            }
            return tests;
        }

        single() {
            if (this.peek().kind === "!") {
                this.take();
                const test = this.single();
                return (event) => !test(event);
            }
            if (this.peek().kind !== "(")
                return this.test();
            this.take();
            if (++this.depth > DEPTH)
                throw new Error(`brackets more than ${DEPTH} deep`);
            const test = this.any();
            this.take(")");
            this.depth--;
            return test;
        }

        test() {
            const token = this.take("word", "text");
            const word = token.kind === "word" ? token.value : "";
            const next = this.peek().kind;
            const value = ["word", "text", "number"].includes(next);
            const ofText = value || ["==", "!=", "~"].includes(next);

            if (["event", "class", "group"].includes(word) && ofText)
                return this.type(word, value ? "~" : this.take().kind);
            if (["pid", "tid"].includes(word) && (value || COMPARE[next]))
                return this.number(word, value ? "==" : this.take().kind);
            if (word === "thread" && ofText)
                return this.texts((event) => event.thread, value ? "~" : this.take().kind);
            if (COMPARE[next] || next === "~")
                return this.field(word, this.take().kind);
            if (word[0] === ".") {
                this.fields.add(word.slice(1));
                return (event) => Boolean(event.field(word.slice(1)));
            }
            this.anyText = true;
            return anywhere(token.value);
        }

        number(word, sign) {
            const compare = COMPARE[sign], number = numberOf(this.take());

            return (event) => compare(event[word], number);
        }

        /** A test of the type's name; without a sign, and with ~, by a pattern. */
        type(word, sign) {
            const {value} = this.take("word", "text", "number");
            const test = named(word, pattern(sign === "~" ? value
                : value.replace(/[\\*?[]/g, "\\$&")));

            return sign === "!=" ? (event) => !test(event) : test;
        }

        texts(get, sign) {
            const {value} = this.take("word", "text", "number");

            if (sign === "~") {
                const like = pattern(value);
                return (event) => get(event) !== undefined && like.test(get(event));
            }
            return (event) => {
                const text = get(event);
                return text !== undefined && (text === value) === (sign === "==");
            };
        }

        field(word, sign) {
            const name = word.replace(/^\./, "");
            this.fields.add(name);
            const token = this.peek();

            if (token.kind === "text" || sign === "~")
                return this.texts((event) => {
                    const value = event.field(name);
                    return typeof value === "string" ? value : undefined;
                }, sign);
            if (token.kind === "word") {
                this.take();
                const compare = COMPARE[sign];
                return (event) => {
                    const value = event.enumeration(name, token.value);
                    return value !== undefined && compare(event.field(name), value);
                };
            }
            const number = numberOf(this.take());
            return (event) => {
                const value = event.field(name);
                return value !== undefined && typeof value !== "string" &&
                       COMPARE[sign](value, number);
            };
        }
    }

    /** A test of the name only, made once for each type. */
    function named(kind, like) {
        const known = new Map(), test = ofName(kind, like);

        return (event) => {
            let holds = known.get(event.name);
            if (holds === undefined)
                known.set(event.name, holds = test(event));
            return holds;
        };
    }

    function ofName(kind, like) {
        if (kind === "event")
            return (event) => like.test(event.name) || like.test(event.name.replace(/#\d+$/, ""));
        if (kind === "class")
            return (event) => like.test(event.name.split(":")[0]);
        return (event) => {
            for (let i = 1; i <= event.name.length; i++)
                if ((i === event.name.length || ".:/".includes(event.name[i])) &&
                    like.test(event.name.slice(0, i)))
                    return true;
            return false;
        };
    }

    function anywhere(text) {
        const low = text.toLowerCase(), known = new Map();
        const has = (name) => {
            let holds = known.get(name);
            if (holds === undefined)
                known.set(name, holds = name.toLowerCase().includes(low));
            return holds;
        };

        return (event) => has(event.name) || has(event.thread) || event.anyText(low);
    }

    /**
     * {test, fields, anyText}: a test of events {name, pid, tid, thread, field(name),
     * enumeration(name, word), anyText(text)}; the fields that it looks at, and if it looks at all
     * that are texts.  Words without any sign between them are one text.
     */
    function parse(text) {
        const list = tokens(text);
        const parser = new Parser(text);

        if (list.length > 1 && list.every(({kind}) => kind === "word" || kind === "number") &&
            !/^(event|class|group|pid|tid|thread)$/.test(list[0].value))
            return {test: anywhere(text.trim()), fields: new Set(), anyText: true};
        if (list.length === 1 && list[0].kind === "number")
            return {test: anywhere(list[0].value), fields: new Set(), anyText: true};
        const test = parser.whole();
        return {test, fields: parser.fields, anyText: parser.anyText};
    }

    PT.expression = {parse, pattern};
}(globalThis.PT = globalThis.PT || {}));
