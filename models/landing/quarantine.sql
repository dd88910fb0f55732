{{ quarantined(landings=ref('landings')) }}
