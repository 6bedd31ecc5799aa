"""Korean text as clauses: who does what with which particle."""
