{{ event_schemas(landings=ref('landings')) }}
