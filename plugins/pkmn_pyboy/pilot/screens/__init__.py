"""Screens as the pilot reads and uses them: texts, lists, menus, the radio."""
