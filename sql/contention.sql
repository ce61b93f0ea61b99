-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- Where programs wait, by host, service, kind and place of the call, the longest first.
--
-- waits, total, longest   of known waits, in ns; of locks those that found it held
-- lost_waits              calls in which events were lost
-- lost_events             in the logs of the host, of all threads
-- gap_count               times in them in which events of any thread may be missing
select
    machine, service, waits_for, place, waits, total, p50, p99, longest, threads, lost_waits,
    coalesce(lost_sum, 0) as lost_events,
    coalesce(gap_sum, 0) as gap_count
from (
    select
        coalesce(host, '') as machine, coalesce(process, '') as service, metric as waits_for,
        coalesce(site, @text(caller)@, '') as place,
        sum(case when known then 1 else 0 end) as waits,
        coalesce(sum(length), 0) as total,
        @quantile(length, 500)@ as p50, @quantile(length, 990)@ as p99,
        max(length) as longest,
        count(distinct tid) as threads,
        sum(case when known then 0 else 1 end) as lost_waits
    from measurements
    where kind = 'wait'
    group by machine, service, waits_for, place
) calls
@left_join@ (
    select
        coalesce(host, '') as machine, sum(lost) as lost_sum,
        sum(case when lost is null then 1 else 0 end) as gap_sum
    from gaps
    group by machine
) losses using (machine)
order by total desc, machine, service, waits_for, place;
