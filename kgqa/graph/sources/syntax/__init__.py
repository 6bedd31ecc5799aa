"""Syntaxes that need more than a parser: looked over, cut apart fast, or completed before it."""
