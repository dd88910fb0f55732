{{ verdicts(landings=ref('landings')) }}
