"""Storage: tables, one repository per aggregate, and the unit of work."""
