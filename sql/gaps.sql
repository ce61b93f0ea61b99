-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The posixtrace authors
--
-- What is not known, by host, service and cause.
--
-- lost_events             how many; the sum over all rows is what all logs have lost
-- places                  rows that say so
-- gap_count, gap_ns       times in which events of any thread may be missing; they have no number
-- from_time, to_time      of all, where it is known
-- recorded                events of the host, for comparison
-- lost_share              lost_events / (lost_events + recorded)
select
    machine, service, cause, lost_events, places, gap_count, gap_ns, from_time, to_time, recorded,
    case when lost_events = 0 then 0 else lost_events / (lost_events + recorded) end as lost_share
from (
    select
        coalesce(host, '') as machine, coalesce(process, '') as service, cause,
        coalesce(sum(lost), 0) as lost_events,
        sum(case when lost is null then 0 else 1 end) as places,
        sum(case when lost is null then 1 else 0 end) as gap_count,
        coalesce(sum(case when lost is null then end_time - begin_time else null end), 0) as gap_ns,
        min(begin_time) as from_time, max(end_time) as to_time
    from gaps
    group by machine, service, cause
) causes
@left_join@ (
    select coalesce(host, '') as machine, count(*) as recorded
    from events
    group by machine
) counts using (machine)
order by lost_events desc, machine, service, cause;
