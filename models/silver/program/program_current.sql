{{ current(ref('program_audit')) }}
