"""A reward for pkmncli that pays for money gained."""
