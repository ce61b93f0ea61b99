// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The posixtrace authors
"use strict";
{
    const head = JSON.parse(document.getElementById("head").textContent);
    document.getElementById("main").textContent =
        `${head.log.name}: ${head.events} events, ${head.lost.total} lost`;
}
