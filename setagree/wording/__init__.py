"""How numbers, names and tables are spelled, wherever a person reads them."""
