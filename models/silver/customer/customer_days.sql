-- Written by `attest publish customer`; a build only makes it, empty, where it is missing.
{{ config(columns_held=day_columns(attributes_of('customer'))) }}
