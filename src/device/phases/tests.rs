use super::*;

#[test]
fn the_last_slot_is_kept_for_the_end() {
    let mut slots = TimestampSlots::new(vk::QueryPool::null(), 7, 3);
    let mut queries = Vec::new();
    for (name, spare) in [(TimestampSlots::BEGIN, 1), (c"first", 1), (c"second", 1), (c"third", 0)] {
        queries.extend(slots.take(name, spare).map(|(_, query)| query));
    }
    assert_eq!(queries, [7, 8, 9]);
    assert_eq!(slots.names(), [TimestampSlots::BEGIN, c"first", c"third"]);
    slots.clear();
    assert_eq!(slots.take(c"again", 0), Some((vk::QueryPool::null(), 7)));
    let mut one = TimestampSlots::new(vk::QueryPool::null(), 0, 1);
    assert_eq!(one.take(TimestampSlots::BEGIN, 1), None);
}

#[test]
fn slots_stay_within_u32_and_the_maximum_count() {
    let capacity =
        |first_query, count| TimestampSlots::new(vk::QueryPool::null(), first_query, count).capacity;
    assert_eq!(capacity(7, 3), 3);
    assert_eq!(capacity(0, u32::MAX), 4096);
    assert_eq!(capacity(u32::MAX - 2, 3), 2);
    let mut slots = TimestampSlots::new(vk::QueryPool::null(), u32::MAX - 2, 3);
    let queries = [0; 3].map(|spare| slots.take(c"", spare).map(|(_, query)| query));
    assert_eq!(queries, [Some(u32::MAX - 2), Some(u32::MAX - 1), None]);
}
