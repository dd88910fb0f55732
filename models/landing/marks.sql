{{ marks_of(
    log=ref('mark_log'),
    seed=ref('marked_partitions')
) }}
