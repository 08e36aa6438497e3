mod wire_schema;
