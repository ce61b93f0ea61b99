-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- Two releases of a service beside each other, by metric or pair: 'a' and 'b' of a table or view
-- releases (log, release), which says of which release each log is.  For example, by a time:
--
--     create view releases as
--     select log, case when min(begin_time) < 1795899440000000000 then 'a' else 'b' end as release
--     from measurements group by log
--
-- *_known_share   of places: measured / (measured + places in which lost events hide further ones)
-- change_p50      of the medians, b / a - 1
-- *_lost_events, *_gap_count   in all logs of the release: lost events, and times in which events of
--                              any thread may be missing
select
    service, kind, metric, a_measured, b_measured, a_p50, b_p50,
    case when a_p50 > 0 then b_p50 / a_p50 - 1 else null end as change_p50,
    a_p99, b_p99,
    case when a_p99 > 0 then b_p99 / a_p99 - 1 else null end as change_p99,
    a_longest, b_longest, a_known_share, b_known_share,
    a_lost_events, b_lost_events, a_gap_count, b_gap_count
from (
    select
        service, kind, metric, one, a_measured, b_measured, a_p50, b_p50, a_p99, b_p99, a_longest,
        b_longest, a_known_share, b_known_share
    from (
        select
            coalesce(process, '') as service, kind, metric, 1 as one,
            sum(case when known then 1 else 0 end) as a_measured,
            sum(case when known then 1 else 0 end) / count(*) as a_known_share,
            @quantile(length, 500)@ as a_p50, @quantile(length, 990)@ as a_p99, max(length) as a_longest
        from measurements
        @join@ (select log, release from releases where release = 'a') chosen using (log)
        where kind <> 'wait'
        group by service, kind, metric
    ) before
    @join@ (
        select
            coalesce(process, '') as service, kind, metric,
            sum(case when known then 1 else 0 end) as b_measured,
            sum(case when known then 1 else 0 end) / count(*) as b_known_share,
            @quantile(length, 500)@ as b_p50, @quantile(length, 990)@ as b_p99, max(length) as b_longest
        from measurements
        @join@ (select log, release from releases where release = 'b') chosen using (log)
        where kind <> 'wait'
        group by service, kind, metric
    ) after using (service, kind, metric)
) compared
@join@ (
    select
        1 as one,
        coalesce(sum(case when release = 'a' then lost else 0 end), 0) as a_lost_events,
        coalesce(sum(case when release = 'b' then lost else 0 end), 0) as b_lost_events,
        coalesce(sum(case when release = 'a' and lost is null then 1 else 0 end), 0) as a_gap_count,
        coalesce(sum(case when release = 'b' and lost is null then 1 else 0 end), 0) as b_gap_count
    from gaps
    @join@ (select log, release from releases) named using (log)
) losses using (one)
order by service, kind, metric;
