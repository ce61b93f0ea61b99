-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- The tables of a folder that 'posixtrace export --to=parquet' has made, in which DuckDB runs.
create or replace view events as
    select * from read_parquet('events/**/*.parquet', union_by_name = true);
create or replace view measurements as
    select * from read_parquet('measurements/**/*.parquet', union_by_name = true);
create or replace view gaps as
    select * from read_parquet('gaps/**/*.parquet', union_by_name = true);
