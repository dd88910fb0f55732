{{ attest.current(ref('office_audit')) }}
