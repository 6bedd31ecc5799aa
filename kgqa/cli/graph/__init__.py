"""`kgqa graph`: graphs built, imported, looked at and exported."""
