"""Examples made of other examples."""
