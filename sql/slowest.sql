-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- The slowest instances of each metric and pair that are known, of all hosts; and how long one that
-- lost events hide may have been.
--
-- log, piece, begin_time   what 'posixtrace why' and 'print' need to look closer
-- hidden, at_most          places of this metric in which events were lost, and the limit of what
--                          they hide, in ns; null: there is none
-- lost_events              in the logs of the host, of all threads
-- gap_count                times in them in which events of any thread may be missing
select
    metric, instance_length, machine, service, thread_name, tid, begin_time, log, piece, position,
    hidden, at_most, coalesce(lost_sum, 0) as lost_events,
    coalesce(gap_sum, 0) as gap_count
from (
    select
        metric, instance_length, machine, service, thread_name, tid, begin_time, log, piece,
        position, hidden, at_most
    from (
        select
            kind, metric, length as instance_length, coalesce(host, '') as machine,
            coalesce(process, '') as service, coalesce(thread, '') as thread_name, tid, begin_time,
            log, piece, position
        from measurements
        where known and kind <> 'wait'
        order by length desc, log, piece, position
        limit 100
    ) instances
    @join@ (
        select
            kind, metric, sum(case when known then 0 else 1 end) as hidden,
            case when sum(case when most is null then 1 else 0 end) > 0 then null else max(most) end as at_most
        from measurements
        where kind <> 'wait'
        group by kind, metric
    ) doubts using (kind, metric)
) found
@left_join@ (
    select
        coalesce(host, '') as machine, sum(lost) as lost_sum,
        sum(case when lost is null then 1 else 0 end) as gap_sum
    from gaps
    group by machine
) losses using (machine)
order by instance_length desc, log, piece, position;
