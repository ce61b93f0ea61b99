-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- How long things take, by host, service (process) and metric or pair, of all logs.
--
-- measured      known measurements; the quantiles and the longest are theirs, in ns
-- hidden        places in which lost events hide any number of further ones
-- known_share   of places: measured / (measured + hidden)
-- at_most       nothing hidden was longer; null: there is no limit
-- lost_events   in the logs of the host, of all threads
-- gap_count     times in them in which events of any thread may be missing
select
    machine, service, kind, metric, measured, hidden, known_share,
    p50, p90, p99, p999, longest, at_most, coalesce(lost_sum, 0) as lost_events,
    coalesce(gap_sum, 0) as gap_count
from (
    select
        coalesce(host, '') as machine, coalesce(process, '') as service, kind, metric,
        sum(case when known then 1 else 0 end) as measured,
        sum(case when known then 0 else 1 end) as hidden,
        sum(case when known then 1 else 0 end) / count(*) as known_share,
        @quantile(length, 500)@ as p50, @quantile(length, 900)@ as p90,
        @quantile(length, 990)@ as p99, @quantile(length, 999)@ as p999,
        max(length) as longest,
        case when sum(case when most is null then 1 else 0 end) > 0 then null else max(most) end as at_most
    from measurements
    where kind <> 'wait'
    group by machine, service, kind, metric
) measures
@left_join@ (
    select
        coalesce(host, '') as machine, sum(lost) as lost_sum,
        sum(case when lost is null then 1 else 0 end) as gap_sum
    from gaps
    group by machine
) losses using (machine)
order by machine, service, kind, metric;
