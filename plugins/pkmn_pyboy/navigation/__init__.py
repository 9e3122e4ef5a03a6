"""Finding the way: what the loaded map allows, where its exits lead, which maps lie between here and there."""
