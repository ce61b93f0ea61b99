-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- Events a second, by host, service and type, over the time of the logs of the host.
--
-- recorded      events of that type
-- rate          of these, a second
-- at_most       the rate if all events that the host has lost had been of that type and service
-- lost_events   in the logs of the host, of all threads
-- gap_count     times in them in which events of any thread may be missing
select
    machine, service, event, recorded,
    case when seconds > 0 then recorded / seconds else null end as rate,
    case when seconds > 0 then (recorded + coalesce(lost_sum, 0)) / seconds else null end as at_most,
    seconds, coalesce(lost_sum, 0) as lost_events, coalesce(gap_sum, 0) as gap_count
from (
    select machine, service, event, recorded, seconds
    from (
        select
            coalesce(host, '') as machine, coalesce(process, '') as service, event,
            count(*) as recorded
        from events
        group by machine, service, event
    ) types
    @join@ (
        select machine, sum(span) / 1000000000 as seconds
        from (
            select
                coalesce(host, '') as machine, log, piece, max(time) - min(time) as span
            from events
            group by machine, log, piece
        ) logs
        group by machine
    ) spans using (machine)
) counted
@left_join@ (
    select
        coalesce(host, '') as machine, sum(lost) as lost_sum,
        sum(case when lost is null then 1 else 0 end) as gap_sum
    from gaps
    group by machine
) losses using (machine)
order by machine, recorded desc, service, event;
